"""calibrate_assets: fits the calibrator of a linker, chooses its threshold, stores both."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..assets import Assets
from ..assets.assets import CALIBRATOR
from ..assets.manifest import ASSETS
from ..assets.variant import write_variant
from ..errors import Errors, MedlinkError, Warnings
from ..linking import Linker
from ..ranking.calibrator import STRATA, RankingCalibrator
from ..ranking.ranker import with_facts
from ..types import Progress
from ..util.files import sha256_of
from ..util.outputs import check_output
from ..util.progress import no_progress
from ..util.telling import tell
from .calibrator import Fitted, fit
from .examples import Example, count_concepts, examples_of, gold_examples
from .lookups import NameLookups
from .name_calibration import fit_on_names
from .name_examples import VERBATIM
from .quality import calibration_error
from .removal import NIL_SHARE, Asked, ask
from .thresholds import Point, best_threshold, points
from .trials import Floats, Trials
from .unannotated import folds

TARGET_PRECISION = 0.95
# What can be told apart from chance at all.
_NEEDED_MENTIONS, _NEEDED_CONCEPTS = 50, 20
_DIGITS = 4


class Calibrated(NamedTuple):
    """What came of it.

    assets (Assets): with the calibrator. chosen (Point): the threshold that the linker takes.
    curve (List[Point]): what thresholds give, the highest first.
    trials (Trials): what it was fitted on. probs (Floats): by models that had not seen them, (n,).
    """

    assets: Assets
    chosen: Point
    curve: list[Point]
    trials: Trials
    probs: Floats

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of the calibrator."""
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
    """Fit a calibrator to a linker as its assets make it by default.

    out (Path): directory to write, which may be that of the assets: they are replaced when all is
        done. dev (Optional[Path]): gold mentions that nothing else learned from.
    train (Optional[Path]): gold mentions that memory, names and ranker learned from, too, but not
        the encoder: each fifth of the documents is asked as if it had not been annotated. Without
        either, names of the knowledge base play the mentions.
    target_precision (float): of the links above the threshold to choose, its standard error off.
    nil_share (float): share of the concepts whose mentions are asked without them, 0..1.
    overwrite (bool): lose what `out` holds besides assets.
    RAISES (MedlinkError): E107 and E4xx for the gold file, E413 too few mentions, E414 for a
        precision that no threshold gives, E109 the disk, E302 for both files.
    """
    check_output(out, ASSETS, [dev, train], improves=assets.path, overwrite=overwrite)
    if dev is not None and train is not None:
        rule = "only one file can be calibrated on, and train is given, too"
        raise Errors.bad_setting(name="dev", value=str(dev), rule=rule)
    engine, gold = assets.engine(calibrator=False), dev or train
    if gold is None:
        asked = _ask_names(assets, engine, nil_share, progress)
    else:
        asked = _ask_gold(assets, engine, dev, train, nil_share, progress)
    trials, fitted, curve = asked.trials, asked.fitted, asked.curve
    mentions, concepts = asked.mentions, asked.concepts
    chosen = _choose(curve, fitted.calibrator, target_precision)
    error = calibration_error(fitted.probs, trials.right, trials.weights)
    facts = {
        "kind": fitted.calibrator.kind,
        "threshold": chosen.threshold,
        "target_precision": target_precision,
        "expected": {
            name: round(value, _DIGITS)
            for name, value in chosen._asdict().items() if name != "threshold"
        },
        "rates": {k: round(rate, _DIGITS) for k, rate in (fitted.calibrator.rates or {}).items()},
        "calibration_error": round(error, _DIGITS),
        "log_loss": {kind: round(loss, _DIGITS) for kind, loss in fitted.losses.items()},
        "nil_share": nil_share,
        "fitted_on": _describe(gold),
        "as_if_unannotated": train is not None,
        "mentions": mentions,
        "concepts": concepts,
    }  # fmt: skip
    calibrator = fitted.calibrator.fitting(assets.conditions(engine))
    made = write_variant(
        assets,
        Path(out),
        {"calibrator": facts},
        without=[CALIBRATOR],
        add=lambda path: calibrator.save(path / CALIBRATOR),
        inputs=[dev, train],
        overwrite=overwrite,
    )
    return Calibrated(made, chosen, curve, trials, fitted.probs)


