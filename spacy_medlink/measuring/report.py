"""measure: from assets and gold mentions to the metrics that DESIGN promises, as one dict."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..assets import Assets
from ..errors import Errors
from ..evaluation import Outcome, compute_metrics, compute_totals, pack
from ..linking import TIERS
from ..reports.metrics_file import FORMAT, SCHEMA
from ..text.identifiers import is_identified
from ..types import Progress
from ..util.progress import no_progress
from .baselines import Baseline, make_baselines
from .engines import Engines
from .gold_set import Case, GoldSet
from .hierarchy import with_rollup
from .labels import Labeller, useful
from .provenance import describe_kb, describe_run
from .ranking import Judged, Ranker, judge
from .records import describe_concepts, make_records
from .resources import speed
from .settings import Settings
from .splits import Splits, make_splits

_WARM_UP = "warm up"

Metrics = dict[str, Any]


def measure(
    assets: Assets,
    gold: GoldSet,
    settings: Settings,
    progress: Progress = no_progress,
    peers: Mapping[str, Ranker] = MappingProxyType({}),
) -> Metrics:
    """Measure how well the mentions of a gold file are linked.

    peers (Mapping[str, Ranker]): other linkers over the same knowledge base, measured beside the
        baselines.

    RETURNS (Dict[str, Any]): the metrics of `evaluation.compute_metrics` for the tiers together;
        "baselines" and "tiers" for each alone, "splits" for filtered parts; how it was measured:
        "protocol", "kb", "gold", "speed", "manifest"; and "mentions" (`evaluation.unpack` reads
        them) with the "concepts" that these name.
    RAISES (MedlinkError): E405 for a tier that was not built, E107 and E4xx for training mentions.
    """
    tiers = _chosen(assets, settings)
    every = list(
        gold.cases(
            settings.resolve_abbreviations,
            settings.composites == "biosyn",
            settings.resolve_identifiers,
        )
    )
    cases = [case for case in every if _counts(case, settings)]
    splits = make_splits(assets.kb, cases, settings)
    engines = Engines(assets, max(settings.ks))
    bench = _Bench(assets, engines, cases, splits, settings, progress)
    judged = bench.judge_tiers(tiers)
    outcomes = _labelled(assets, cases, judged, splits)
    records = make_records(
        assets.kb, cases, outcomes, [own[: settings.keep] for own in judged.candidates],
        settings.with_text,
    )  # fmt: skip
    report = {
        "format": FORMAT,
        "schema": SCHEMA,
        "protocol": settings.protocol,
        "ks": list(settings.ks),
        "tiers_used": tiers,
        **compute_metrics(outcomes, settings.ks),
        "mismatches": len(gold.mismatches),
        "identified": sum(bool(own) and is_identified(own[0].scores) for own in judged.candidates),
        "gold": _describe_gold(gold, every, cases),
        "splits": bench.splits(outcomes),
        "kb": describe_kb(assets.kb),
        "speed": _speed(judged),
    }
    if settings.baselines:
        made, left_out = make_baselines(assets, engines, settings, progress)
        report["baselines"] = {name: bench.measure_baseline(one) for name, one in made.items()}
        report["left_out"] = left_out
    for name, ranker in peers.items():
        report.setdefault("baselines", {})[name] = bench.measure_baseline(Baseline(name, ranker))
    if settings.each_tier:
        every_tier = settings.tiers or assets.tiers
        report["tiers"] = {tier: bench.measure_tier(tier) for tier in every_tier}
        report["tiers"]["fused"] = bench.totals(judged, tiers)
    report["manifest"] = describe_run(assets, gold, settings)
    report["concepts"] = describe_concepts(assets.kb, records)
    report["mentions"] = pack(records)
    return report


def _chosen(assets: Assets, settings: Settings) -> list[str]:
    for tier in settings.tiers:
        if tier not in assets.tiers:
            built = ", ".join(assets.tiers)
            raise Errors.tier_not_built(path=assets.path, tier=tier, built=built)
    return [tier for tier in TIERS if tier in (settings.tiers or assets.used_tiers)]


def _counts(case: Case, settings: Settings) -> bool:
    return bool(case.right or not case.gold.ids or not settings.only_known)


def _labelled(
    assets: Assets, cases: Sequence[Case], judged: Judged, splits: Splits
) -> list[Outcome]:
    labeller = Labeller(assets.kb, splits.seen)
    labels = useful([labeller.labels(case) for case in cases])
    outcomes = with_rollup(assets.kb, cases, judged.outcomes, judged.candidates)
    return [outcome._replace(labels=own) for outcome, own in zip(outcomes, labels, strict=True)]


def _describe_gold(gold: GoldSet, every: Sequence[Case], cases: Sequence[Case]) -> Metrics:
    """Count what the gold file holds, and how its ids were found in the knowledge base."""
    return {
        "documents": len(gold.documents),
        "mentions": len(every),
        "nil": sum(not case.gold.ids for case in every),
        "not_in_kb": sum(bool(case.gold.ids) and not case.right for case in every),
        "left_out": len(every) - len(cases),
        "composites": sum(len(case.parts) > 1 for case in every),
        "ids": gold.ways(),
        "repeated_documents": len(gold.repeated),
    }


class _Bench:
    """Judges any number of systems on the same cases and splits."""

    def __init__(
        self,
        assets: Assets,
        engines: Engines,
        cases: Sequence[Case],
        splits: Splits,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self._assets, self._engines, self._cases, self._splits = assets, engines, cases, splits
        self._settings, self._progress = settings, progress

    def judge_tiers(self, tiers: list[str], **settings: Any) -> Judged:
        engine = self._engines.make(tiers, **settings)
        engine.search([_WARM_UP])  # so that loading and first-time costs stay out of the speed
        retriever = (
            None
            if engine.rescorer is None
            else self._engines.make(tiers, rescorer=None, **settings)
        )
        threshold = self._settings.threshold
        return self._judge(engine, " + ".join(tiers), threshold, self._settings.keep, retriever)

    def measure_tier(self, tier: str) -> Metrics:
        # What a document says or corrections do is no merit of a tier.
        alone = self.judge_tiers([tier], memory=False, identifiers_of=None)
        return self.totals(alone, [tier])

    def measure_baseline(self, baseline: Baseline) -> Metrics:
        judged = self._judge(baseline.ranker, baseline.name)
        return {
            **compute_totals(judged.outcomes, self._settings.ks),
            "splits": self.splits(judged.outcomes),
            "speed": _speed(judged),
        }

    def totals(self, judged: Judged, tiers: Iterable[str]) -> Metrics:
        return {
            **compute_totals(judged.outcomes, self._settings.ks),
            "splits": self.splits(judged.outcomes),
            "speed": _speed(judged),
            "bytes": _size(self._assets, tiers),
        }

    def splits(self, outcomes: Sequence[Outcome]) -> Metrics:
        return {
            name: compute_totals(_kept(outcomes, flags), self._settings.ks)
            for name, flags in self._splits.keep.items()
        }

    def _judge(
        self,
        ranker: Ranker,
        what: str,
        threshold: float | None = 0.0,
        keep: int = 1,
        retriever: Ranker | None = None,
    ) -> Judged:
        return judge(
            ranker, self._assets.kb, self._cases, depth=max(self._settings.ks),
            protocol=self._settings.protocol, threshold=threshold, keep=max(1, keep),
            retriever=retriever, progress=self._progress, what=what,
        )  # fmt: skip


def _speed(judged: Judged) -> Metrics:
    return speed(len(judged.outcomes), "mentions", judged.seconds)


def _size(assets: Assets, tiers: Iterable[str]) -> int:
    """Add up the files of tiers, in bytes: the encoder belongs to the dense tier."""
    places = {"exact": ("exact/",), "ngram": ("ngram/",), "dense": ("dense.faiss", "encoder/")}
    starts = tuple(start for tier in tiers for start in places[tier])
    files = assets.manifest["files"]
    return sum(entry["size"] for name, entry in files.items() if name.startswith(starts))


def _kept(outcomes: Sequence[Outcome], flags: Sequence[bool]) -> list[Outcome]:
    return [outcome for outcome, flag in zip(outcomes, flags, strict=True) if flag]
