"""Ids that several documents of a run have, found by their hashes."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from json import JSONDecoder
from typing import NamedTuple

import numpy as np

from ..text.normalisation import hash_key

_BEFORE = b'{"doc_id": '  # the beginning of every record
_EXAMPLES = 3
_COMPARED = 10_000  # most ids that are compared as texts, so that memory stays bounded


class Repeated(NamedTuple):
    """Ids that several documents have.

    documents (int): number of documents with the id of an earlier one. examples (Tuple[str, ...]):
        the first such ids.
    """

    documents: int = 0
    examples: tuple[str, ...] = ()


class IdsSeen:
    """The ids seen so far, eight bytes of hash each."""

    def __init__(self) -> None:
        self._hashes = array("Q")

    def reading(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Pass the lines of records on, and remember their ids."""
        for line in lines:
            id = _id_of(line)
            if id:  # documents set aside may have none
                self._hashes.append(hash_key(id))
            yield line

    def repeated(self, lines: Iterable[bytes]) -> Repeated:
        """Find the ids that were seen several times.

        lines (Iterable[bytes]): of the same records again, read only if hashes are repeated.
        """
        values, counts = np.unique(np.array(self._hashes, dtype=np.uint64), return_counts=True)
        many = frozenset(values[counts > 1][:_COMPARED].tolist())
        if not many:
            return Repeated()
        # Several ids may have the same hash: they are compared, unless there are too many.
        ids = Counter(id for id in map(_id_of, lines) if id and hash_key(id) in many)
        own = [id for id, count in ids.items() if count > 1]
        compared = sum(ids[id] - 1 for id in own)
        others = counts[counts > 1][_COMPARED:] - 1
        return Repeated(compared + int(others.sum()), tuple(own[:_EXAMPLES]))


_decoder = JSONDecoder()


def _id_of(line: bytes) -> str:
    """Read the id at the beginning of a record, without parsing the rest."""
    if not line.startswith(_BEFORE):
        return ""
    id, _ = _decoder.raw_decode(line.decode("utf-8", "replace"), len(_BEFORE))
    return str(id)
