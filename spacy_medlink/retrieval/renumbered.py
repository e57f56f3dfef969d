"""Renumbering: the index of a release becomes that of the next one, and is not filled anew.

Names that stay keep their codes and their lists, and only get other rows.
"""

from typing import Any

import faiss
import numpy as np

from ..types import Array, Floats2d, Ints1d
from .index_file import row_not_there
from .tuning import untyped_faiss


def can_renumber(index: faiss.Index) -> bool:
    """Tell whether an index is lists of 4-bit codes, refined by vectors or their codes."""
    index = faiss.downcast_index(index)
    return (
        isinstance(index, faiss.IndexRefine)
        and isinstance(faiss.downcast_index(index.base_index), faiss.IndexIVFFastScan)
        and isinstance(
            faiss.downcast_index(index.refine_index), faiss.IndexFlat | faiss.IndexScalarQuantizer
        )
    )


class Renumbering:
    """Puts the names of the next release into an index, in the order of their rows.

    old (Any): an index of faiss, see `can_renumber`. Its lists become those of the new one.
    n_names (int): of the next release.
    """

    def __init__(self, old: faiss.Index, n_names: int) -> None:
        outer = untyped_faiss.downcast_index(old)
        self._old = old  # the owner of the lists and the codes
        self._lists = untyped_faiss.downcast_index(outer.base_index)
        vectors = untyped_faiss.downcast_index(outer.refine_index)
        self._known = _codes(vectors, outer.ntotal)
        self._vectors = _empty(vectors)
        self._vectors.codes.resize(n_names * vectors.code_size)
        self._vectors.ntotal = n_names
        self._codes = _codes(self._vectors, n_names)
        self._row_of = np.full(outer.ntotal, -1, dtype=np.int64)
        self._done = 0

    def put(self, rows: Ints1d, vectors: Floats2d) -> None:
        """Put the next names in.

        rows (Ints1d): row that each name has in the old index, (n,), none twice; -1 for a new name.
        vectors (Floats2d): of the new names, (n_new, dim).
        """
        new_rows = np.arange(self._done, self._done + len(rows))
        self._done += len(rows)
        stays = rows >= 0
        self._row_of[rows[stays]] = new_rows[stays]
        self._codes[new_rows[stays]] = self._known[rows[stays]]
        if len(vectors):
            self._codes[new_rows[~stays]] = self._vectors.sa_encode(vectors)
            # Old rows are still in the lists.
            self._lists.add_with_ids(vectors, len(self._row_of) + new_rows[~stays])

    def finish(self) -> faiss.Index:
        """Remove what is gone, and give all others their rows.

        RETURNS (Any): the new index, of faiss.
        RAISES (MedlinkError): E202 when the old one has rows that are not there.
        """
        gone = np.packbits(self._row_of < 0, bitorder="little")
        self._lists.remove_ids(untyped_faiss.IDSelectorBitmap(gone))
        row_of = np.concatenate([self._row_of, np.arange(len(self._codes))])
        lists = self._lists.invlists
        for list_number in range(self._lists.nlist):
            if size := lists.list_size(list_number):
                ids = untyped_faiss.rev_swig_ptr(lists.get_ids(list_number), size)
                if not 0 <= ids.min() <= ids.max() < len(row_of):
                    raise row_not_there(int(ids.max()), len(self._row_of))
                ids[:] = row_of[ids]
        refined = untyped_faiss.IndexRefine(self._lists, self._vectors)
        refined.referenced_objects.append(self._old)  # which owns the lists
        index: faiss.Index = refined
        return index


def _codes(index: Any, count: int) -> Array:
    """View the codes of vectors, (count, bytes of a code), without a copy."""
    view: Array = untyped_faiss.rev_swig_ptr(index.codes.data(), count * index.code_size)
    return view.reshape(count, index.code_size)


def _empty(index: Any) -> Any:
    """Make an index without vectors that gives a vector the same code."""
    if not isinstance(index, faiss.IndexScalarQuantizer):
        return untyped_faiss.IndexFlat(index.d, index.metric_type)
    made = untyped_faiss.IndexScalarQuantizer(index.d, index.sq.qtype, index.metric_type)
    made.sq, made.is_trained = index.sq, True
    return made
