"""The engines of the systems that are measured on one gold file: set alike, sharing their work."""

from collections.abc import Sequence
from typing import Any

from ..assets import Assets
from ..linking import LinkingEngine
from ..retrieval.mask import Mask
from ..retrieval.ngram import NgramIndex
from ..types import Hits
from ..util.lru import Lru

# A tier must propose enough names for k distinct answers. Up to half of the engine's default
# nothing changes, so that acc@1 does not depend on which other depths are asked for.
_NAMES_PER_TIER = 64
_BATCHES = 256  # whose answers are kept, 0.4 MB each


class Engines:
    """Makes engines over assets that all reach a depth.

    Rankings are judged deeper than that (`ranking.RETRIEVAL_DEPTH`), as far as what was proposed
    for the depth goes: asking for more names would measure another linker, and take three times as
    long.

    depth (int): concepts or names that each ranking must reach.
    """

    def __init__(self, assets: Assets, depth: int) -> None:
        self._assets = assets
        self.depth, self.names_per_tier = depth, names_per_tier(depth)
        self._ngrams: SearchedNgrams | None = None

    def make(self, tiers: Sequence[str], **settings: Any) -> LinkingEngine:
        """Make an engine with some tiers; `settings` go to `Assets.engine`.

        RAISES (MedlinkError): E210, E212 for a tier that was not built.
        """
        engine = self._assets.engine(
            list(tiers), names_per_tier=self.names_per_tier, enough=self.depth, **settings
        )
        if engine.ngram is not None:
            self._ngrams = self._ngrams or SearchedNgrams(engine.ngram)
            engine.tiers.ngram = self._ngrams
        return engine


def names_per_tier(depth: int) -> int:
    """Tell how many names each tier must propose so that rankings reach a depth."""
    return max(_NAMES_PER_TIER, 2 * depth)


class SearchedNgrams(NgramIndex):
    """An n-gram index that remembers what it was asked last.

    The linker and the n-gram baseline ask for the same batches, and comparing these with all names
    is most of the work of both.

    index (NgramIndex): shares its arrays.
    """

    def __init__(self, index: NgramIndex) -> None:
        super().__init__(index._names, index._grams, index._idf)
        self._answers: Lru[tuple[tuple[str, ...], int], Hits] = Lru(_BATCHES)

    def search(self, texts: Sequence[str], k: int, mask: Mask | None = None) -> Hits:
        """Find the k names that are most similar; what was asked before is not searched again."""
        if mask is not None:
            return super().search(texts, k, mask)
        key = (tuple(texts), k)
        found = self._answers.get(key)
        if found is None:
            found = super().search(texts, k)
            self._answers.put(key, found)
        return found
