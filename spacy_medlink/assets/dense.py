"""Building the dense tier: encode all names, index them, and measure the recall of the index."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..kb import KnowledgeBase
from ..types import Data, Progress
from .kept import KeptVectors
from .manifest import DENSE_FILE, ENCODER
from .recall import RecallProbe
from .update import CHANGED, Update
from .vectors import carried_rows, name_vectors

if TYPE_CHECKING:  # torch, transformers and faiss are not needed to build the starter's tiers
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.stored import StoredVectors
    from ..retrieval.dense import DenseIndex
    from ..retrieval.tuning import SearchSettings

_EXHAUSTIVE = "Flat"
# An index, its facts for the manifest, and what measures its recall, if that is not known.
_Made = tuple["DenseIndex", Data, RecallProbe | None]


@dataclass
class DenseBuild:
    """The parts that the dense tier is built from.

    encoder (Optional[BiEncoder]): None for no dense tier. spec (str): faiss factory string.
    reuse (Optional[Update]): vectors and training of older assets.
    stored (Optional[StoredVectors]): further vectors of the encoder.
    search (Optional[SearchSettings]): how far a search goes; None takes the defaults.
    training_sample (int): vectors that train the index, 0 for the default.
    kept (Optional[KeptVectors]): keeps vectors in case the build is interrupted.
    entry (Optional[Dict]): for the manifest, after the build.
    """

    encoder: "BiEncoder | None"
    spec: str
    reuse: Update | None = None
    stored: "StoredVectors | None" = None
    search: "SearchSettings | None" = None
    training_sample: int = 0
    kept: KeptVectors | None = None
    entry: Data | None = None

    def build(self, path: Path, kb: KnowledgeBase, progress: Progress) -> "DenseIndex | None":
        """Write encoder and index into the directory of assets.

        RAISES (MedlinkError): E208 for a bad encoder, E209 for a bad index.
        """
        if self.encoder is None:
            return None
        self.encoder.save(path / ENCODER)
        if self.reuse is not None and self.reuse.renumbers:
            index, entry, probe = self._carried(kb, progress, self.encoder, self.reuse)
        else:
            index, entry, probe = self._filled(kb, progress, self.encoder)
        index.save(path / DENSE_FILE)
        index.move(self.encoder.device)
        self.entry = {"spec": self.spec, "names": kb.n_names, **entry}
        if probe is not None:
            self.entry["recall"] = probe.measure(index)
        return index

    def _filled(self, kb: KnowledgeBase, progress: Progress, encoder: "BiEncoder") -> _Made:
        """Fill an index with the vectors of all names."""
        from ..retrieval.dense import TRAINING_SAMPLE, DenseIndex

        old, trained = (self.reuse.known, self.reuse.trained) if self.reuse else (None, None)
        chunks = name_vectors(encoder, kb, old or self.stored, progress, self.kept)
        probe = None if self.spec == _EXHAUSTIVE else RecallProbe.of(kb, encoder)
        sample = self.training_sample or TRAINING_SAMPLE
        index = DenseIndex.build(
            probe.watch(chunks) if probe else chunks, kb.n_names, encoder.dim, self.spec,
            trained, sample,
        )  # fmt: skip
        search = self._tune(index)
        if probe is None:
            return index, {}, None
        return index, {"search": search, "training_sample": min(sample, kb.n_names)}, probe

    def _carried(
        self, kb: KnowledgeBase, progress: Progress, encoder: "BiEncoder", reuse: Update
    ) -> _Made:
        """Carry the older index over; its recall stays, as few names have changed."""
        from ..retrieval.dense import DenseIndex

        assert reuse.known is not None and reuse.trained is not None, "what is known is renumbered"
        rows = carried_rows(encoder, kb, reuse.known, progress, self.kept)
        index = DenseIndex.renumbered(reuse.trained, rows, kb.n_names)
        entry = {**reuse.old.manifest["index"], "names": kb.n_names, CHANGED: reuse.changed}
        search = self._tune(index)
        if search == entry.get("search"):
            return index, entry, None
        probe = RecallProbe.of(kb, encoder)
        for _ in probe.watch(index.blocks()):
            pass
        return index, {**entry, "search": search}, probe

    def _tune(self, index: "DenseIndex") -> dict[str, int]:
        """Set how far a search goes. RETURNS: the settings that this kind of index has."""
        if self.search is not None:
            index.tune(self.search)
        return {name: value for name, value in index.settings._asdict().items() if value}
