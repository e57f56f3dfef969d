"""What every result stands beside: systems that need no training."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...assets import Assets
from ...linking import Linker, LinkSettings, Parts
from ...linking.tiers import NgramTier
from ...types import Floats2d, Progress
from ...util.progress import no_progress
from ..judging import Ranker
from ..settings import Settings
from .tfidf import TfidfRanker
from .tiers import baseline, names_per_tier

EXACT, NGRAM, TFIDF, BASE = "exact", "ngram", "tfidf", "base"
# Above, comparing a mention with all names takes more than 5 ms, and holding them 400 MB.
TFIDF_LIMIT = 1_000_000  # names
_CHUNK = 4096


class Baseline(NamedTuple):
    """A system to compare with."""

    name: str
    system: Linker | Ranker


def make_baselines(
    assets: Assets,
    settings: Settings,
    ngrams: NgramTier | None = None,
    progress: Progress = no_progress,
) -> tuple[dict[str, Baseline], dict[str, str]]:
    """Make the baselines: exact look-up, TF-IDF, n-grams, and an untrained encoder if one is named.

    ngrams (Optional[NgramTier]): the n-gram tier that the linker asks, too.
    RETURNS (Tuple[Dict[str, Baseline], Dict[str, str]]): those made, and why others were left out.
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
        concepts = assets.kb.name_concepts().astype(np.int32)
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


def _untrained(assets: Assets, depth: int, path: Path, progress: Progress) -> Linker:
    """Index all names with another encoder, pooled as that of the assets."""
    from ...encoders.bi_encoder import BiEncoder
    from ...retrieval.dense import DenseIndex
    from ...retrieval.fusion import WeightedFusion
    from ...util.devices import find_device

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
