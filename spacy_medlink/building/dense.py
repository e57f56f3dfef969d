"""Building the dense tier: encode all names, index them, and measure the recall of the index."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..assets.layout import DENSE_FILE, ENCODER
from ..kb import KnowledgeBase
from ..types import Progress
from .kept import KeptVectors
from .recall import RecallProbe
from .update import Update
from .vectors import name_vectors

if TYPE_CHECKING:  # torch, transformers and faiss are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.stored import StoredVectors
    from ..retrieval.dense import DenseIndex
    from ..retrieval.tuning import SearchSettings

_EXHAUSTIVE = "Flat"


@dataclass
class DenseBuild:
    """The parts that the dense tier is built from.

    encoder (Optional[BiEncoder]): None for no dense tier. spec (str): faiss factory string.
    reuse (Optional[Update]): vectors and training of older assets.
    stored (Optional[StoredVectors]): further vectors of the encoder.
    search (Optional[SearchSettings]): how far a search goes; None takes the defaults.
    training_sample (int): vectors that train the index, 0 for the default.
    kept (Optional[KeptVectors]): keeps vectors in case the build is interrupted.
    facts (Optional[Dict]): for the manifest, after the build.
    """

    encoder: "BiEncoder | None"
    spec: str
    reuse: Update | None = None
    stored: "StoredVectors | None" = None
    search: "SearchSettings | None" = None
    training_sample: int = 0
    kept: KeptVectors | None = None
    facts: dict[str, Any] | None = None

    def build(self, path: Path, kb: KnowledgeBase, progress: Progress) -> "DenseIndex | None":
        """Write encoder and index into the directory of assets.

        RAISES (MedlinkError): E208 for a bad encoder, E209 for a bad index.
        """
        if self.encoder is None:
            return None
        from ..retrieval.dense import TRAINING_SAMPLE, DenseIndex

        self.encoder.save(path / ENCODER)
        old, trained = (self.reuse.known, self.reuse.trained) if self.reuse else (None, None)
        chunks = name_vectors(self.encoder, kb, old or self.stored, progress, self.kept)
        probe = None if self.spec == _EXHAUSTIVE else RecallProbe.of(kb, self.encoder)
        sample = self.training_sample or TRAINING_SAMPLE
        index = DenseIndex.build(
            probe.watch(chunks) if probe else chunks, kb.n_names, self.encoder.dim, self.spec,
            trained, sample,
        )  # fmt: skip
        if self.search is not None:
            index.tune(self.search)
        index.save(path / DENSE_FILE)
        index.move(self.encoder.device)
        self.facts = {"spec": self.spec, "names": kb.n_names}
        if probe is not None:
            settings = {name: value for name, value in index.settings._asdict().items() if value}
            self.facts |= {
                "search": settings, "training_sample": min(sample, kb.n_names),
                "recall": probe.measure(index),
            }  # fmt: skip
        return index
