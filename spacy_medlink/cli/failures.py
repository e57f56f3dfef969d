"""What goes wrong is said in one line on standard error, with exit code 1, for all verbs alike."""

import warnings
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from ..errors import Errors, MedlinkError, Warnings
from ..util.extras import missing

_INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT


class ReportingGroup(TyperGroup):
    """Runs a verb; what the user can mend becomes a message, everything else stays a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that the command line names."""
        with warnings.catch_warnings():
            # Our own warnings ("[W101] ...") are for the reader of the terminal, not of the code.
            warnings.filterwarnings("default", message=r"\[W\d+\]")
            warnings.showwarning = _show
            try:
                return super().invoke(ctx)
            except MedlinkError as error:
                typer.echo(str(error), err=True)
                raise typer.Exit(1) from error
            except ImportError as error:
                typer.echo(str(missing(error, f"`medlink {ctx.invoked_subcommand}`")), err=True)
                raise typer.Exit(1) from error
            except KeyboardInterrupt as error:
                typer.echo(
                    "Stopped. Nothing unfinished was put in place: run the same command again.",
                    err=True,
                )
                raise typer.Exit(_INTERRUPTED) from error
            except BrokenPipeError:
                raise  # `medlink ... | head`: typer ends quietly
            except OSError as error:
                typer.echo(str(Errors.system(reason=error)), err=True)
                raise typer.Exit(1) from error


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = str(message)
    # Said to somebody who types commands and writes no config.
    typer.echo(Warnings.starter_kb_typed if text.startswith("[W101]") else text, err=True)
