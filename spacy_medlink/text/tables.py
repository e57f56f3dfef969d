"""Tables of words: files of lines, of which empty ones and those that begin with # say nothing."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors


def read_table(path: Path) -> str:
    """Read the text of a table.

    RAISES (MedlinkError): E107 without the file, E401 where it is no UTF-8.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Errors.wrong_line(
            path=path, line="?", problem="not text", expected="UTF-8"
        ) from error


def table_lines(text: str) -> Iterator[tuple[int, str]]:
    """List the lines that say something, with their numbers."""
    for line_number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield line_number, line
