"""MentionMemory: corrections of mentions, looked up before any name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..text.normalisation import is_short_form, key, normalise
from ..types import Data, Ints1d

_FILE = "memory.jsonl"
NIL = ""

Entry = tuple[str, str, str]
"""What votes are counted for: key, label, spelling."""


class Remembered(NamedTuple):
    """A line of the memory.

    key (str): of the mention, `memory_key`. label (str): entity label, "" for any.
    id (str): of the concept, "" where the mention is no concept (NIL). votes, of (int): mentions
        that gave this id, and all mentions.
    spelling (str): `spelling_of` the mentions of the line, "" for all mentions with its key.
    """

    key: str
    label: str
    id: str
    votes: int
    of: int
    spelling: str = ""

    @property
    def entry(self) -> Entry:
        """The key, label and spelling of the line."""
        return self.key, self.label, self.spelling

    @property
    def is_general(self) -> bool:
        """Whether it holds for all mentions with its key."""
        return not (self.label or self.spelling)


class MentionMemory:
    """Maps (normalised mention, label) to a concept row.

    rows (Mapping[str, int]): concept row by key and label, -1 for a mention that is no concept. The
        strings themselves are compared, because different mentions can have the same hash.
    labels (FrozenSet[str]): the labels of the corrections.
    spelled (bool): whether a correction holds for one spelling only. The attribute `has_nil` tells
        whether any mention is no concept.
    """

    def __init__(
        self, rows: Mapping[str, int], labels: frozenset[str], spelled: bool = False
    ) -> None:
        self._rows, self.labels = rows, labels
        self._spelled = spelled
        self.has_nil = any(row < 0 for row in rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    @classmethod
    def of(cls, lines: Iterable[Remembered], row_of: dict[str, int]) -> "MentionMemory":
        """Make the table; lines whose id has no row are left out.

        row_of (Dict[str, int]): concept row by id.
        """
        row_of = {**row_of, NIL: -1}
        usable = [line for line in lines if line.id in row_of]
        rows = {_entry(line.spelling or line.key, line.label): row_of[line.id] for line in usable}
        labels = frozenset(line.label for line in usable if line.label)
        return cls(rows, labels, any(line.spelling for line in usable))

    def find(self, texts: Sequence[str], label: str = "") -> Ints1d:
        """Find the concept rows of mentions: (n,), -1 where none is remembered.

        A line for the spelling has priority over a line for the key; within each, a line for the
        label has priority over a line for any label.

        label (str): of the mentions. A line for another label is also used if it is the only one:
            corpora label the same thing differently (an adjective, a class, a disease).
        """
        rows = (self._row(text, label) for text in texts)
        return np.array([-1 if row is None else row for row in rows], dtype=np.int64)

    def denies(self, texts: Sequence[str], label: str = "") -> NDArray[np.bool_]:
        """Tell which mentions corrections call no concept: (n,)."""
        if not self.has_nil:
            return np.zeros(len(texts), dtype=np.bool_)
        return np.array([self._row(text, label) == -1 for text in texts], dtype=np.bool_)

    def _row(self, text: str, label: str) -> int | None:
        """Look up a mention; None where nothing is remembered of it."""
        keys = (spelling_of(text), memory_key(text)) if self._spelled else (memory_key(text),)
        labels = (label, "") if label in self.labels else ("",)
        asked = (_entry(key_of, its) for key_of in keys for its in labels)
        return next((self._rows[entry] for entry in asked if entry in self._rows), None)


def memory_key(text: str) -> str:
    """Make the key of a mention; mentions with the same key share a correction.

    It is the key of the exact tier, with a mark on short upper-case forms: "ALL" is not "all".
    """
    return _marked(key(text), text)


def spelling_of(text: str) -> str:
    """Make the spelling of a mention, without case and punctuation.

    It separates mentions that share a key: "breast and ovarian cancers" may be two concepts, where
    the singular is one.
    """
    marked = _marked(normalise(text), text)
    return f"={marked}" if marked else ""


def _marked(folded: str, text: str) -> str:
    return f"^{folded}" if folded and is_short_form(text.strip()) else folded


def write_memory(directory: Path, lines: Iterable[Remembered]) -> None:
    """Write a memory, one entry a line."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / _FILE).open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line._asdict(), ensure_ascii=False) + "\n")


def read_memory(directory: Path) -> list[Remembered]:
    """Read the file of `write_memory`.

    RAISES (MedlinkError): E202 when it is missing or damaged.
    """
    try:
        text = (directory / _FILE).read_bytes().decode()
        # Not `splitlines`: names may hold other characters that it takes for line ends.
        return [_line(json.loads(line)) for line in text.split("\n") if line]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise Errors.assets_incomplete(path=directory, problem=f"{_FILE}: {error}") from error


def _line(values: Data) -> Remembered:
    line = Remembered(**values)
    texts = (line.key, line.label, line.id, line.spelling)
    if not all(type(text) is str for text in texts) or {type(line.votes), type(line.of)} != {int}:
        raise ValueError("a line of other types")
    return line


def _entry(own_key: str, label: str) -> str:
    return f"{own_key}\t{label}" if own_key else ""
