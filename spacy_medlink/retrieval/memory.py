"""MentionMemory: what corrections say that mentions are, looked up before any name."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..hashes import positions
from ..text import hash_keys, is_short_form, key
from ..types import Hashes1d, Ints1d

_FILE = "memory.jsonl"


class Remembered(NamedTuple):
    """A line of the memory.

    key (str): of the mention, `memory_key`. label (str): entity label, "" for any.
    id (str): of the concept. votes, of (int): mentions that said so, and that there were.
    """

    key: str
    label: str
    id: str
    votes: int
    of: int


class MentionMemory:
    """(normalised mention, label) to concept row.

    hashes (Hashes1d): of key and label, ascending. concepts (NDArray[int32]): concept row of each.
    labels (FrozenSet[str]): the labels that corrections had.
    """

    def __init__(
        self, hashes: Hashes1d, concepts: NDArray[np.int32], labels: frozenset[str]
    ) -> None:
        self._hashes, self._concepts, self.labels = hashes, concepts, labels

    def __len__(self) -> int:
        return len(self._hashes)

    @classmethod
    def of(cls, lines: Iterable[Remembered], row_of: dict[str, int]) -> "MentionMemory":
        """Make the table; lines whose id has no row are left out.

        row_of (Dict[str, int]): concept row by id.
        """
        known = [line for line in lines if line.id in row_of]
        hashes = hash_keys(_entry(line.key, line.label) for line in known)
        rows = np.fromiter((row_of[line.id] for line in known), dtype=np.int32, count=len(known))
        order = np.argsort(hashes, kind="stable")
        labels = frozenset(line.label for line in known if line.label)
        return cls(hashes[order], rows[order], labels)

    def find(self, texts: Sequence[str], label: str = "") -> Ints1d:
        """Find the concept rows of mentions: (n,), -1 where nothing is remembered.

        label (str): of the mentions. What is remembered under another label alone is taken too:
            corpora label the same thing differently (an adjective, a class, a disease).
        """
        keys = [memory_key(one) for one in texts]
        place = positions(self._hashes, hash_keys(_entry(one, "") for one in keys))
        if label in self.labels:
            own = positions(self._hashes, hash_keys(_entry(one, label) for one in keys))
            place = np.where(own >= 0, own, place)
        if not len(self):
            return place
        return np.where(place >= 0, self._concepts[np.maximum(place, 0)], -1).astype(np.int64)


def memory_key(text: str) -> str:
    """Make what two mentions share that are remembered as one.

    The key of the exact tier, with a mark on short upper-case forms: "ALL" is not "all".
    """
    own = key(text)
    return f"^{own}" if own and is_short_form(text.strip()) else own


def write_memory(directory: Path, lines: Iterable[Remembered]) -> None:
    """Write a memory, a line each."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / _FILE).open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line._asdict(), ensure_ascii=False) + "\n")


def read_memory(directory: Path) -> list[Remembered]:
    """Read what `write_memory` wrote.

    RAISES (MedlinkError): E202 when it is missing or damaged.
    """
    try:
        with (directory / _FILE).open(encoding="utf-8") as file:
            return [Remembered(**json.loads(line)) for line in file]
    except (OSError, ValueError, TypeError) as error:
        raise Errors.assets_incomplete(
            path=directory.parent, problem=f"{directory.name}/{_FILE}: {error}"
        ) from error


def _entry(own_key: str, label: str) -> str:
    return f"{own_key}\t{label}" if own_key else ""
