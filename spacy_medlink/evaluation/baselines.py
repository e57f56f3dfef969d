"""Baselines: systems without training, reported beside every result."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..linking import Linker, LinkSettings, Parts, open_linker
from ..linking.asset_parts import AssetParts
from ..linking.settings import NAMES_PER_TIER
from ..linking.tiers import NgramTier
from ..retrieval.mask import Mask
from ..types import Floats2d, Hits, Ints1d, Ints2d, Progress
from ..util.locks import Lru
from ..util.progress import no_progress
from .judging import Ranker
from .settings import Settings
from .tfidf import TfidfRanker

EXACT, NGRAM, TFIDF, BASE = "exact", "ngram", "tfidf", "base"
# With more names, a comparison with all of them takes more than 5 ms, and 400 MB of memory.
TFIDF_LIMIT = 1_000_000  # names
_CHUNK = 4096


class Baseline(NamedTuple):
    """A system to compare with."""

    name: str
    system: Linker | Ranker


def make_baselines(
    assets: AssetParts,
    settings: Settings,
    ngrams: NgramTier | None = None,
    progress: Progress = no_progress,
) -> tuple[dict[str, Baseline], dict[str, str]]:
    """Make the baselines: exact look-up, TF-IDF, n-grams, and an untrained encoder if one is named.

    ngrams (Optional[NgramTier]): the n-gram tier that the linker also asks.
    RETURNS (Tuple[Dict[str, Baseline], Dict[str, str]]): the baselines, and the reasons for those
        left out.
    RAISES (MedlinkError): E205 for a directory that holds no encoder.
    """
    made: dict[str, Baseline] = {}
    left_out: dict[str, str] = {}
    depth = max(settings.ks)
    for tier in (EXACT, NGRAM):
        if tier in assets.tiers:
            own = baseline(assets, tier, depth)
            if tier == NGRAM and ngrams is not None:
                own = own.with_parts(ngram=ngrams)
            made[tier] = Baseline(tier, own)
        else:
            left_out[tier] = "the assets have no such tier"
    if assets.kb.n_names <= TFIDF_LIMIT:
        concepts = assets.kb.name_concepts()
        made[TFIDF] = Baseline(
            TFIDF, TfidfRanker(assets.kb.iter_texts(), concepts, names_per_tier(depth))
        )
    else:
        left_out[TFIDF] = (
            f"{assets.kb.n_names:,} names are more than the {TFIDF_LIMIT:,} that it can search in "
            "reasonable time"
        )
    if settings.base:
        base = _untrained(assets, depth, Path(settings.base), progress)
        made[BASE] = Baseline(BASE, base)
    return made, left_out


def _untrained(assets: AssetParts, depth: int, path: Path, progress: Progress) -> Linker:
    """Index all names with another encoder, with the pooling of the assets' encoder."""
    from ..encoders.bi_encoder import BiEncoder
    from ..retrieval.dense import DenseIndex
    from ..retrieval.fusion import WeightedFusion
    from ..util.devices import find_device

    described = assets.manifest["encoder"]
    device = find_device(assets.device)
    encoder = BiEncoder.load(path, described["pooling"] if described else None, device=device)
    encoder.halve()
    texts = assets.kb.iter_texts()
    starts = range(0, assets.kb.n_names, _CHUNK)
    vectors: Iterable[Floats2d] = (
        encoder.encode(list(islice(texts, _CHUNK)))
        for _ in progress(starts, len(starts), "encoding names with the untrained encoder")
    )
    parts = Parts(
        assets.name_concept,
        dense=DenseIndex.build(vectors, assets.kb.n_names, encoder.dim, "Flat").move(device),
        encoder=encoder,
        fusion=WeightedFusion().with_weights({"dense": 1.0}),
    )
    settings = LinkSettings(top_k=depth, threshold=0.0, names_per_tier=names_per_tier(depth))
    return Linker.of(parts, settings)


_BATCHES = 256  # batches whose answers are kept, 0.4 MB each


def default_linker(assets: AssetParts, tiers: Sequence[str], depth: int) -> Linker:
    """Make the linker of assets with the default settings, for the depth of the evaluation.

    depth (int): concepts or names that each ranking must have.
    RAISES (MedlinkError): E210, E212 for a tier that was not built.
    """
    settings = LinkSettings(tiers=tiers, names_per_tier=names_per_tier(depth))
    return open_linker(assets, settings).using(top_k=max(settings.top_k, depth))


def baseline(assets: AssetParts, tier: str, depth: int) -> Linker:
    """Make a linker of one tier without fitted parts: no memory, no ranker, no calibrator."""
    settings = LinkSettings(
        top_k=depth, tiers=[tier], memory=False, ranker=False, rerank_top=0, calibrator=False,
        threshold=0.0, names_per_tier=names_per_tier(depth),
    )  # fmt: skip
    return open_linker(assets, settings, identifiers_of=None)


def alone(linker: Linker, tier: str, assets: AssetParts) -> Linker:
    """Make a linker with the settings of another, but only one tier.

    Identifiers, abbreviations of the document and corrections are left out: they help every tier.
    """
    return linker.with_parts(
        exact=assets.exact if tier == "exact" else None,
        ngram=(linker.parts.ngram or assets.ngram) if tier == "ngram" else None,
        dense=assets.dense if tier == "dense" else None,
        encoder=(linker.parts.encoder or assets.encoder) if tier == "dense" else None,
        fusion=linker.parts.fusion.with_weights({tier: 1.0}),
        memory=None, rescorer=None, calibrator=None, identifiers_of=None, gate=None,
    )  # fmt: skip


def names_per_tier(depth: int) -> int:
    """Compute how many names each tier must propose so that rankings reach a depth.

    Up to half of the default, the default is kept. So acc@1 does not depend on the other depths of
    an evaluation.
    """
    return max(NAMES_PER_TIER, 2 * depth)


class RememberingNgrams:
    """An n-gram tier that remembers its last answers.

    The linker and the n-gram baseline ask for the same batches, and comparing these with all names
    is most of the work of both.

    index (NgramTier): the tier to ask.
    """

    def __init__(self, index: NgramTier) -> None:
        self._index = index
        self.uses_same = index.uses_same
        self._answers: Lru[tuple[Any, ...], Hits] = Lru(_BATCHES)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighted: Any = None,
    ) -> Hits:
        """Find the k most similar names; remembered batches are not searched again."""
        if mask is not None:
            return self._index.search(texts, k, mask, same, weighted)
        known = None if same is None or not self.uses_same else tuple(same.tolist())
        key = (tuple(texts), k, known)
        found = self._answers.get(key)
        if found is None:
            found = self._index.search(texts, k, None, same, weighted)
            self._answers.put(key, found)
        return found

    def weigh(self, texts: Sequence[str]) -> Any:
        """Weigh the trigrams of texts."""
        return self._index.weigh(texts)

    def score(self, texts: Sequence[str], rows: Ints2d, weighted: Any = None) -> Floats2d:
        """Score name rows (n, m) for each text."""
        return self._index.score(texts, rows, weighted)
