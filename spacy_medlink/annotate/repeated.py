"""Ids that several documents of a run have: counted by hash, shown as they are."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from json import JSONDecoder
from typing import NamedTuple

import numpy as np

from ..text.normalisation import hash_key

_BEFORE = b'{"doc_id": '  # what every record begins with
_EXAMPLES = 3
_COMPARED = 10_000  # ids that are compared as they are, so that memory stays bounded


class Repeated(NamedTuple):
    """Ids that several documents have.

    documents (int): those with an id that another one has before. examples (Tuple[str, ...]): the
        first such ids.
    """

    documents: int = 0
    examples: tuple[str, ...] = ()


class IdsSeen:
    """Remembers eight bytes of each id that goes by."""

    def __init__(self) -> None:
        self._hashes = array("Q")

    def reading(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Pass the lines of records on, and remember their ids."""
        for line in lines:
            id = _id_of(line)
            if id:  # what was set aside may have none
                self._hashes.append(hash_key(id))
            yield line

    def repeated(self, lines: Iterable[bytes]) -> Repeated:
        """Find the ids that were seen several times.

        lines (Iterable[bytes]): of the same records once more, read only where there are any.
        """
        values, counts = np.unique(np.array(self._hashes, dtype=np.uint64), return_counts=True)
        many = frozenset(values[counts > 1][:_COMPARED].tolist())
        if not many:
            return Repeated()
        # A hash may be that of several ids: these are told apart, where there are not too many.
        ids = Counter(id for id in map(_id_of, lines) if id and hash_key(id) in many)
        own = [id for id, count in ids.items() if count > 1]
        compared = sum(ids[id] - 1 for id in own)
        others = counts[counts > 1][_COMPARED:] - 1
        return Repeated(compared + int(others.sum()), tuple(own[:_EXAMPLES]))


_decoder = JSONDecoder()


def _id_of(line: bytes) -> str:
    """Read the id of a record, which comes first in it, without the rest."""
    if not line.startswith(_BEFORE):
        return ""
    id, _ = _decoder.raw_decode(line.decode("utf-8", "replace"), len(_BEFORE))
    return str(id)
