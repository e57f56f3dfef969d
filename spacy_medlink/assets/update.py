"""Vectors of assets built before, so that an update encodes only new names.

A name is found by the hash of its text, and then compared. Its vector is read from the old index,
so a compressed vector stays compressed. A lossy index is therefore reused only by an index of the
same kind, which takes over its training and makes the same code of the same vector.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..text.normalisation import hash_keys
from ..types import Data, Floats2d, Hashes1d, Ints1d
from ..util.hashes import positions
from .assets import Assets
from .manifest import DENSE_FILE

if TYPE_CHECKING:
    from ..encoders.bi_encoder import BiEncoder
    from ..retrieval.dense import DenseIndex

MOST_CHANGED = 0.1  # share of the names, since a part was fitted or filled
CHANGED = "changed_names"
_CHUNK = 65_536
# Indices that keep unchanged vectors; an index with a flat refinement does.
_LOSSLESS = re.compile(r"(Flat|(IDMap2?,)?HNSW\d+(,Flat)?|IVF\d+(_HNSW\d+)?,Flat|.+,RFlat)")


class KnownVectors:
    """The vectors of an older index, found by the text of the name.

    Takes 13 bytes a name; the vectors stay on disk.

    hashes (Hashes1d): of the distinct texts, ascending. rows (Ints1d): a name row of each hash.
    index (DenseIndex): the vectors of the rows. texts (Callable): returns the names of rows.
    """

    def __init__(
        self,
        hashes: Hashes1d,
        rows: NDArray[np.uint32],
        index: "DenseIndex",
        texts: Callable[[Sequence[int]], Sequence[str]],
    ) -> None:
        self._hashes, self._rows, self._index, self._texts = hashes, rows, index, texts
        self._used = np.zeros(len(hashes), dtype=np.bool_)
        self.reused = self.encoded = 0

    @classmethod
    def of(cls, old: Assets) -> "KnownVectors":
        """Read the names of assets.

        RAISES (MedlinkError): E1xx and E2xx when the old assets are damaged.
        """
        return cls(*_distinct(text_hashes(old.kb)), old.dense, old.kb.texts_at)

    def take(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], Floats2d]:
        """Get the vectors of the known texts.

        RETURNS (Tuple[NDArray, Floats2d]): which texts are known, (n,), and the vectors of the
            known texts, (n_known, dim).
        """
        at = self._find(texts)
        is_known = at >= 0
        known_at = at[is_known]
        self._used[known_at] = True
        self.reused += len(known_at)
        self.encoded += len(texts) - len(known_at)
        rows: Ints1d = self._rows[known_at].astype(np.int64)
        return is_known, self._index.vectors(rows)

    def _find(self, texts: Sequence[str]) -> Ints1d:
        """Find the place of each text among the distinct ones, (n,); -1 for a new text."""
        at = positions(self._hashes, hash_keys(texts))
        return np.where(self._are_same(at, texts), at, -1)

    def _are_same(self, at: Ints1d, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Compare the names found by hash, since two names may have the same hash."""
        same = at >= 0
        hits = np.flatnonzero(same)
        names = self._texts(self._rows[at[hits]].tolist())
        for index, name in zip(hits.tolist(), names, strict=True):
            same[index] = name == texts[index]
        return same

    def claim(self, texts: Sequence[str]) -> Ints1d:
        """Give each row of the older index to one new name of the same text.

        RETURNS (Ints1d): row of each text, (n,); -1 for a new text, and for one whose row is given.
        """
        at = self._find(texts)
        _, first = np.unique(at, return_index=True)
        first = first[(at[first] >= 0) & ~self._used[at[first]]]
        self._used[at[first]] = True
        self.reused += len(first)
        rows = np.full(len(texts), -1, dtype=np.int64)
        rows[first] = self._rows[at[first]]
        return rows

    @property
    def dropped(self) -> int:
        """Number of distinct old texts that the new assets do not have."""
        return int((~self._used).sum())


class Update:
    """The parts of older assets that new assets can reuse, and a count of those reused.

    old (Assets): the assets to update. encoder (BiEncoder): of the new assets.
    spec (str): faiss factory string of the new index. names, changed (int): names of the new
        assets, and names that are not in both.
    """

    def __init__(
        self, old: Assets, encoder: "BiEncoder", spec: str, names: int, changed: int
    ) -> None:
        self.old = old
        self.why_not = _why_not(old.manifest, encoder, spec)
        self.known = None if self.why_not else KnownVectors.of(old)
        same_spec = not self.why_not and old.manifest["index"]["spec"] == spec
        self.trained: Path | None = old.file(DENSE_FILE) if same_spec else None
        self.changed = changed + (old.manifest["index"] or {}).get(CHANGED, 0)
        self.renumbers = (
            same_spec and self.changed < MOST_CHANGED * names and old.dense.can_renumber
        )

    def as_manifest(self, names: int) -> Data:
        """List the reused parts, for the manifest.

        names (int): number of names of the new assets.
        """
        manifest = self.old.manifest
        vectors = self.known
        return {
            "name": self.old.path.resolve().name,
            "names": manifest["kb"]["names"],
            "version": manifest["kb"].get("version", ""),
            "reused": vectors.reused if vectors else 0,
            "encoded": vectors.encoded if vectors else names,
            "dropped": vectors.dropped if vectors else manifest["kb"]["names"],
            "why_not": self.why_not,
        }


def _why_not(old: Data, encoder: "BiEncoder", spec: str) -> str:
    """Give the reason why the old vectors cannot be used; "" if they can."""
    made_by = old["encoder"]
    if made_by is None:
        return "they have no vectors"
    for setting in ("pooling", "max_length", "dim"):
        if made_by[setting] != getattr(encoder, setting):
            return f"{setting} was {made_by[setting]}, now it is {getattr(encoder, setting)}"
    if made_by["fingerprint"] != encoder.fingerprint():
        return "another encoder made them"
    old_spec = old["index"]["spec"]
    if old_spec != spec and not _LOSSLESS.fullmatch(old_spec):
        return f"the old index {old_spec} compresses, and the new one is {spec}"
    return ""


def text_hashes(kb: KnowledgeBase) -> Hashes1d:
    """Hash each name: (n_names,), in the order of rows."""
    hashes = array("Q")
    texts = kb.iter_texts()
    while chunk := list(islice(texts, _CHUNK)):
        # With 64 bits, one in eight million updates of 15 million names with 150,000 new names
        # would confuse a new name with an old one.
        hashes.frombytes(hash_keys(chunk).tobytes())
    return np.frombuffer(hashes, dtype=np.uint64)


def _distinct(hashes: Hashes1d) -> tuple[Hashes1d, NDArray[np.uint32]]:
    """Sort hashes, and return the first row of each."""
    order = np.argsort(hashes, kind="stable").astype(np.uint32)
    ordered = hashes[order]
    is_new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new], order[is_new]
