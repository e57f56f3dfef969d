"""Calibrate assets: fit a calibrator to a linker, choose its threshold, store both.

Gold mentions give the best calibrator. Without any, names of the knowledge base replace them, as in
every build. The shares of the kinds of such examples are constants, because nobody knows what text
will be linked. The shares and `PROBABLE` were chosen on the training
parts of the NCBI disease corpus and BC5CDR over MEDIC (docs/calibration.md has the method and the
results).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..assets import Assets
from ..assets.layout import CALIBRATOR
from ..assets.manifest import ASSETS
from ..assets.variant import write_variant
from ..errors import Errors, MedlinkError, Warnings
from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.calibrator import KINDS
from ..linking.conditions import difference
from ..linking.facts import name_facts
from ..linking.linear import Floats
from ..linking.ranker import with_facts
from ..text.normalisation import hash_key
from ..types import Progress
from ..util.files import sha256_of
from ..util.outputs import check_output
from ..util.progress import no_progress
from ..util.telling import tell
from .calibrator import PROBABLE, Fitted, Point, at_threshold, best_threshold, fit
from .examples import (
    DEPTH,
    NIL_SHARE,
    Example,
    RankedExamples,
    count_concepts,
    examples_of,
    gold_examples,
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
_ON_NAMES = {"names": "of the knowledge base"}


class Calibrated(NamedTuple):
    """The result of a calibration.

    assets (Assets): with the calibrator. chosen (Point): the linker's threshold.
    curve (List[Point]): a point for each threshold, the highest first.
    fitted (Fitted): the calibrator, and its examples.
    """

    assets: Assets
    chosen: Point
    curve: list[Point]
    fitted: Fitted

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the calibrator for the manifest."""
        return dict(self.assets.manifest["calibrator"])


def calibrate_assets(
    assets: Assets,
    out: str | Path,
    dev: str | Path | None = None,
    *,
    train: str | Path | None = None,
    target_precision: float = TARGET_PRECISION,
    nil_share: float = NIL_SHARE,
    progress: Progress = no_progress,
    overwrite: bool = False,
) -> Calibrated:
    """Fit a calibrator to the default linker of assets.

    out (Path): directory to write, which may be that of the assets: they are replaced when all is
        done. dev (Optional[Path]): gold mentions that nothing else was fitted to.
    train (Optional[Path]): gold mentions that memory, names and ranker were fitted to, but not the
        encoder: each fold of the documents is ranked as if it had not been annotated. Without
        either file, names of the knowledge base replace mentions.
    target_precision (float): of the links above the threshold, less its standard error.
    nil_share (float): share of the concepts whose mentions are ranked without them, 0..1.
    overwrite (bool): lose what `out` holds besides assets.
    RAISES (MedlinkError): E107 and E4xx for the gold file, E413 too few mentions, E109 the disk,
        E302 for both files.
    """
    check_output(out, ASSETS, [dev, train], improves=assets.path, overwrite=overwrite)
    if dev is not None and train is not None:
        rule = "only one file can be calibrated on, and train is given, too"
        raise Errors.bad_setting(name="dev", value=str(dev), rule=rule)
    engine, gold = assets.engine(calibrator=False), dev or train
    if gold is None:
        found = _on_names(assets, engine, nil_share, progress)
    else:
        found = _on_gold(assets, engine, dev, train, nil_share, progress)
    curve = found.fitted.curve
    chosen = _choose(curve, found.fitted, target_precision)
    fitted = found.fitted.at(chosen.threshold)
    chosen = chosen._replace(threshold=fitted.calibrator.threshold)
    file = {"file": Path(gold).name, "sha256": sha256_of(Path(gold))} if gold is not None else None
    fitted_for, before = assets.conditions(engine), assets.calibrator
    if before is not None and difference(before.fitted_for, fitted_for):
        before = None  # no linker used it
    facts = {
        **fitted.facts(chosen, before),
        "target_precision": target_precision,
        "nil_share": nil_share,
        "fitted_on": file or _ON_NAMES,
        "as_if_unannotated": train is not None,
        "mentions": found.mentions,
        "concepts": found.concepts,
    }
    made = _write(assets, Path(out), fitted, fitted_for, facts, [dev, train], overwrite)
    return Calibrated(made, chosen, curve, fitted)


