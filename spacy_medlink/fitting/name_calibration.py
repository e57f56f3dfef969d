"""Calibrating on the names of a knowledge base: what every build does, without any annotated text.

The shares of the kinds of examples are stated, not counted: nobody knows what text will be linked.
They, the rates of what is verbatim a name, and `PROBABLE` were chosen on the training parts of the
NCBI disease corpus and BC5CDR over MEDIC (docs/calibration.md says how, and what they give).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..assets import Assets
from ..assets.assets import CALIBRATOR
from ..assets.variant import write_variant
from ..kb import KnowledgeBase
from ..ranking.calibrator import calibrator_features
from ..ranking.facts import name_facts
from ..text.normalisation import hash_key
from ..types import Candidate, Progress
from ..util.progress import no_progress
from .calibrator import Fitted, fit
from .lookups import NameLookups
from .name_examples import (
    BROADER,
    MUTATED,
    NARROWER,
    NOTHING,
    SAMPLE,
    SYNONYM,
    TRANSLATED,
    UNKNOWN,
    VERBATIM,
    NameExample,
)
from .quality import calibration_error
from .removal import DEPTH, NIL_SHARE
from .strata import rates_of_names
from .thresholds import at_threshold, points
from .trials import Floats, Trials

PROBABLE = 0.75  # a link of a build that knows no annotated text is to be as probable
# Half of the mentions in text are verbatim a name. Of the others the knowledge base lacks four in
# ten, and most differ from the names that it has as these do from one another.
SHARES = {
    VERBATIM: 0.5, SYNONYM: 0.12, TRANSLATED: 0.02, MUTATED: 0.06, NARROWER: 0.04,
    BROADER: 0.04, UNKNOWN: NIL_SHARE, NOTHING: 0.02,
}  # fmt: skip
_DIGITS = 4


class NamesFitted(NamedTuple):
    """A calibrator that was fitted to names.

    fitted (Fitted): the calibrator, and its probabilities for trials that it had not seen.
    trials (Trials): what it was fitted on. unanswered (Tuple[float, float]): see `points`.
    """

    fitted: Fitted
    trials: Trials
    unanswered: tuple[float, float]
    counts: dict[str, int]

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of it, with the threshold of a build."""
        rates = self.fitted.calibrator.rates or {}
        # What a name or a correction vouches for is linked, whatever resembles a name less.
        lowest = min([PROBABLE, *rates.values()])
        threshold = math.floor(lowest * 10**_DIGITS) / 10**_DIGITS
        trials, probs = self.trials, self.fitted.probs
        chosen = at_threshold(points(probs, trials, self.unanswered), threshold)
        expected = {} if chosen is None else chosen._asdict()
        error = calibration_error(probs, trials.right, trials.weights)
        return {
            "kind": self.fitted.calibrator.kind,
            "threshold": threshold,
            "rates": {name: round(rate, _DIGITS) for name, rate in rates.items()},
            "expected": {
                name: round(value, _DIGITS)
                for name, value in expected.items() if name != "threshold"
            },
            "calibration_error": round(error, _DIGITS),
            "log_loss": {k: round(loss, _DIGITS) for k, loss in self.fitted.losses.items()},
            "fitted_on": {"names": "of the knowledge base"},
            "as_if_unannotated": False,
            "examples": self.counts,
        }  # fmt: skip


def fit_on_names(
    names: NameLookups, kb: KnowledgeBase, nil_share: float = NIL_SHARE
) -> NamesFitted | None:
    """Fit a calibrator to what an engine answers to examples made of names.

    names (NameLookups): looked up with the engine that is to be calibrated, as it ranks now.
    nil_share (float): share of the examples whose concept is not there.
    RETURNS (Optional[NamesFitted]): None for a knowledge base without a name.
    """
    shares = {kind: share for kind, share in {**SHARES, UNKNOWN: nil_share}.items() if share}
    examples = names.of_kinds(shares)
    if not examples:
        return None
    rankings = names.rank(examples, DEPTH)
    weights = _weights(examples, shares)
    answered = [place for place, ranking in enumerate(rankings) if ranking]
    left = [place for place, ranking in enumerate(rankings) if not ranking]
    if not answered:
        return None
    own = [(examples[place], rankings[place]) for place in answered]
    facts = name_facts(kb, names.lookups.engine.name_concept)
    trials = Trials(
        calibrator_features([ranking for _, ranking in own], facts),
        np.asarray([_is_right(*one) for one in own], dtype=np.bool_),
        np.asarray([bool(example.right) for example, _ in own], dtype=np.bool_),
        weights[answered],
        np.asarray([_group(example) for example, _ in own], dtype=np.int64),
    )
    unanswered = (
        float(weights[left].sum()),
        float(sum(weights[place] for place in left if examples[place].right)),
    )
    counts = Counter(one.kind for one in examples)
    kinds = {kind: counts[kind] for kind in SHARES if counts[kind]}
    return NamesFitted(fit(trials, rates_of_names), trials, unanswered, kinds)


def calibrate_on_names(
    assets: Assets,
    out: str | Path,
    progress: Progress = no_progress,
    sample: int = SAMPLE,
) -> Assets:
    """Write assets with a calibrator and a threshold as a build fits them.

    out (Path): directory to write, which may be that of the assets. sample (int): concepts that
        give a name.
    RAISES (MedlinkError): E109 the disk.
    """
    engine = assets.engine(calibrator=False)
    found = fit_on_names(NameLookups.of(engine, assets.kb, progress, sample), assets.kb)
    if found is None:
        return write_variant(assets, Path(out), {"calibrator": None}, without=[CALIBRATOR])
    calibrator = found.fitted.calibrator.fitting(assets.conditions(engine))
    return write_variant(
        assets,
        Path(out),
        {"calibrator": found.facts},
        without=[CALIBRATOR],
        add=lambda path: calibrator.save(path / CALIBRATOR),
    )


def _weights(examples: Sequence[NameExample], stated: Mapping[str, float]) -> Floats:
    """Weigh examples so that kinds have their shares, and all together count as many as they are.

    A kind that the knowledge base gives no examples of leaves its share to the others.
    """
    counts = Counter(one.kind for one in examples)
    shares = {kind: stated[kind] for kind in counts}
    every = len(examples) / sum(shares.values())
    return np.asarray([every * shares[one.kind] / counts[one.kind] for one in examples])


def _is_right(example: NameExample, ranking: list[Candidate]) -> bool:
    return ranking[0].row in example.right


def _group(example: NameExample) -> int:
    """Number what stands and falls together: a concept's examples, a phrase of nothing."""
    return example.concept if example.concept >= 0 else hash_key(example.text) >> 1
