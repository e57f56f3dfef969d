"""Ids that several documents of a run have, found by their hashes."""

from array import array
from collections.abc import Iterable, Iterator
from json import JSONDecoder
from typing import NamedTuple

import numpy as np

from ..text.normalisation import hash_key

_BEFORE = b'{"doc_id": '  # the beginning of every record
_EXAMPLES = 3
_decoder = JSONDecoder()


class Repeated(NamedTuple):
    """Ids that several documents have.

    documents (int): number of documents with the id of an earlier one. examples (Tuple[str, ...]):
        some of the ids.
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
            if id := _id_of(line):  # documents set aside may have none
                self._hashes.append(hash_key(id))
            yield line

    def repeated(self, lines: Iterable[bytes]) -> Repeated:
        """Count the ids that were seen several times.

        lines (Iterable[bytes]): of the same records again, read for examples only.
        """
        values, counts = np.unique(np.array(self._hashes, dtype=np.uint64), return_counts=True)
        shown = frozenset(values[counts > 1][:_EXAMPLES].tolist())
        ids = (id for id in map(_id_of, lines if shown else ()) if id and hash_key(id) in shown)
        return Repeated(len(self._hashes) - len(values), tuple(dict.fromkeys(ids)))


def _id_of(line: bytes) -> str:
    """Read the id at the beginning of a record, without parsing the rest."""
    if not line.startswith(_BEFORE):
        return ""
    id, _ = _decoder.raw_decode(line.decode("utf-8", "replace"), len(_BEFORE))
    return str(id)
