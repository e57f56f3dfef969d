"""The runner of verbs: help in words, and errors as one line on standard error, exit code 1."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import Errors, MedlinkError, Warnings
from ..util.extras import missing

_INTERRUPTED = 130  # as in shells: 128 plus the number of SIGINT
_STOPPED = "Stopped. Nothing unfinished was put in place: run the same command again."
_WORDS = {str: "TEXT", int: "N", float: "X", Path: "PATH"}


class NamedValues:
    """Help that shows `--from FORMAT`, not `--from <list[str]>`, and `SOURCE...` in usage."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, with that of --help."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # the class beside it has it
        for parameter in parameters:
            name_value(parameter)
        return parameters


class Verb(NamedValues, TyperCommand):
    """A command with named values."""


def name_value(parameter: Any) -> None:
    """Set the word that the help of an option or argument shows for its value."""
    if parameter.param_type_name != "argument":
        other = "" if parameter.is_flag else "VALUE"
        word = parameter.metavar or _WORDS.get(_element(parameter), other)
        parameter.display_type_rich = partial(_same, word)
        return
    shown = parameter.display_name_raw.rstrip(".") + ("..." if parameter.nargs != 1 else "")
    parameter.display_type_rich = partial(_same, "")
    parameter.get_usage_pieces = partial(_same, [] if parameter.hidden else [shown])


def _element(parameter: Any) -> Any:
    annotation = parameter.type_descriptor.annotation
    inner = getattr(annotation, "__args__", ())
    return inner[0] if inner else annotation


def _same(value: object, *_: object, **__: object) -> object:
    return value


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
            except BrokenPipeError:
                raise  # `medlink ... | head`: typer ends quietly
            except (MedlinkError, ImportError, MemoryError, OSError) as error:
                typer.echo(_message(error, ctx.invoked_subcommand), err=True)
                raise typer.Exit(1) from error
            except KeyboardInterrupt as error:
                typer.echo(_STOPPED, err=True)
                raise typer.Exit(_INTERRUPTED) from error


def _message(error: Exception, verb: str) -> str:
    if isinstance(error, ImportError):
        return str(missing(error, f"`medlink {verb}`"))
    if isinstance(error, MedlinkError):
        return str(error)
    reason = "not enough memory" if isinstance(error, MemoryError) else error
    return str(Errors.system(reason=reason))


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
