"""Carrying the history of ids from one release of a terminology to the next.

A release says what became of some of its old ids, and forgets others. What the knowledge base
before knew must not be lost by an update: annotations and links outlive releases.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..text.normalisation import hash_keys
from ..types import Concept, Hashes1d, Record, Retired
from ..util.files import sha256_of
from ..util.hashes import positions
from .knowledge_base import KnowledgeBase

GONE = "gone"
_FATES = ("in use", "retired by the release", GONE, "retired before", "in use again")
_CHUNK = 16_384
_FACTS = ("version", "concepts", "names", "retired")


class History:
    """What the knowledge base before this one knew about ids.

    old (KnowledgeBase): the one to update.
    """

    def __init__(self, old: KnowledgeBase) -> None:
        self.old = old
        self.counts = Counter(dict.fromkeys(_FATES, 0))

    def apply(self, records: Iterable[Record]) -> Iterator[Record]:
        """Stream the records, then what they do not say about ids of the old knowledge base.

        Ids that were in use and are no longer mentioned are retired with the reason "gone". Ids
        that were retired before stay so, unless they are in use again; where both have a word on
        an id, the new one counts. Memory: 8 bytes a concept (the ids' hashes).
        """
        live, retired = array("Q"), array("Q")
        ids: list[str] = []
        gone: list[str] = []
        for record in records:
            if isinstance(record, Retired):
                gone.append(record.id)
            elif _has_name(record):
                ids.append(record.id)
            if len(ids) + len(gone) >= _CHUNK:
                _note(live, ids)
                _note(retired, gone)
            yield record
        _note(live, ids)
        _note(retired, gone)
        yield from self._forgotten(_sorted(live), _sorted(retired))

    def as_manifest(self) -> dict[str, object]:
        """List what was updated and how many ids came through, for the manifest."""
        facts = {name: self.old.manifest[name] for name in _FACTS if name in self.old.manifest}
        return {
            "name": self.old.path.name,
            "sha256": sha256_of(self.old.path),
            **facts,
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
        for place in np.flatnonzero(wanted).tolist():
            self.counts[what] += 1
            yield chunk[place]


def _has_name(concept: Concept) -> bool:
    # A concept without a name is not written, so that its id is not in use.
    return bool(concept.name.strip()) or any(name.text.strip() for name in concept.names)


def _note(hashes: "array[int]", ids: list[str]) -> None:
    hashes.frombytes(hash_keys(ids).tobytes())
    ids.clear()


def _sorted(hashes: "array[int]") -> Hashes1d:
    ordered = np.frombuffer(hashes, dtype=np.uint64)
    ordered.sort()
    return ordered


def _are_in(ascending: Hashes1d, chunk: list[Retired]) -> NDArray[np.bool_]:
    # With 64 bits, one update in a million takes two of 4 million ids for the same.
    return positions(ascending, hash_keys(record.id for record in chunk)) >= 0


def _chunks(records: Iterable[Retired]) -> Iterator[list[Retired]]:
    waiting = iter(records)
    while chunk := list(islice(waiting, _CHUNK)):
        yield chunk
