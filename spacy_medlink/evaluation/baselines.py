"""Baselines: systems without training, reported beside every result."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from ..linking import Linker, LinkSettings, Parts, open_linker
from ..linking.asset_parts import AssetParts
from ..linking.settings import NAMES_PER_TIER
from ..types import Floats2d, Progress
from ..util.progress import no_progress
from .settings import Settings
from .tfidf import TfidfRanker

EXACT, NGRAM, TFIDF, BASE = "exact", "ngram", "tfidf", "base"
# With more names, a comparison with all of them takes more than 5 ms, and 400 MB of memory.
TFIDF_LIMIT = 1_000_000  # names
_CHUNK = 4096


def make_baselines(
    assets: AssetParts,
    settings: Settings,
    progress: Progress = no_progress,
) -> tuple[dict[str, Linker | TfidfRanker], dict[str, str]]:
    """Make the baselines: exact look-up, TF-IDF, n-grams, and an untrained encoder if one is named.

    RETURNS (Tuple[Dict, Dict[str, str]]): the baselines, and the reasons for those left out.
    RAISES (MedlinkError): E205 for a directory that holds no encoder.
    """
    made: dict[str, Linker | TfidfRanker] = {}
    left_out: dict[str, str] = {}
    depth = max(settings.ks)
    for tier in (EXACT, NGRAM):
        if tier in assets.tiers:
            made[tier] = baseline(assets, tier, depth)
        else:
            left_out[tier] = "the assets have no such tier"
    if assets.kb.n_names <= TFIDF_LIMIT:
        concepts = assets.kb.name_concepts()
        made[TFIDF] = TfidfRanker(assets.kb.iter_texts(), concepts, names_per_tier(depth))
    else:
        left_out[TFIDF] = (
            f"{assets.kb.n_names:,} names are more than the {TFIDF_LIMIT:,} that it can search in "
            "reasonable time"
        )
    if settings.base:
        made[BASE] = _untrained(assets, depth, Path(settings.base), progress)
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


def default_linker(assets: AssetParts, tiers: Sequence[str], depth: int) -> Linker:
    """Make the linker of assets with the default settings, for the depth of the evaluation.

    depth (int): concepts or names that each ranking must have.
    RAISES (MedlinkError): E405 for a tier that was not built.
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
        fusion=linker.parts.fusion.with_weights({tier: 1.0}), languages=None,
        memory=None, rescorer=None, calibrator=None, identifiers_of=None, gate=None,
    )  # fmt: skip


def names_per_tier(depth: int) -> int:
    """Compute how many names each tier must propose so that rankings reach a depth.

    Up to half of the default, the default is kept. So acc@1 does not depend on the other depths of
    an evaluation.
    """
    return max(NAMES_PER_TIER, 2 * depth)
