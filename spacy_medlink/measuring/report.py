"""measure: from assets and gold mentions to the metrics that DESIGN promises, as one dict."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..assets import Assets
from ..errors import Errors
from ..evaluation import Outcome, compute_metrics, near_references
from ..gold import read_gold
from ..kb import KnowledgeBase
from ..linking import TIERS
from ..progress import no_progress
from ..types import Progress
from .gold_set import Case, GoldSet
from .ranking import Judged, judge, names_per_tier
from .resources import speed

DICTIONARY = "dictionary"
_WARM_UP = "warm up"


@dataclass(frozen=True)
class Settings:
    """How to measure.

    ks (Tuple[int, ...]): depths of accuracy.
    tiers (Tuple[str, ...]): tiers to use; () for all that were built.
    each_tier (bool): measure each of them alone too.
    protocol (str): "concepts" or "names", which the ranks count.
    threshold (Optional[float]): links that score less are NIL.
    resolve_abbreviations (bool): expand what a document defines.
    reference (str): file of training mentions, or "dictionary" for the knowledge base's names:
        what the filtered splits leave out. "" makes no splits.
    min_distance (float): of the second split, Levenshtein over length.
    """

    ks: tuple[int, ...] = (1, 5)
    tiers: tuple[str, ...] = ()
    each_tier: bool = False
    protocol: str = "concepts"
    threshold: float | None = None
    resolve_abbreviations: bool = True
    reference: str = ""
    min_distance: float = 0.2


def measure(
    assets: Assets, gold: GoldSet, settings: Settings, progress: Progress = no_progress
) -> dict[str, Any]:
    """Measure how well the mentions of a gold file are linked.

    RETURNS (Dict[str, Any]): the metrics of `evaluation.compute_metrics` for the tiers together;
        "tiers" for each alone, "splits" for filtered parts, and how it was measured: "protocol",
        "kb", "speed", "mismatches" (gold mentions that are not where their offsets say).
    RAISES (MedlinkError): E405 for a tier that was not built.
    """
    tiers = _chosen(assets, settings)
    cases = list(gold.cases(settings.resolve_abbreviations))
    keep = _splits(assets.kb, cases, settings)
    judged = _judge(assets, tiers, cases, settings, progress)
    report = {
        "protocol": settings.protocol,
        "tiers_used": tiers,
        **compute_metrics(judged.outcomes, settings.ks),
        "mismatches": len(gold.mismatches),
        "splits": {
            name: compute_metrics(_kept(judged.outcomes, flags), settings.ks)
            for name, flags in keep.items()
        },
        "kb": describe_kb(assets.kb),
        "speed": _speed(judged),
    }
    if settings.each_tier:
        report["tiers"] = {
            tier: _one_tier(assets, tier, cases, settings, progress) for tier in tiers
        }
        report["tiers"]["fused"] = {
            **compute_metrics(judged.outcomes, settings.ks),
            "speed": _speed(judged),
            "bytes": _size(assets, tiers),
        }
    return report


def describe_kb(kb: KnowledgeBase) -> dict[str, Any]:
    """List what identifies a knowledge base in a report."""
    facts = kb.manifest
    known = {name: facts[name] for name in ("source", "format", "version") if facts.get(name)}
    return {**known, "concepts": len(kb), "names": kb.n_names}


def _chosen(assets: Assets, settings: Settings) -> list[str]:
    for tier in settings.tiers:
        if tier not in assets.tiers:
            built = ", ".join(assets.tiers)
            raise Errors.tier_not_built(path=assets.path, tier=tier, built=built)
    return [tier for tier in TIERS if tier in (settings.tiers or assets.tiers)]


def _judge(
    assets: Assets,
    tiers: list[str],
    cases: Sequence[Case],
    settings: Settings,
    progress: Progress,
) -> Judged:
    depth = max(settings.ks)
    engine = assets.engine(tiers, names_per_tier=names_per_tier(depth))
    engine.search([_WARM_UP])  # so that loading and first-time costs stay out of the speed
    return judge(
        engine, assets.kb, cases, depth=depth, protocol=settings.protocol,
        threshold=settings.threshold or 0.0, progress=progress, what=" + ".join(tiers),
    )  # fmt: skip


def _one_tier(
    assets: Assets, tier: str, cases: Sequence[Case], settings: Settings, progress: Progress
) -> dict[str, Any]:
    judged = _judge(assets, [tier], cases, settings, progress)
    return {
        **compute_metrics(judged.outcomes, settings.ks),
        "speed": _speed(judged),
        "bytes": _size(assets, [tier]),
    }


def _speed(judged: Judged) -> dict[str, Any]:
    return speed(len(judged.outcomes), "mentions", judged.seconds)


def _size(assets: Assets, tiers: Iterable[str]) -> int:
    """Add up the files of tiers, in bytes: the encoder belongs to the dense tier."""
    places = {"exact": ("exact/",), "ngram": ("ngram/",), "dense": ("dense.faiss", "encoder/")}
    starts = tuple(start for tier in tiers for start in places[tier])
    files = assets.manifest["files"]
    return sum(entry["size"] for name, entry in files.items() if name.startswith(starts))


def _splits(kb: KnowledgeBase, cases: Sequence[Case], settings: Settings) -> dict[str, list[bool]]:
    """Tell for each split which cases it keeps."""
    if not settings.reference:
        return {}
    texts = {case.mention.text for case in cases}
    distance = settings.min_distance
    near = near_references(texts, _references(kb, settings.reference), distance)
    return {
        "full": [True] * len(cases),
        "filtered": [near.get(case.mention.text) is not True for case in cases],
        f"filtered_{distance:g}": [case.mention.text not in near for case in cases],
    }


def _references(kb: KnowledgeBase, reference: str) -> Iterator[str]:
    if reference == DICTIONARY:
        return (name.text for _, name in kb.iter_names())
    documents = read_gold(Path(reference))
    return (mention.text for document in documents for mention in document.mentions)


def _kept(outcomes: Sequence[Outcome], flags: Sequence[bool]) -> list[Outcome]:
    return [outcome for outcome, flag in zip(outcomes, flags, strict=True) if flag]
