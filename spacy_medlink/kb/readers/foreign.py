"""Asks the side that recognises files of other kinds, where it is installed, what a file is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import Errors, MedlinkError
from ...util import sides


class Foreign(NamedTuple):
    """A kind of file.

    what (str): what it is, as in "it is a PDF file". formats (Tuple[str, ...]): names of `--from`
        that read it, "*" where it may be any other, too; () for none. remedy (str): what to give
        instead, as in "give ...".
    """

    what: str
    formats: tuple[str, ...]
    remedy: str


def _ask(name: str, *given: object) -> Any:
    answer = sides.load_if_there("medlink_foreign", name)
    return answer(*given) if answer else None


def what_is(path: Path, format: str = "") -> Foreign | None:
    """Recognise a file or a directory; None where it is of no known kind.

    format (str): a format of `--from`: of several kinds that fit, one that it reads goes first.
    """
    file: Foreign | None = _ask("what_is", path, format)
    return file


def what_begins(start: bytes) -> Foreign | None:
    """Recognise a file that is no text by its first bytes; None for text."""
    file: Foreign | None = _ask("what_begins", start)
    return file


def format_of(path: Path) -> str:
    """Guess the format of a source.

    RAISES (MedlinkError): E107 without it, E132 where nothing tells, E160 for another kind of file.
    """
    return str(_ask("format_of", path) or path.suffix.removeprefix("."))


def unknown_ending(path: Path, known: Sequence[str]) -> MedlinkError:
    """Make the error for a file of no known ending: E611, or E160 with what the file is."""
    file = what_is(path)
    if file is None or not path.stat().st_size:
        return Errors.unknown_ending(path=path, known=", ".join(known))
    what, problem = f"a file that can be read here ({', '.join(known)})", f"it is {file.what}"
    return Errors.wrong_file(path=path, what=what, problem=problem, expected=file.remedy)


def check_format(path: Path, format: str) -> None:
    """Refuse a file that is known to be another thing than a format reads, unless it is empty.

    RAISES (MedlinkError): E160, with what it is and what to give instead.
    """
    file = what_is(path, format)
    if file and not {format, "*"} & {*file.formats} and path.stat().st_size:
        what, problem = f"a source for `--from {format}`", f"it is {file.what}"
        raise Errors.wrong_file(path=path, what=what, problem=problem, expected=file.remedy)
