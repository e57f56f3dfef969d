"""open_linker: makes a linker of assets and settings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from ..errors import Errors, Warnings
from ..kb import KnowledgeBase
from ..retrieval.fusion import fusion_of, normalised
from ..retrieval.tier import EXACT
from ..text.identifiers import spellings
from ..text.lexicon import Lexicon
from ..types import Calibrator, Encoder, Fusion, Rescorer
from ..util.telling import tell
from .asset_parts import AssetParts
from .gate import RerankGate
from .identified import IdentifiersOf
from .linear import difference
from .linker import Linker
from .parts import Parts
from .ranker import Chain
from .settings import LinkSettings

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..retrieval.memory import MentionMemory
    from .calibrator import RankingCalibrator

_KEPT = 16_384  # concepts whose identifiers are remembered


class Default(Enum):
    """Stands for the part that the assets have; None stands for no part."""

    OF_ASSETS = "of the assets"


OF_ASSETS: Literal[Default.OF_ASSETS] = Default.OF_ASSETS


def open_linker(
    assets: AssetParts,
    settings: LinkSettings | None = None,
    *,
    fusion: Fusion | None = None,
    weights: Mapping[str, float] | None = None,
    encoder: Encoder | None = None,
    memory: "MentionMemory | Literal[Default.OF_ASSETS] | None" = OF_ASSETS,
    rescorer: Rescorer | Literal[Default.OF_ASSETS] | None = OF_ASSETS,
    calibrator: Calibrator | None = None,
    identifiers_of: IdentifiersOf | Literal[Default.OF_ASSETS] | None = OF_ASSETS,
    lexicon: Lexicon | None = None,
) -> Linker:
    """Make a linker of assets.

    settings (Optional[LinkSettings]): default: those of the component.
    fusion (Optional[Fusion]): default: the function and weights that the build found best.
    weights (Optional[Mapping[str, float]]): of the tiers, instead of those of the build.
    encoder, memory, rescorer, calibrator, identifiers_of: instead of those of the assets;
        None leaves memory, rescorer and identifiers out.
    lexicon (Optional[Lexicon]): the meanings of abbreviations that a document does not define.
    RAISES (MedlinkError): E405 for a tier that was not built, E214 for a calibrator that was fitted
        for something else.
    """
    settings = settings or LinkSettings()
    tiers = assets.used_tiers if settings.tiers is None else list(settings.tiers)
    _check_tiers(assets, tiers)
    if memory is OF_ASSETS:
        memory = assets.memory if settings.memory else None
    if identifiers_of is OF_ASSETS:
        identifiers_of = lru_cache(_KEPT)(_identifiers_of(assets.kb))
    parts = replace(
        _of_tiers(assets, tiers, encoder),
        memory=memory,
        fusion=_fusion(assets, tiers, fusion, weights),
        identifiers_of=identifiers_of,
        lexicon=lexicon or Lexicon(),
    )
    if rescorer is OF_ASSETS:
        rescorer = _rescorer(assets, parts, settings)
    parts = replace(parts, rescorer=rescorer)
    if calibrator is None and settings.calibrator is not False:
        calibrator = _calibrator(assets, parts, insist=settings.calibrator is True)
    return Linker.of(replace(parts, calibrator=calibrator), settings)


def _of_tiers(assets: AssetParts, tiers: Sequence[str], encoder: Encoder | None) -> Parts:
    """Make the parts that the names of the assets and some tiers need."""
    # A name that is not encoded would have one candidate, where the fusion leaves all tiers out
    # that could propose others.
    others = {tier: assets.tier(tier) for tier in tiers if tier != EXACT}
    asks_vectors = any(tier.asks_vectors for tier in others.values())
    left_out = [tier for tier in assets.tiers if asks_vectors and tier not in (EXACT, *tiers)]
    return Parts(
        assets.name_concept,
        kb=assets.kb,
        exact=assets.exact if EXACT in tiers else None,
        others=others,
        encoder=(encoder or assets.encoder) if asks_vectors else None,
        facets=assets.facets,
        filters=assets.filters,
        added=assets.added_names(),
        spare={tier: assets.tier(tier) for tier in left_out},
    )


def _check_tiers(assets: AssetParts, tiers: Sequence[str]) -> None:
    for tier in tiers:
        if tier != EXACT and tier not in assets.tiers:
            built = ", ".join(assets.tiers)
            raise Errors.tier_not_built(path=assets.path, tier=tier, built=built)


def _fusion(
    assets: AssetParts,
    tiers: Sequence[str],
    fusion: Fusion | None,
    weights: Mapping[str, float] | None,
) -> Fusion:
    if fusion is not None and fusion.weights is not None:
        return fusion
    chosen = fusion or fusion_of(assets.manifest["fusion"])
    return chosen.with_weights(weights or weights_of(assets.weights, tiers))


def weights_of(weights_built: Mapping[str, float], tiers: Sequence[str]) -> dict[str, float]:
    """Scale the weights of some tiers so that they sum to 1.

    A perfect match then scores 1.0 with any set of tiers.
    """
    weights = {tier: weights_built.get(tier, 0.0) for tier in tiers}
    # A tier whose stated weight is 0 must still rank where it is alone.
    return normalised(weights) if any(weights.values()) else dict.fromkeys(tiers, 1.0)


def _rescorer(assets: AssetParts, parts: Parts, settings: LinkSettings) -> Rescorer | None:
    """Make the rescorer: the ranker, then the reranker; None with neither."""
    rescorers: list[Rescorer] = []
    ranker = assets.ranker if settings.ranker else None
    if ranker is not None and ranker.fits(parts.conditions(assets.manifest["encoder"])):
        rescorers.append(ranker)
    asks_all = settings.tiers is None or set(settings.tiers) >= set(assets.used_tiers)
    reranker = assets.reranker if asks_all and settings.rerank_top != 0 else None
    if reranker is not None:
        from .reranking import Reranker

        gate = _rerank_gate(assets, parts, rescorers)
        rescorers.append(Reranker(reranker, assets.kb, settings.rerank_top, gate=gate))
    return Chain(rescorers) if len(rescorers) > 1 else next(iter(rescorers), None)


def _calibrator(assets: AssetParts, parts: Parts, insist: bool) -> "RankingCalibrator | None":
    """Get the calibrator of the assets, if it was fitted for this linker.

    insist (bool): raise if a calibrator fitted to gold mentions does not fit; warn if one fitted
        to names does not.
    """
    calibrator = assets.calibrator
    if calibrator is None:
        return None
    problem = difference(calibrator.fitted_for, parts.conditions(assets.manifest["encoder"]))
    if not problem:
        return calibrator
    if insist and "names" not in assets.manifest["calibrator"].get("fitted_on", {}):
        raise Errors.model_mismatch(
            model="calibrator", path=assets.path, problem=problem,
            how="`medlink learn`", without="`calibrator = false`",
        )  # fmt: skip
    if insist and calibrator.threshold:  # nobody asked for the calibrator of a build
        tell(Warnings.calibrator_unfit.format(path=assets.path, problem=problem))
    return None


def _rerank_gate(assets: AssetParts, parts: Parts, before: Sequence[Rescorer]) -> RerankGate | None:
    """Get the gate of the assets' reranker, if it was fitted for the order that it will see."""
    usual = replace(parts, rescorer=next(iter(before), None))
    conditions = usual.conditions(assets.manifest["encoder"])
    return RerankGate.of(assets.manifest.get("reranker"), conditions)


def _identifiers_of(kb: KnowledgeBase) -> IdentifiersOf:
    """Make the function that lists the id and the codes of a concept, as texts write them."""
    return lambda row: spellings(kb.brief_at(row)[0], kb.codes_at(row))
