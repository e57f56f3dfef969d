"""Tiers by themselves, to stand beside a linker."""

from collections.abc import Sequence

from ...assets import Assets
from ...linking import Linker, LinkSettings, open_linker
from ...linking.settings import NAMES_PER_TIER
from ...linking.tiers import NgramTier
from ...retrieval.mask import Mask
from ...types import Floats2d, Hits, Ints2d
from ...util.lru import Lru

_BATCHES = 256  # whose answers are kept, 0.4 MB each


def default_linker(assets: Assets, tiers: Sequence[str], depth: int) -> Linker:
    """Make the linker of assets with the default settings, with as many candidates as are judged.

    depth (int): concepts or names that each ranking must reach.
    RAISES (MedlinkError): E210, E212 for a tier that was not built.
    """
    settings = LinkSettings(tiers=tiers, names_per_tier=names_per_tier(depth))
    return open_linker(assets, settings).using(top_k=max(settings.top_k, depth))


def baseline(assets: Assets, tier: str, depth: int) -> Linker:
    """Make a linker of one tier, which has learned nothing: no memory, no ranker, no calibrator."""
    settings = LinkSettings(
        top_k=depth, tiers=[tier], memory=False, ranker=False, rerank_top=0, calibrator=False,
        threshold=0.0, names_per_tier=names_per_tier(depth),
    )  # fmt: skip
    return open_linker(assets, settings, identifiers_of=None)


def alone(linker: Linker, tier: str, assets: Assets) -> Linker:
    """Make a linker with the settings of another that asks one tier.

    What a document says or corrections do is no merit of a tier.
    """
    return linker.with_parts(
        exact=assets.exact if tier == "exact" else None,
        ngram=(linker.ngram or assets.ngram) if tier == "ngram" else None,
        dense=assets.dense if tier == "dense" else None,
        encoder=(linker.encoder or assets.encoder) if tier == "dense" else None,
        fusion=linker.fusion.with_weights({tier: 1.0}),
        memory=None, rescorer=None, calibrator=None, identifiers_of=None, gate=None,
    )  # fmt: skip


def names_per_tier(depth: int) -> int:
    """Tell how many names each tier must propose so that rankings reach a depth.

    Up to half of the default nothing changes, so that acc@1 does not depend on which other depths
    are asked for.
    """
    return max(NAMES_PER_TIER, 2 * depth)


class RememberingNgrams:
    """An n-gram tier that remembers what it was asked last.

    The linker and the n-gram baseline ask for the same batches, and comparing these with all names
    is most of the work of both.

    index (NgramTier): that is asked.
    """

    def __init__(self, index: NgramTier) -> None:
        self._index = index
        self._answers: Lru[tuple[tuple[str, ...], int], Hits] = Lru(_BATCHES)

    def search(self, texts: Sequence[str], k: int, mask: Mask | None = None) -> Hits:
        """Find the k names that are most similar; what was asked before is not searched again."""
        if mask is not None:
            return self._index.search(texts, k, mask)
        key = (tuple(texts), k)
        found = self._answers.get(key)
        if found is None:
            found = self._index.search(texts, k)
            self._answers.put(key, found)
        return found

    def score(self, texts: Sequence[str], rows: Ints2d) -> Floats2d:
        """Score name rows (n, m) for each text."""
        return self._index.score(texts, rows)
