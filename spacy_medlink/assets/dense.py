"""Building the dense tier: encode all names, index them, and measure the recall of the index."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..types import Data, Progress
from .manifest import DENSE_FILE, ENCODER
from .recall import RecallProbe
from .vectors import NameVectors

if TYPE_CHECKING:  # faiss is not needed to build the starter's tiers
    from ..retrieval.dense import DenseIndex

_EXHAUSTIVE = "Flat"


@dataclass
class DenseBuild:
    """The parts that the dense tier is built from.

    vectors (Optional[NameVectors]): None for no dense tier. spec (str): faiss factory string.
    trained (Optional[Path]): an index of older assets, whose training is taken over.
    entry (Optional[Dict]): for the manifest, after the build.
    """

    vectors: NameVectors | None
    spec: str
    trained: Path | None = None
    entry: Data | None = None

    def build(self, path: Path, progress: Progress) -> "DenseIndex | None":
        """Write encoder and index into the directory of assets.

        RAISES (MedlinkError): E208 for a bad encoder, E209 for a bad index.
        """
        if self.vectors is None:
            return None
        from ..retrieval.dense import TRAINING_SAMPLE, DenseIndex

        encoder, kb = self.vectors.encoder, self.vectors.kb
        encoder.save(path / ENCODER)
        chunks = self.vectors.stream(progress)
        probe = None if self.spec == _EXHAUSTIVE else RecallProbe.of(kb, encoder)
        index = DenseIndex.build(
            probe.watch(chunks) if probe else chunks, kb.n_names, encoder.dim, self.spec,
            self.trained,
        )  # fmt: skip
        index.save(path / DENSE_FILE)
        index.move(encoder.device)
        self.entry = {"spec": self.spec, "names": kb.n_names}
        if probe is not None:
            search = {name: value for name, value in index.settings._asdict().items() if value}
            self.entry |= {"search": search, "training_sample": min(TRAINING_SAMPLE, kb.n_names)}
            self.entry["recall"] = probe.measure(index)
        return index
