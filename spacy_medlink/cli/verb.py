"""Verb: a command whose help names its values by words, not by Python's types."""

from functools import partial
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

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


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value
