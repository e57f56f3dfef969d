"""Lexicon: finds the meaning of a short form in its place."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from ..tables import read_table
from .conditions import Place, Surroundings
from .entries import Entry, parse_entries

_WORD = re.compile(r"\w+")
_JOINED = "-‐‑'’&"  # with letters behind or before them, a word goes on
_PLURAL = re.compile("['’]?s")  # "UTIs", "UTI's"
_NOWHERE = Surroundings().at(0, 0)


class Sense(NamedTuple):
    """The meaning of a short form in a lexicon.

    longs (Tuple[str, ...]): long forms, in the order in which they are tried; () where several
        meanings are possible and nothing decides.
    is_concept (bool): whether the meaning is to be linked. is_only (bool): whether the lexicon has
        no other meaning, so that a name of the knowledge base with these letters has this meaning.
    """

    longs: tuple[str, ...]
    is_concept: bool = True
    is_only: bool = False

    @property
    def expansions(self) -> tuple[str, ...]:
        """The forms that are looked up like the text itself: see `Mention.expansions`."""
        return self.longs if self.is_concept else ()

    def verbatim(self, text: str) -> tuple[str, ...]:
        """List the forms that are looked up only as names: see `Mention.verbatim`.

        A word, unlike a short form, counts as a name itself if no long form is a name.
        """
        is_word = text[1:].islower()
        is_itself = self.is_concept and (self.is_only or is_word or not self.longs)
        return (*self.longs, text) if is_itself else self.longs


class Lexicon:
    """Long forms by short form, which must be written as in the text.

    entries (Iterable[Entry]): several of one short form are its meanings.
    """

    language = ""  # of the texts, by which words stand for others
    is_shipped = False  # whether the package has it, so that it need not be saved

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = tuple(dict.fromkeys(entries))
        self._by_short: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for short in entry.shorts:
                self._by_short.setdefault(short, []).append(entry)
        self._by_word: dict[str, list[str]] = {}
        for short in sorted(self._by_short, key=lambda short_form: (-len(short_form), short_form)):
            if word := _WORD.search(short):
                self._by_word.setdefault(word[0], []).append(short)

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file, one entry a line; empty lines and lines that begin with # are skipped.

        RAISES (MedlinkError): E107 without the file, E401 for a line that is no entry.
        """
        return cls.parse(read_table(Path(path)), path)

    @classmethod
    def parse(cls, text: str, path: str | Path = "lexicon") -> Self:
        """Read the lines of a text.

        RAISES (MedlinkError): E401 for a line that is no entry.
        """
        return cls(parse_entries(text, path))

    def dump(self) -> str:
        """Write the entries as `parse` reads them."""
        return "".join(f"{entry.line}\n" for entry in self.entries)

    def updated(self, other: "Lexicon") -> "Lexicon":
        """Add the entries of another lexicon; short forms of both get only the other's entries."""
        kept = []
        for entry in self.entries:
            shorts = tuple(short for short in entry.shorts if short not in other._by_short)
            if shorts:
                kept.append(entry._replace(shorts=shorts))
        return Lexicon((*kept, *other.entries))

    def __contains__(self, text: str) -> bool:
        return self._known(text) != ()

    def sense(self, text: str, around: Place = _NOWHERE) -> Sense | None:
        """Return the meaning of a text at a place, None if the lexicon does not have it.

        The meaning with the most evidence counts. Without evidence it is the only meaning that the
        document spells out somewhere, else the meanings without conditions, those for the entity
        label first.
        """
        entries = self._known(text)
        if not entries:
            return None
        fitting = [entry for entry in entries if entry.label in ("", around.label)]
        weights = [
            entry.conditions.weigh(around) if entry.conditions.parts else 0 for entry in fitting
        ]
        most = max(weights, default=0)
        if most:
            chosen = [
                entry for entry, weight in zip(fitting, weights, strict=True) if weight == most
            ]
            if len({entry.longs for entry in chosen}) > 1:
                return Sense(())  # the evidence is equal
        else:
            chosen = _spelled_out(fitting, around) or _unconditional(fitting)
        if not chosen:
            return Sense(()) if any(entry.conditions.parts for entry in entries) else None
        longs = dict.fromkeys(long for entry in chosen for long in entry.longs)
        return Sense(tuple(longs), chosen[0].is_concept, len(entries) == len(chosen))

    def occurrences(self, text: str) -> Iterator[tuple[int, int]]:
        """Find where short forms stand in a text, from left to right, the longest at each place.

        Takes one dictionary look-up for each word of the text. Parts of words do not count: "STEMI"
        in "non-STEMI".
        """
        last = 0
        for word in _WORD.finditer(text) if self._by_word else ():
            written = word[0]
            shorts = self._by_word.get(written)
            if shorts is None and written[-1] == "s":
                shorts = self._by_word.get(written[:-1])
            if shorts is None or (start := word.start()) < last:
                continue
            if (end := _end_of_one(text, start, shorts)) > start:
                yield start, end
                last = end

    def _known(self, text: str) -> Sequence[Entry]:
        short = " ".join(text.split())
        if (entries := self._by_short.get(short)) is not None:
            return entries
        singular = short[:-1].rstrip("'’")
        is_plural = short[-1:] == "s" and singular.isupper()
        return self._by_short.get(singular, ()) if is_plural else ()


def _spelled_out(entries: Sequence[Entry], around: Place) -> list[Entry]:
    """Return the only entry that the document spells out; [] if it spells out several."""
    if len(entries) < 2:
        return []
    chosen = [entry for entry in entries if around.spells_out(entry.longs)]
    return chosen if len(chosen) == 1 else []


def _unconditional(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without conditions, those for a label first."""
    chosen = [entry for entry in entries if not entry.conditions.parts]
    return sorted(chosen, key=lambda entry: not entry.label)


def _end_of_one(text: str, start: int, shorts: Sequence[str]) -> int:
    """Find where the longest short form that begins at a place ends; 0 where none does."""
    if start > 1 and text[start - 1] in _JOINED and text[start - 2].isalnum():
        return 0
    for short in shorts:
        if text.startswith(short, start):
            end = start + len(short)
            if short.isupper() and (plural := _PLURAL.match(text, end)):
                end = plural.end()
            if not _goes_on(text, end):
                return end
    return 0


def _goes_on(text: str, end: int) -> bool:
    """Tell whether a word goes on at a place."""
    following = text[end : end + 2]
    if not following:
        return False
    if text[end - 1].isalnum() and following[0].isalnum():
        return True
    return following[0] in _JOINED and following[1:].isalnum()
