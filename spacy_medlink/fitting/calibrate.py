"""Fits a calibrator to a linker, and chooses its threshold.

Gold mentions give the best calibrator. Without any, names of the knowledge base replace them, as in
every build. The shares of the kinds of such examples are constants, because nobody knows what text
will be linked. The shares and `PROBABLE` were chosen on the training
parts of the NCBI disease corpus and BC5CDR over MEDIC (docs/calibration.md has the method and the
results).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import Errors
from ..evaluation.gold_set import GoldSet
from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.asset_parts import AssetParts
from ..linking.calibrator import KINDS, RankingCalibrator, with_shared
from ..linking.facts import NameFacts, name_facts
from ..linking.linear import Floats, difference
from ..text.normalisation import hash_key, key
from ..types import Candidate, Data, Facts, Progress
from ..util.progress import no_progress
from .calibrator import PROBABLE, Fitted, Point, at_threshold, best_threshold, fit
from .examples import (
    DEPTH,
    NIL_SHARE,
    Example,
    RankedExamples,
    count_concepts,
    examples_of,
    rank_examples,
)
from .folds import folds
from .name_examples import (
    BROADER,
    MUTATED,
    NARROWER,
    NOTHING,
    SAMPLE,
    SLIP,
    SYNONYM,
    TRANSLATED,
    UNKNOWN,
    VERBATIM,
    NameExample,
)
from .retrieved import RetrievedExamples

TARGET_PRECISION = 0.95
# Half of the mentions in text are verbatim names. Of the others, the knowledge base lacks four in
# ten, and most differ from their names as much as the names of a concept differ from one another.
SHARES = {
    VERBATIM: 0.42, SYNONYM: 0.12, TRANSLATED: 0.02, MUTATED: 0.07, SLIP: 0.07, NARROWER: 0.04,
    BROADER: 0.04, UNKNOWN: NIL_SHARE, NOTHING: 0.02,
}  # fmt: skip
# The least mentions and concepts from which a calibrator can be fitted.
_NEEDED_MENTIONS, _NEEDED_CONCEPTS = 50, 20


class CalibratorFit(NamedTuple):
    """A calibrator that was fitted, with its threshold.

    calibrator (RankingCalibrator): ready for use. entry (Dict[str, Any]): for the manifest.
    fitted (Fitted): its examples, and the results of thresholds.
    """

    calibrator: RankingCalibrator
    entry: Data
    fitted: Fitted


def fit_on_gold(
    assets: AssetParts,
    gold: GoldSet,
    *,
    as_if_unannotated: bool = False,
    target_precision: float = TARGET_PRECISION,
    progress: Progress = no_progress,
) -> CalibratorFit:
    """Fit a calibrator to the default linker of assets, on annotated text.

    gold (GoldSet): mentions that the encoder was not trained on. as_if_unannotated (bool): memory,
        names or ranker were fitted to them: each fold of the documents is ranked as if it had not
        been annotated.
    target_precision (float): of the links above the threshold, less its standard error.
    RAISES (MedlinkError): E530 too few mentions.
    """
    engine = assets.engine(calibrator=False)
    fitted, mentions, concepts = _on_gold(assets, engine, gold, as_if_unannotated, progress)
    chosen = _choose(fitted.curve, fitted, target_precision)
    fitted = fitted.at(chosen.threshold)
    chosen = chosen._replace(threshold=fitted.calibrator.threshold)
    fitted_for, before = assets.conditions(engine), assets.calibrator
    if before is not None and difference(before.fitted_for, fitted_for):
        before = None  # no linker used it
    entry = {
        **fitted.facts(chosen, before),
        "target_precision": target_precision,
        "nil_share": NIL_SHARE,
        "fitted_on": {"file": gold.path.name, "sha256": gold.sha256},
        "as_if_unannotated": as_if_unannotated,
        "mentions": mentions,
        "concepts": concepts,
    }
    return _fit(fitted, entry, fitted_for, name_facts(assets.kb, engine.name_concept))


def fit_on_names(
    retrieved: RetrievedExamples,
    kb: KnowledgeBase,
    fitted_for: Facts | None = None,
) -> CalibratorFit | None:
    """Fit a calibrator to the rankings of examples made of names, with the threshold of a build.

    retrieved (RetrievedExamples): with the linker to calibrate, in its final state.
    fitted_for (Mapping): what that linker's scores depend on (`conditions`).
    RETURNS (Optional[CalibratorFit]): None for a knowledge base without a name.
    """
    examples = retrieved.of_kinds(SHARES)
    if not examples:
        return None
    facts_of_names = name_facts(kb, retrieved.engine.name_concept)
    rankings = retrieved.rank(examples, DEPTH)
    ranked = RankedExamples.of(
        rankings,
        [example.right for example in examples],
        _weights(examples),
        [_group(example) for example in examples],
        facts_of_names,
    )
    if not len(ranked.right):
        return None
    found = [(it, ranking[0]) for it, ranking in zip(examples, rankings, strict=True) if ranking]
    shared = [_is_shared(kb, example, best) for example, best in found]
    ranked = ranked._replace(features=with_shared(ranked.features, np.asarray(shared)))
    counts = Counter(example.kind for example in examples)
    fitted = fit(ranked, on_names=True).at(PROBABLE)
    entry = {
        **fitted.facts(at_threshold(fitted.curve, PROBABLE)),
        "fitted_on": {"names": "of the knowledge base"},
        "as_if_unannotated": False,
        "examples": {kind: counts[kind] for kind in SHARES if counts[kind]},
    }
    return _fit(fitted, entry, fitted_for or {}, facts_of_names)


def fit_on_names_of(
    assets: AssetParts, progress: Progress = no_progress, sample: int = SAMPLE
) -> CalibratorFit | None:
    """Fit a calibrator to the default linker of assets, on names.

    sample (int): concepts that give a name.
    RETURNS (Optional[CalibratorFit]): None for a knowledge base without a name.
    """
    engine = assets.engine(calibrator=False)
    retrieved = RetrievedExamples.of(engine, assets.kb, progress, sample)
    return fit_on_names(retrieved, assets.kb, assets.conditions(engine))


def is_remembered(assets: AssetParts, gold: GoldSet) -> bool:
    """Tell whether the memory of corrections was learned from a gold file."""
    memory = assets.manifest.get("memory")
    if memory is None:
        return False
    return any(source["sha256"] == gold.sha256 for source in memory["sources"])


def _fit(
    fitted: Fitted, entry: Data, fitted_for: Facts, facts_of_names: NameFacts
) -> CalibratorFit:
    ready = replace(fitted.calibrator, fitted_for=dict(fitted_for), facts=facts_of_names)
    return CalibratorFit(ready, entry, fitted)


def _on_gold(
    assets: AssetParts,
    engine: Linker,
    gold: GoldSet,
    as_if_unannotated: bool,
    progress: Progress,
) -> tuple[Fitted, int, int]:
    """Fit to gold. RETURNS: what was fitted, and to how many mentions of how many concepts."""
    # Without a reranker that reads the context, equal mentions are ranked once.
    in_context = engine.parts.rescorer is not None and engine.parts.rescorer.reads_context
    if as_if_unannotated:
        examples, ranked = _rank_folds(assets, gold, in_context, progress)
    else:
        examples = examples_of(gold.cases(), in_context)
        ranked = rank_examples(engine, assets.kb, examples, progress)
    mentions, concepts = sum(example.count for example in examples), count_concepts(examples)
    if min(mentions, len(ranked.right)) < _NEEDED_MENTIONS or concepts < _NEEDED_CONCEPTS:
        raise Errors.too_few_rows(
            path=gold.path,
            found=f"{mentions} mentions of {concepts}",
            what="concepts to calibrate on",
            wanted=f"{_NEEDED_MENTIONS} of {_NEEDED_CONCEPTS}",
        )
    # In text there are few slips of the pen, and names can have any number of them.
    names = fit_on_names(RetrievedExamples.of(engine, assets.kb, progress), assets.kb)
    of_slips = names.calibrator.misspelt if names is not None else None
    return fit(ranked, of_slips=of_slips), mentions, concepts


def _rank_folds(
    assets: AssetParts, gold: GoldSet, in_context: bool, progress: Progress
) -> tuple[list[Example], RankedExamples]:
    """Rank the mentions of each fold of documents as if these had not been annotated."""
    examples, parts = list[Example](), list[RankedExamples]()
    for fold in folds(assets, gold, progress):
        engine = fold.engine(assets)
        of_fold = examples_of(fold.cases, in_context)
        parts.append(rank_examples(engine, assets.kb, of_fold, gone=fold.gone))
        examples += of_fold
    return examples, RankedExamples.together(parts)


def _choose(curve: Sequence[Point], fitted: Fitted, target: float) -> Point:
    """Choose the threshold that links most at a precision, but none that would make names NIL.

    Where none has the precision, the one that links most is chosen of those that are as precise as
    the best one within its error.
    """
    names = float(fitted.at_most[KINDS.index("name")])
    allowed = [point for point in curve if point.threshold <= names] or curve[-1:]
    best = max(point.precision - point.error for point in allowed)
    chosen = best_threshold(allowed, min(target, best))
    assert chosen is not None
    return chosen


def _is_shared(kb: KnowledgeBase, example: NameExample, best: Candidate) -> bool:
    """Tell whether the name that was found is also one of the concept that gave the example."""
    if example.concept in (-1, best.row):
        return False
    names = kb.concept_at(example.concept).names
    return key(kb.text_at(best.name_row)) in {key(name.text) for name in names}


def _weights(examples: Sequence[NameExample]) -> Floats:
    """Weigh examples so that the kinds have their shares; the weights sum to their number.

    The share of a kind without examples goes to the others.
    """
    counts = Counter(example.kind for example in examples)
    shares = {kind: SHARES[kind] for kind in counts}
    every = len(examples) / sum(shares.values())
    return np.asarray([every * shares[example.kind] / counts[example.kind] for example in examples])


def _group(example: NameExample) -> int:
    """Get the group of an example: its concept, or its own text for a phrase of nothing."""
    return example.concept if example.concept >= 0 else hash_key(example.text) >> 1