class FittedOnNames(NamedTuple):
    """A calibrator that was fitted to names. counts (Dict[str, int]): examples of each kind."""

    fitted: Fitted
    counts: dict[str, int]

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the calibrator for the manifest, with the threshold of a build."""
        return {
            **self.fitted.facts(at_threshold(self.fitted.curve, PROBABLE)),
            "fitted_on": _ON_NAMES,
            "as_if_unannotated": False,
            "examples": self.counts,
        }


def calibrate_on_names(
    assets: Assets,
    out: str | Path,
    progress: Progress = no_progress,
    sample: int = SAMPLE,
) -> Assets:
    """Write assets with the calibrator and the threshold of a build.

    out (Path): directory to write, which may be that of the assets. sample (int): concepts that
        give a name.
    RAISES (MedlinkError): E109 the disk.
    """
    engine = assets.engine(calibrator=False)
    found = fit_on_names(RetrievedExamples.of(engine, assets.kb, progress, sample), assets.kb)
    if found is None:
        return write_variant(assets, Path(out), {"calibrator": None}, without=[CALIBRATOR])
    return _write(assets, Path(out), found.fitted, assets.conditions(engine), found.facts)


def fit_on_names(
    retrieved: RetrievedExamples, kb: KnowledgeBase, nil_share: float = NIL_SHARE
) -> FittedOnNames | None:
    """Fit a calibrator to the rankings of examples made of names.

    retrieved (RetrievedExamples): with the linker to calibrate, in its final state.
    nil_share (float): share of the examples whose concept is missing.
    RETURNS (Optional[FittedOnNames]): None for a knowledge base without a name.
    """
    shares = {kind: share for kind, share in {**SHARES, UNKNOWN: nil_share}.items() if share}
    examples = retrieved.of_kinds(shares)
    if not examples:
        return None
    ranked = RankedExamples.of(
        retrieved.rank(examples, DEPTH),
        [one.right for one in examples],
        _weights(examples, shares),
        [_group(one) for one in examples],
        name_facts(kb, retrieved.engine.name_concept),
    )
    if not len(ranked.right):
        return None
    counts = Counter(one.kind for one in examples)
    kinds = {kind: counts[kind] for kind in SHARES if counts[kind]}
    return FittedOnNames(fit(ranked, on_names=True).at(PROBABLE), kinds)


def is_remembered(assets: Assets, gold: str | Path) -> bool:
    """Tell whether the memory of corrections was learned from a gold file."""
    memory = assets.manifest.get("memory")
    if memory is None:
        return False
    own = sha256_of(Path(gold))
    return any(source["sha256"] == own for source in memory["sources"])


def _write(
    assets: Assets,
    out: Path,
    fitted: Fitted,
    fitted_for: Mapping[str, Any],
    facts: dict[str, Any],
    inputs: Sequence[str | Path | None] = (),
    overwrite: bool = False,
) -> Assets:
    calibrator = fitted.calibrator.fitting(fitted_for)
    return write_variant(
        assets,
        out,
        {"calibrator": facts},
        without=[CALIBRATOR],
        add=lambda path: calibrator.save(path / CALIBRATOR),
        inputs=inputs,
        overwrite=overwrite,
    )


class _Found(NamedTuple):
    """A calibrator, and how many mentions of how many concepts it was fitted to."""

    fitted: Fitted
    mentions: int
    concepts: int


def _on_names(assets: Assets, engine: Linker, nil_share: float, progress: Progress) -> _Found:
    retrieved = RetrievedExamples.of(engine, assets.kb, progress)
    drawn = len(retrieved.of_kinds([VERBATIM]))
    if drawn < _NEEDED_MENTIONS:
        raise _too_few(assets.kb.path, drawn, drawn)
    found = fit_on_names(retrieved, assets.kb, nil_share)
    assert found is not None
    return _Found(found.fitted, sum(found.counts.values()), drawn)


def _on_gold(
    assets: Assets,
    engine: Linker,
    dev: str | Path | None,
    train: str | Path | None,
    nil_share: float,
    progress: Progress,
) -> _Found:
    # Without a reranker that reads the context, equal mentions are ranked once.
    in_context = engine.parts.rescorer is not None and engine.parts.rescorer.reads_context
    if train is not None:
        examples, ranked = _rank_folds(assets, Path(train), in_context, nil_share, progress)
    else:
        assert dev is not None
        examples = gold_examples(dev, assets.kb, in_context)
        if is_remembered(assets, dev):
            tell(Warnings.calibrated_on_memory.format(path=dev))
        ranked = rank_examples(engine, assets.kb, examples, nil_share, progress)
    mentions, concepts = sum(one.count for one in examples), count_concepts(examples)
    if min(mentions, len(ranked.right)) < _NEEDED_MENTIONS or concepts < _NEEDED_CONCEPTS:
        raise _too_few(dev or train, mentions, concepts)
    # In text there are few slips of the pen, and names can have any number of them.
    names = fit_on_names(RetrievedExamples.of(engine, assets.kb, progress), assets.kb)
    of_slips = names.fitted.calibrator.misspelt if names is not None else None
    return _Found(fit(ranked, of_slips=of_slips), mentions, concepts)


def _rank_folds(
    assets: Assets, train: Path, in_context: bool, nil_share: float, progress: Progress
) -> tuple[list[Example], RankedExamples]:
    """Rank the mentions of each fold of documents as if these had not been annotated."""
    examples, parts = list[Example](), list[RankedExamples]()
    for fold in folds(assets, train, progress):
        engine = fold.engine(assets)
        engine = engine.with_parts(rescorer=with_facts(engine.parts.rescorer, fold.facts))
        own = examples_of(fold.cases, in_context)
        parts.append(rank_examples(engine, assets.kb, own, nil_share, gone=fold.gone))
        examples += own
    return examples, RankedExamples.together(parts)


def _too_few(source: str | Path | None, mentions: int, concepts: int) -> MedlinkError:
    return Errors.too_few_examples(
        source=source, mentions=mentions, concepts=concepts,
        needed=_NEEDED_MENTIONS, needed_concepts=_NEEDED_CONCEPTS,
    )  # fmt: skip


def _choose(curve: Sequence[Point], fitted: Fitted, target: float) -> Point:
    """Choose the threshold that links most at a precision, but none that would make names NIL.

    Where none has the precision, the one that links most is chosen of those that are as precise as
    the best one within its error.
    """
    names = float(fitted.at_most[KINDS.index("name")])
    allowed = [one for one in curve if one.threshold <= names] or curve[-1:]
    best = max(one.precision - one.error for one in allowed)
    chosen = best_threshold(allowed, min(target, best))
    assert chosen is not None
    return chosen


def _weights(examples: Sequence[NameExample], stated: Mapping[str, float]) -> Floats:
    """Weigh examples so that the kinds have their shares; the weights sum to their number.

    The share of a kind without examples goes to the others.
    """
    counts = Counter(one.kind for one in examples)
    shares = {kind: stated[kind] for kind in counts}
    every = len(examples) / sum(shares.values())
    return np.asarray([every * shares[one.kind] / counts[one.kind] for one in examples])


def _group(example: NameExample) -> int:
    """Get the group of an example: its concept, or its own text for a phrase of nothing."""
    return example.concept if example.concept >= 0 else hash_key(example.text) >> 1
