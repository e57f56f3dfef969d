"""calibrate_assets: fits the calibrator of a linker, chooses its threshold, stores both."""

from pathlib import Path
from typing import Any, NamedTuple

from ..assets import CALIBRATOR, Assets
from ..calibration import Point, Trials, best_threshold, fit, points
from ..calibration.quality import calibration_error
from ..calibration.trials import Floats
from ..errors import Errors
from ..files import sha256_of
from ..progress import no_progress
from ..types import Progress
from .questions import count_concepts, gold_questions, name_questions
from .removal import NIL_SHARE, ask
from .variant import write_variant

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
    target_precision: float = TARGET_PRECISION,
    nil_share: float = NIL_SHARE,
    progress: Progress = no_progress,
) -> Calibrated:
    """Fit a calibrator to a linker as its assets make it by default.

    out (Path): directory to write, which may be that of the assets: they are replaced when all is
        done. dev (Optional[Path]): gold mentions; None takes names of the knowledge base.
    target_precision (float): of the links above the threshold to choose, its standard error off.
    nil_share (float): share of the concepts whose mentions are asked without them, 0..1.
    RAISES (MedlinkError): E107 and E4xx for the gold file, E413 too few mentions, E414 for a
        precision that no threshold gives, E109 the disk.
    """
    kb, engine = assets.kb, assets.engine(calibrator=False)
    # Without their context equal mentions are asked once.
    in_context = getattr(engine.rescorer, "reads_context", engine.rescorer is not None)
    questions = name_questions(kb) if dev is None else gold_questions(dev, kb, in_context)
    asked = ask(engine, kb, questions, nil_share, progress)
    mentions, concepts = sum(one.count for one in questions), count_concepts(questions)
    trials = asked.trials
    if min(mentions, len(trials.right)) < _NEEDED_MENTIONS or concepts < _NEEDED_CONCEPTS:
        raise Errors.too_few_trials(
            source=kb.path if dev is None else dev, trials=mentions, concepts=concepts,
            needed=_NEEDED_MENTIONS, needed_concepts=_NEEDED_CONCEPTS,
        )  # fmt: skip
    fitted = fit(trials)
    curve = points(fitted.probs, trials, asked.unanswered)
    chosen = best_threshold(curve, target_precision)
    if chosen is None:
        best = max(one.precision - one.error for one in curve)
        raise Errors.no_threshold(target=target_precision, best=f"{best:.3f}")
    error = calibration_error(fitted.probs, trials.right, trials.weights)
    facts = {
        "kind": fitted.calibrator.kind,
        "threshold": chosen.threshold,
        "target_precision": target_precision,
        "expected": {
            name: round(value, _DIGITS)
            for name, value in chosen._asdict().items() if name != "threshold"
        },
        "calibration_error": round(error, _DIGITS),
        "log_loss": {kind: round(loss, _DIGITS) for kind, loss in fitted.losses.items()},
        "nil_share": nil_share,
        "fitted_on": _describe(dev),
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
    )
    return Calibrated(made, chosen, curve, trials, fitted.probs)


def _describe(dev: str | Path | None) -> dict[str, str]:
    if dev is None:
        return {"names": "of the knowledge base"}
    return {"file": Path(dev).name, "sha256": sha256_of(Path(dev))}
