"""Entries: the lines of a lexicon's file.

Four columns, of which the last two may be missing: short forms, long forms, entity label,
conditions; "|" between the members of the first two.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors
from ..tables import table_lines
from .conditions import Conditions

_EXPECTED = "short form, tab, long form, and optionally tab, entity label, tab, conditions"
_MOST, _LEAST = 4, 2


class Entry(NamedTuple):
    """One meaning of a short form.

    shorts (Tuple[str, ...]): the spellings of the short form, "AF", "afib", "A. fib".
    longs (Tuple[str, ...]): the long forms, in the order in which they are tried.
    label (str): entity label that mentions must have, "" for any.
    conditions (Conditions): the evidence for the meaning; without any, it holds if no other does.
    is_concept (bool): False for a meaning that is never linked, such as "room air".
    """

    shorts: tuple[str, ...]
    longs: tuple[str, ...]
    label: str = ""
    conditions: Conditions = Conditions()
    is_concept: bool = True

    @property
    def line(self) -> str:
        """The line of the file."""
        longs = " | ".join(self.longs)
        fields = [
            " | ".join(self.shorts), longs if self.is_concept else f"({longs})", self.label,
            self.conditions.dump(),
        ]  # fmt: skip
        return "\t".join(fields).rstrip("\t")


def parse_entries(text: str, path: str | Path) -> Iterator[Entry]:
    """Read the lines of a text; empty lines and lines that begin with # are skipped.

    RAISES (MedlinkError): E401 for a line that is no entry.
    """
    for row, line in table_lines(text):
        entry = _entry(line)
        if isinstance(entry, str):
            raise Errors.wrong_line(
                path=path, line=row, problem="no entry of a lexicon", expected=entry
            )
        yield entry


def _entry(line: str) -> Entry | str:
    """Make the entry of a line, or return what was expected."""
    fields = [field.strip() for field in line.split("\t")]
    if not _LEAST <= len(fields) <= _MOST:
        return _EXPECTED
    shorts, longs, label, conditions = [*fields, "", ""][:_MOST]
    is_nothing = longs.startswith("(") and longs.endswith(")")
    if is_nothing:
        longs = longs[1:-1]
    if not _members(shorts) or not _members(longs):
        return _EXPECTED
    try:
        parsed = Conditions.parse(conditions)
    except ValueError as error:
        return f"conditions such as `near: mitral, valv*; section: medications`; {error}"
    return Entry(_members(shorts), _members(longs), label, parsed, not is_nothing)


def _members(field: str) -> tuple[str, ...]:
    members = (" ".join(member.split()) for member in field.split("|"))
    return tuple(dict.fromkeys(filter(None, members)))
