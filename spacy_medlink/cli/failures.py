"""Errors of all verbs: one line on standard error, and exit code 1."""

import warnings
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from ..errors import Errors, MedlinkError, Warnings
from ..util.extras import missing
from .verb import NamedValues

_INTERRUPTED = 130  # as in shells: 128 plus the number of SIGINT


class ReportingGroup(NamedValues, TyperGroup):
    """The runner of verbs: errors that users can repair become messages, others tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that the command line names."""
        with warnings.catch_warnings():
            # Show our own warnings ("[W101] ...") without the place in the code.
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
            except MemoryError as error:
                typer.echo(str(Errors.system(reason="not enough memory")), err=True)
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
    # Users of the command line write no config, so the message names the option.
    typer.echo(Warnings.starter_kb_typed if text.startswith("[W101]") else text, err=True)
