"""AssetParts: what assets look like to code that makes, fits or measures linkers."""
# ruff: noqa: D102  # `assets.Assets` says what each of them is

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..retrieval.tier import Tier
from ..types import Data, Encoder
from .ranker import CandidateRanker

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..encoders.cross_encoder import CrossEncoder
    from ..retrieval.added import AddedNames
    from ..retrieval.dense import DenseIndex
    from ..retrieval.exact import ExactIndex
    from ..retrieval.facets import Facets
    from ..retrieval.filters import NameFilters
    from ..retrieval.memory import MentionMemory, Remembered
    from ..retrieval.word_ngram import WordNgramIndex
    from .calibrator import RankingCalibrator
    from .linker import Linker


class AssetParts(Protocol):
    """The parts of one linker, as code that makes, fits or measures linkers sees them.

    `assets.Assets` opens them, and says what they are.
    """

    path: Path
    manifest: Data
    device: str

    @property
    def tiers(self) -> list[str]: ...
    @property
    def used_tiers(self) -> list[str]: ...
    @property
    def weights(self) -> dict[str, float]: ...
    @property
    def kb(self) -> KnowledgeBase: ...
    @property
    def name_concept(self) -> NDArray[np.int32]: ...
    @property
    def exact(self) -> "ExactIndex": ...
    @property
    def ngram(self) -> "WordNgramIndex": ...
    @property
    def dense(self) -> "DenseIndex": ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def facets(self) -> "Facets": ...
    @property
    def filters(self) -> "NameFilters": ...
    @property
    def memory(self) -> "MentionMemory | None": ...
    @property
    def ranker(self) -> CandidateRanker | None: ...
    @property
    def reranker(self) -> "CrossEncoder | None": ...
    @property
    def calibrator(self) -> "RankingCalibrator | None": ...
    @property
    def memory_lines(self) -> "list[Remembered]": ...
    def tier(self, name: str) -> Tier: ...
    def added_names(self) -> "AddedNames | None": ...
    def engine(self, tiers: list[str] | None = None, **settings: Any) -> "Linker": ...
    def conditions(self, linker: "Linker") -> Data: ...
    def size_of(self, tiers: Iterable[str]) -> int: ...