class _Fitted(NamedTuple):
    """What was asked, and the calibrator that was fitted to the answers."""

    trials: Trials
    fitted: Fitted
    curve: list[Point]
    mentions: int
    concepts: int


def _ask_names(assets: Assets, engine: Linker, nil_share: float, progress: Progress) -> _Fitted:
    kb = assets.kb
    names = NameLookups.of(engine, kb, progress)
    drawn = len(names.of_kinds([VERBATIM]))
    if drawn < _NEEDED_MENTIONS:
        raise _too_few(kb.path, drawn, drawn)
    found = fit_on_names(names, kb, nil_share)
    assert found is not None
    curve = points(found.fitted.probs, found.trials, found.unanswered)
    return _Fitted(found.trials, found.fitted, curve, sum(found.counts.values()), drawn)


def _ask_gold(
    assets: Assets,
    engine: Linker,
    dev: str | Path | None,
    train: str | Path | None,
    nil_share: float,
    progress: Progress,
) -> _Fitted:
    # Without their context equal mentions are asked once.
    in_context = engine.rescorer is not None and engine.rescorer.reads_context
    if train is not None:
        examples, asked = _ask_folds(assets, Path(train), in_context, nil_share, progress)
    else:
        assert dev is not None
        examples = gold_examples(dev, assets.kb, in_context)
        if is_remembered(assets, dev):
            tell(Warnings.calibrated_on_memory.format(path=dev))
        asked = ask(engine, assets.kb, examples, nil_share, progress) if examples else None
    mentions, concepts = sum(one.count for one in examples), count_concepts(examples)
    answered = 0 if asked is None else len(asked.trials.right)
    if asked is None or min(mentions, answered) < _NEEDED_MENTIONS or concepts < _NEEDED_CONCEPTS:
        raise _too_few(dev or train, mentions, concepts)
    fitted = fit(asked.trials)
    curve = points(fitted.probs, asked.trials, asked.unanswered)
    return _Fitted(asked.trials, fitted, curve, mentions, concepts)


def _too_few(source: str | Path | None, mentions: int, concepts: int) -> MedlinkError:
    return Errors.too_few_trials(
        source=source, trials=mentions, concepts=concepts,
        needed=_NEEDED_MENTIONS, needed_concepts=_NEEDED_CONCEPTS,
    )  # fmt: skip


def _choose(curve: Sequence[Point], calibrator: RankingCalibrator, target: float) -> Point:
    """Choose the threshold that links most at a precision.

    One above the rate of names that are the mention would leave these out, and link only what is
    surer by chance: it is taken where no other threshold has the precision.

    RAISES (MedlinkError): E414 where none has.
    """
    rate = (calibrator.rates or {}).get(STRATA[1], 1.0)
    lower = [one for one in curve if one.threshold <= rate]
    chosen = best_threshold(lower, target) or best_threshold(curve, target)
    if chosen is None:
        best = max(one.precision - one.error for one in curve)
        raise Errors.no_threshold(target=target, best=f"{best:.3f}")
    return chosen


def _ask_folds(
    assets: Assets, train: Path, in_context: bool, nil_share: float, progress: Progress
) -> tuple[list[Example], Asked | None]:
    """Ask the mentions of each fold of documents as if these had not been annotated."""
    examples, parts = list[Example](), list[Asked]()
    for fold in folds(assets, train, progress):
        engine = fold.engine(assets)
        engine = engine.with_parts(rescorer=with_facts(engine.rescorer, fold.facts))
        own = examples_of(fold.cases, in_context)
        if own:
            parts.append(ask(engine, assets.kb, own, nil_share, gone=fold.gone))
            examples += own
    return examples, Asked.together(parts) if parts else None


def is_remembered(assets: Assets, gold: str | Path) -> bool:
    """Tell whether the memory of corrections learned from a gold file."""
    memory = assets.manifest.get("memory")
    if memory is None:
        return False
    own = sha256_of(Path(gold))
    return any(source["sha256"] == own for source in memory["sources"])


def _describe(dev: str | Path | None) -> dict[str, str]:
    if dev is None:
        return {"names": "of the knowledge base"}
    return {"file": Path(dev).name, "sha256": sha256_of(Path(dev))}
