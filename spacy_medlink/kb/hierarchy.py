"""Hierarchy: the concepts above and below others, in arrays for very many concepts at a time.

`KnowledgeBase.descendants` queries the file level by level. For millions of concepts, that takes
many times as long as following arrays.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Ints1d
from . import schema
from .knowledge_base import KnowledgeBase

_CHILD = (1 << 32) - 1


class Hierarchy:
    """The hierarchy of a knowledge base in arrays: 4 bytes an edge and 8 a concept, twice.

    The arrays of a direction are read when they are first needed.
    RAISES (MedlinkError): E102 for a damaged file, at the first call of a method.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def below(self, rows: Ints1d) -> NDArray[np.bool_]:
        """Mark these concepts and all below them; cycles do no harm: (n_concepts,)."""
        return _reached(rows, *self._down)

    def above(self, rows: Ints1d) -> NDArray[np.bool_]:
        """Mark these concepts and all above them; cycles do no harm: (n_concepts,)."""
        return _reached(rows, *self._up)

    @cached_property
    def _down(self) -> tuple[Ints1d, NDArray[np.int32]]:
        edges = self._edges()
        return _starts(edges >> 32, len(self._kb)), (edges & _CHILD).astype(np.int32)

    @cached_property
    def _up(self) -> tuple[Ints1d, NDArray[np.int32]]:
        edges = self._edges()
        children = edges & _CHILD
        order = np.argsort(children, kind="stable")
        return _starts(children, len(self._kb)), (edges[order] >> 32).astype(np.int32)

    def _edges(self) -> Ints1d:
        db = self._kb.connection
        try:
            (data,) = db.execute("SELECT edges FROM hierarchy").fetchone()
            return _checked(np.frombuffer(data, schema.EDGE), len(self._kb))
        except (ValueError, TypeError) as error:
            raise Errors.kb_damaged(path=self._kb.path, reason=error) from error


def _checked(edges: Ints1d, n_concepts: int) -> Ints1d:
    rows = (edges >> 32, edges & _CHILD)
    if len(edges) and not all(0 <= one.min() <= one.max() < n_concepts for one in rows):
        raise ValueError("its hierarchy leads to concepts that there are not")
    return edges


def _starts(rows: Ints1d, n_concepts: int) -> Ints1d:
    """Find where each concept's edges begin in the array sorted by concept: (n_concepts + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_concepts))))


def _reached(rows: Ints1d, starts: Ints1d, ends: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Follow the edges from some rows level by level, each row once: (n_concepts,)."""
    found = np.zeros(len(starts) - 1, dtype=np.bool_)
    place_of = np.empty(len(found), dtype=np.int64)
    found[rows] = True
    while len(rows):
        first, counts = starts[rows], starts[rows + 1] - starts[rows]
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows = ends[places]
        rows = rows[~found[rows]]
        found[rows] = True
        # Keep one edge for each row that several edges reach. Sorting them would take longer.
        place_of[rows] = np.arange(len(rows))
        rows = rows[place_of[rows] == np.arange(len(rows))]
    return found
