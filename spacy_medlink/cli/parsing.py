"""Parsing arguments into values; a bad argument is a usage error (exit code 2)."""

from collections.abc import Collection
from pathlib import Path

import typer

from ..errors import Errors


def comma_list(text: str) -> tuple[str, ...]:
    """Split "en,es" into its parts."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def choices(text: str, allowed: Collection[str], option: str) -> tuple[str, ...]:
    """Split a comma list and check its parts.

    RAISES (typer.BadParameter): for an unknown part.
    """
    parts = comma_list(text)
    for part in parts:
        one_of(part, allowed, option)
    return parts


def one_of(value: str, allowed: Collection[str], option: str) -> str:
    """Check a value.

    RAISES (typer.BadParameter): for an unknown one.
    """
    if value not in allowed:
        message = f"{value!r} is not one of {', '.join(allowed)}."
        raise typer.BadParameter(message, param_hint=option)
    return value


def pairs(text: str, option: str) -> dict[str, list[str]]:
    """Split "id=CODE,name=TERM" into names and all their values.

    RAISES (typer.BadParameter): for a part without "=" in it.
    """
    values: dict[str, list[str]] = {}
    for part in comma_list(text):
        name, equals, value = part.partition("=")
        if not (equals and name.strip() and value.strip()):
            message = f"{part!r} is not of the form name=value."
            raise typer.BadParameter(message, param_hint=option)
        values.setdefault(name.strip(), []).append(value.strip())
    return values


def allowed_in(path: Path | None, option: str) -> tuple[str, ...]:
    """Read a file of the only ids that may pass, one a line; () without a file lets all pass.

    Empty lines and comments (#) are left out.
    RAISES (MedlinkError): E107 without the file, E165 when it is not UTF-8, E407 if it names none.
    """
    if path is None:
        return ()
    lines = map(str.strip, read_text(path).splitlines())
    if not (allowed := tuple(line for line in lines if line and not line.startswith("#"))):
        what = "line but empty ones and comments"
        remedy = f"Write into it what may pass, one a line, or leave {option} out."
        raise Errors.nothing_there(path=path, what=what, remedy=remedy)
    return allowed


def read_text(path: Path) -> str:
    """Read a UTF-8 file without changing its line ends.

    RAISES (MedlinkError): E107 without the file, E165 when it is not UTF-8.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        return path.read_bytes().decode("utf-8-sig")  # offsets count the line ends
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 text: byte {error.start}"
        raise Errors.source_unreadable(path=path, reason=reason) from error
