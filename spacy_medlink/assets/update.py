"""What new assets take over from assets built before: vectors, training of the index.

Vectors are read from the old index, so a compressed vector stays compressed. A lossy index is
therefore reused only by an index of the same kind, which takes over its training and makes the same
code of the same vector.
"""

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..types import Data
from .assets import Assets
from .manifest import DENSE_FILE
from .vector_store import Keys, KnownVectors, keys_of
from .vectors import NameVectors

if TYPE_CHECKING:
    from ..encoders.bi_encoder import BiEncoder

_CHUNK = 65_536
# Indices that keep unchanged vectors; an index with a flat refinement does.
_LOSSLESS = re.compile(r"(Flat|(IDMap2?,)?HNSW\d+(,Flat)?|IVF\d+(_HNSW\d+)?,Flat|.+,RFlat)")


class Update:
    """The parts of older assets that new assets can reuse.

    old (Assets): the assets to update. encoder (BiEncoder): of the new assets.
    spec (str): faiss factory string of the new index.
    RAISES (MedlinkError): E1xx and E2xx when the old assets are damaged.
    """

    def __init__(self, old: Assets, encoder: "BiEncoder", spec: str) -> None:
        self.old, self.why_not = old, _why_not(old.manifest, encoder, spec)
        self.known = None if self.why_not else KnownVectors(_keys(old.kb), old.dense.vectors)
        same_spec = not self.why_not and old.manifest["index"]["spec"] == spec
        self.trained: Path | None = old.file(DENSE_FILE) if same_spec else None

    @property
    def reused(self) -> int:
        """Number of names whose vectors were taken."""
        return self.known.taken if self.known is not None else 0

    def as_manifest(self, names: NameVectors) -> Data:
        """List the reused parts, for the manifest."""
        manifest = self.old.manifest
        return {
            "name": self.old.path.resolve().name,
            "names": manifest["kb"]["names"],
            "version": manifest["kb"].get("version", ""),
            "reused": self.reused,
            "encoded": names.kb.n_names - self.reused,
            "why_not": self.why_not,
        }


def _why_not(old: Data, encoder: "BiEncoder", spec: str) -> str:
    """Give the reason why the old vectors cannot be used; "" if they can."""
    made_by = old["encoder"]
    if made_by is None:
        return "they have no vectors"
    if made_by["fingerprint"] != encoder.fingerprint():
        return "another encoder made them, or one with other settings"
    old_spec = old["index"]["spec"]
    if old_spec != spec and not _LOSSLESS.fullmatch(old_spec):
        return f"the old index {old_spec} compresses, and the new one is {spec}"
    return ""


def _keys(kb: KnowledgeBase) -> Keys:
    texts, parts = kb.iter_texts(), [keys_of(())]
    while chunk := list(islice(texts, _CHUNK)):
        parts.append(keys_of(chunk))
    return np.concatenate(parts)
