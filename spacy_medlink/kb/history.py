"""Carrying the history of ids from one release of a terminology to the next.

A release lists the successors of some old ids and omits other ids. An update must keep what the
previous knowledge base knew, because annotations and links outlive releases.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..text.normalisation import hash_keys
from ..types import Hashes1d, Record, Retired
from ..util.files import sha256_of
from ..util.hashes import positions
from .knowledge_base import KnowledgeBase

GONE = "gone"
_FATES = ("in use", "retired by the release", GONE, "retired before", "in use again")
_CHUNK = 16_384
_FACTS = ("version", "concepts", "names", "retired")


class History:
    """The history of ids in the previous knowledge base.

    old (KnowledgeBase): the knowledge base to update.
    """

    def __init__(self, old: KnowledgeBase) -> None:
        self.old = old
        self.counts = Counter(dict.fromkeys(_FATES, 0))

    def apply(self, records: Iterable[Record]) -> Iterator[Record]:
        """Stream the records, then the history of old ids that the records do not mention.

        Ids that were in use and are no longer mentioned are retired with the reason "gone". Retired
        ids stay retired, unless they are in use again. If the old and the new knowledge base differ
        about an id, the new one counts. Memory: 8 bytes a concept (the ids' hashes).
        """
        live, retired = array("Q"), array("Q")
        ids: list[str] = []
        gone: list[str] = []
        for record in records:
            if isinstance(record, Retired):
                gone.append(record.id)
            # A concept without a name is not written, so its id is not in use.
            elif record.name.strip() or any(name.text.strip() for name in record.names):
                ids.append(record.id)
            if len(ids) + len(gone) >= _CHUNK:
                _note(live, ids)
                _note(retired, gone)
            yield record
        _note(live, ids)
        _note(retired, gone)
        yield from self._forgotten(_sorted(live), _sorted(retired))

    def as_manifest(self) -> dict[str, object]:
        """List the updated knowledge base and the counts of kept ids, for the manifest."""
        copied = {name: self.old.manifest[name] for name in _FACTS if name in self.old.manifest}
        return {
            "name": self.old.path.name,
            "sha256": sha256_of(self.old.path),
            **copied,
            "ids": dict(sorted(self.counts.items())),
        }

    def _forgotten(self, live: Hashes1d, retired: Hashes1d) -> Iterator[Retired]:
        for chunk in _chunks(Retired(id, "", GONE) for id in self.old.iter_ids()):
            is_live, is_retired = _are_in(live, chunk), _are_in(retired, chunk)
            self.counts["in use"] += int(is_live.sum())
            self.counts["retired by the release"] += int((is_retired & ~is_live).sum())
            yield from self._counted(chunk, ~is_live & ~is_retired, GONE)
        for chunk in _chunks(self.old.retired()):
            is_live, is_retired = _are_in(live, chunk), _are_in(retired, chunk)
            self.counts["in use again"] += int(is_live.sum())
            yield from self._counted(chunk, ~is_live & ~is_retired, "retired before")

    def _counted(
        self, chunk: list[Retired], wanted: NDArray[np.bool_], what: str
    ) -> Iterator[Retired]:
        for position in np.flatnonzero(wanted).tolist():
            self.counts[what] += 1
            yield chunk[position]


def _note(hashes: "array[int]", ids: list[str]) -> None:
    hashes.frombytes(hash_keys(ids).tobytes())
    ids.clear()


def _sorted(hashes: "array[int]") -> Hashes1d:
    ordered = np.frombuffer(hashes, dtype=np.uint64)
    ordered.sort()
    return ordered


def _are_in(ascending: Hashes1d, chunk: list[Retired]) -> NDArray[np.bool_]:
    # With 64-bit hashes, one update of 4 million ids in a million confuses two of them.
    return positions(ascending, hash_keys(record.id for record in chunk)) >= 0


def _chunks(records: Iterable[Retired]) -> Iterator[list[Retired]]:
    waiting = iter(records)
    while chunk := list(islice(waiting, _CHUNK)):
        yield chunk
