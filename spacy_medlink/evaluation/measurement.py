"""measure: computes the metrics of a linker on gold mentions, as one dict."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import compress
from types import MappingProxyType
from typing import NamedTuple

from ..errors import Errors
from ..kb import KnowledgeBase
from ..linking import Linker, LinkSettings, open_linker
from ..linking.asset_parts import AssetParts
from ..linking.cued import document_without_cues
from ..linking.prepare import Document, bare_mention, prepare
from ..linking.settings import NAMES_PER_TIER
from ..retrieval.tier import EXACT, known_tiers
from ..text.context.cues import shipped_cues
from ..text.identifiers import is_identified
from ..text.lexicon import open_lexicon
from ..types import Candidate, Mention, Progress
from ..util.progress import no_progress
from .gold_set import Case, GoldSet, Prepare
from .judging import Judged, judge
from .labels import labels_of, useful
from .metrics import compute_metrics
from .outcome import Metrics, Outcome, Proposal, pack
from .provenance import describe_kb, describe_run, speed
from .report.metrics_file import FORMAT, SCHEMA
from .rollup import steps_to_gold
from .settings import Settings
from .splits import Splits, make_splits

_DIGITS = 4  # of scores and probabilities of candidates
_WARM_UP = "warm up"
_BASELINES = ("exact", "ngram")  # tiers that need no training, and stand beside every linker
NO_LINKERS: Mapping[str, Linker] = MappingProxyType({})


def measure(
    assets: AssetParts,
    gold: GoldSet,
    settings: Settings,
    progress: Progress = no_progress,
    linker: Linker | None = None,
    discard: Collection[str] = (),
    baselines: Mapping[str, Linker] = NO_LINKERS,
) -> Metrics:
    """Measure how well the mentions of a gold file are linked.

    linker (Optional[Linker]): over the assets, as a pipeline has configured it; default: with the
        default settings and the package's lexicon for the language of each document.
    discard (Collection[str]): labels of mentions that the pipeline ignores.
    baselines (Mapping[str, Linker]): further linkers to measure beside it, by name.

    RETURNS (Metrics): the metrics of `compute_metrics` for the linker; "baselines" with tiers
        alone and the other linkers; "splits" for filtered parts; the conditions: "protocol", "kb",
        "gold", "speed", "manifest"; and "mentions" (read by `outcome.unpack`) with the
        "concepts" that they name.
    RAISES (MedlinkError): E405 for a tier that was not built, E107 and E4xx for training mentions.
    """
    tiers = _chosen(assets, settings, linker)
    preparing = default_preparing(settings) if linker is None else _preparing(linker, settings)
    if linker is None:
        linker = default_linker(assets, tiers, max(settings.ks))
    if settings.threshold is not None:
        linker = linker.using(threshold=settings.threshold)
    every = list(gold.cases(_as_read(preparing, linker), settings.composites == "biosyn"))
    cases = [case for case in every if _counts(case, settings)]
    splits = make_splits(assets.kb, cases, settings)
    bench = _Bench(assets, cases, splits, settings, progress, discard)
    judged = bench.judge(linker, " + ".join(tiers), settings.keep)
    outcomes = _described(assets.kb, cases, judged, splits, settings)
    report = {
        "format": FORMAT,
        "schema": SCHEMA,
        "protocol": settings.protocol,
        "ks": list(settings.ks),
        "tiers_used": tiers,
        **compute_metrics(outcomes, settings.ks),
        "mismatches": len(gold.mismatches),
        "identified": sum(
            bool(candidates) and is_identified(candidates[0].scores)
            for candidates in judged.candidates
        ),
        "gold": _describe_gold(gold, every, cases),
        "splits": bench.of_splits(outcomes),
        "kb": describe_kb(assets.kb),
        "speed": _speed(judged),
        "baselines": bench.baselines(linker, baselines),
        "manifest": describe_run(assets, gold, settings, linker),
    }
    report["concepts"] = _concepts_of(assets.kb, outcomes)
    report["mentions"] = pack(outcomes)
    return report


def default_linker(assets: AssetParts, tiers: Sequence[str], depth: int) -> Linker:
    """Make the linker of assets with the default settings, for the depth of the evaluation.

    depth (int): concepts or names that each ranking must have. Up to half of the names that a tier
        proposes by default, these stay as many, so that acc@1 does not depend on other depths.
    RAISES (MedlinkError): E405 for a tier that was not built.
    """
    settings = LinkSettings(tiers=tiers, names_per_tier=max(NAMES_PER_TIER, 2 * depth))
    return open_linker(assets, settings).using(top_k=max(settings.top_k, depth))


def alone(linker: Linker, tier: str, assets: AssetParts) -> Linker:
    """Make a linker with the settings of another, but only one tier, and nothing that was fitted.

    Identifiers, abbreviations of the document and corrections are left out: they help every tier.
    """
    own = linker.parts.others.get(tier)
    others = None if tier == EXACT else assets.tier(tier) if own is None else own
    asks_vectors = others is not None and others.asks_vectors
    return linker.with_parts(
        exact=assets.exact if tier == EXACT else None,
        others={tier: others} if others is not None else {},
        encoder=(linker.parts.encoder or assets.encoder) if asks_vectors else None,
        fusion=linker.parts.fusion.with_weights({tier: 1.0}),
        memory=None, rescorer=None, calibrator=None, identifiers_of=None,
    )  # fmt: skip


def default_preparing(settings: Settings) -> Prepare:
    """Make the function that prepares documents as a blank pipeline of their language does."""
    lexicon = cache(lambda lang: open_lexicon(settings.lexicon, lang))

    def preparing(document: Document, lang: str) -> list[Mention]:
        abbreviations, identifiers = settings.resolve_abbreviations, settings.resolve_identifiers
        return prepare(document, lexicon(lang), abbreviations, identifiers)

    return preparing


def _preparing(linker: Linker, settings: Settings) -> Prepare:
    configured = linker.settings
    chosen = linker.using(
        resolve_abbreviations=configured.resolve_abbreviations and settings.resolve_abbreviations,
        resolve_identifiers=configured.resolve_identifiers and settings.resolve_identifiers,
    )
    return lambda document, lang: chosen.prepare(document)


def _as_read(preparing: Prepare, linker: Linker) -> Prepare:
    """Read mentions without the cues inside of them, as `pipe` does, before they are prepared."""

    def candidates(texts: list[str]) -> list[list[Candidate]]:
        mentions = [bare_mention(text, "", linker.parts.lexicon) for text in texts]
        return linker.retrieve(mentions, 1, force=True).rankings

    return lambda document, lang: preparing(
        document_without_cues(document, shipped_cues(lang), candidates), lang
    )


def _chosen(assets: AssetParts, settings: Settings, linker: Linker | None) -> list[str]:
    for tier in settings.tiers:
        if tier not in assets.tiers:
            built = ", ".join(assets.tiers)
            raise Errors.tier_not_built(path=assets.path, tier=tier, built=built)
    if linker is not None:
        return linker.parts.tier_names
    return [tier for tier in known_tiers() if tier in (settings.tiers or assets.used_tiers)]


def _counts(case: Case, settings: Settings) -> bool:
    return bool(case.right or not case.gold.ids or not settings.only_known)


def _described(
    kb: KnowledgeBase, cases: Sequence[Case], judged: Judged, splits: Splits, settings: Settings
) -> list[Outcome]:
    """Add to outcomes their place, labels, steps to gold and candidates, and texts if wanted."""

    def proposal(candidate: Candidate) -> Proposal:
        prob = None if candidate.prob is None else round(candidate.prob, _DIGITS)
        matched, score = kb.text_at(candidate.name_row), round(candidate.score, _DIGITS)
        return Proposal(kb.brief_at(candidate.row)[0], matched, score, prob)

    labels = useful([labels_of(kb, case, splits.seen) for case in cases])
    steps = steps_to_gold(kb, cases, judged.candidates)
    outcomes = [
        outcome._replace(
            number=number, labels=labels[number], rollup=steps[number],
            candidates=list(map(proposal, judged.candidates[number][: settings.keep])),
        )
        for number, outcome in enumerate(judged.outcomes)
    ]  # fmt: skip
    if not settings.with_text:
        return outcomes
    return [
        outcome._replace(text=case.gold.text, left=case.mention.left, after=case.mention.right)
        for outcome, case in zip(outcomes, cases, strict=True)
    ]


def _concepts_of(kb: KnowledgeBase, outcomes: Sequence[Outcome]) -> dict[str, list[object]]:
    """Map the ids of concepts in outcomes to [preferred name, types]."""
    proposed = {proposal.id for outcome in outcomes for proposal in outcome.candidates}
    ids = sorted(proposed.union(*(outcome.right for outcome in outcomes)))
    return {id: [concept.name, list(concept.types)] for id in ids if (concept := kb[id])}


def _describe_gold(gold: GoldSet, every: Sequence[Case], cases: Sequence[Case]) -> Metrics:
    """Count the mentions of the gold file, and the ways its ids were found."""
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


class _Bench(NamedTuple):
    """What all linkers are judged on."""

    assets: AssetParts
    cases: Sequence[Case]
    splits: Splits
    settings: Settings
    progress: Progress
    discard: Collection[str]

    def judge(self, linker: Linker, what: str, keep: int = 1, with_lexicon: bool = True) -> Judged:
        # The speed shall not include loading and other first-time costs.
        linker.retrieval.search([_WARM_UP])
        return judge(
            linker, self.assets.kb, self.cases, depth=max(self.settings.ks),
            protocol=self.settings.protocol, keep=max(1, keep), discard=self.discard,
            with_lexicon=with_lexicon, progress=self.progress, what=what,
        )  # fmt: skip

    def baselines(self, linker: Linker, others: Mapping[str, Linker]) -> dict[str, Metrics]:
        """Measure the tiers of a linker alone, and other linkers."""
        settings, built = self.settings, self.assets.tiers
        wanted = [*_BASELINES] if settings.baselines else []
        wanted += (settings.tiers or built) if settings.each_tier else []
        tiers = [tier for tier in known_tiers() if tier in wanted and tier in built]
        linkers = {tier: alone(linker, tier, self.assets) for tier in tiers} | dict(others)
        return {name: self._measure(name, linker) for name, linker in linkers.items()}

    def _measure(self, name: str, linker: Linker) -> Metrics:
        judged = self.judge(linker, name, with_lexicon=False)
        totals = compute_metrics(judged.outcomes, self.settings.ks, with_groups=False)
        return {**totals, "splits": self.of_splits(judged.outcomes), "speed": _speed(judged)}

    def of_splits(self, outcomes: Sequence[Outcome]) -> Metrics:
        return {
            name: compute_metrics(compress(outcomes, flags), self.settings.ks, with_groups=False)
            for name, flags in self.splits.keep.items()
        }


def _speed(judged: Judged) -> Metrics:
    return speed(len(judged.outcomes), "mentions", judged.seconds)
