"""fit_ranker: learns from annotated text which candidates are right, and keeps it if it helps."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..assets import Assets
from ..assets.assets import CALIBRATOR, ENDINGS_FILE, RANKER_FILE, RERANKER
from ..assets.manifest import ASSETS
from ..assets.variant import left_out, write_variant
from ..errors import Errors
from ..evaluation.intervals import rank_figures, reciprocal, standard_error
from ..evaluation.outcome import first_right
from ..ranking.blending import blend, remembered
from ..ranking.endings import Endings
from ..ranking.linear import Floats, LinearModel
from ..ranking.ranker import RANKER, TOP, WEIGHT, ranker_features, save_ranker, softmax
from ..types import Progress
from ..util.files import sha256_of
from ..util.outputs import check_output
from ..util.progress import no_progress
from .calibrate import calibrate_on_names
from .endings import ending_examples, learn_endings
from .folds import RankedCase, rank_unannotated
from .lists import Lists, fit

_NEEDED = 50  # mentions that tell a right candidate from a wrong one
_ERRORS = 2  # standard errors that the gain must exceed: of a hundred mentions, one says little
_DEPTHS = (1, 5)
_DIGITS = 4


class RankerFitted(NamedTuple):
    """assets (Assets): with the ranker, or without. facts (Dict): figures. kept (bool)."""

    assets: Assets
    facts: dict[str, Any]
    kept: bool


class _Place(NamedTuple):
    """Where to write, what was read for it, and whether what lies there besides may be lost."""

    out: Path
    gold: Path
    overwrite: bool


def fit_ranker(
    assets: Assets,
    out: str | Path,
    gold: str | Path,
    *,
    top: int = TOP,
    calibrate: bool = True,
    progress: Progress = no_progress,
    overwrite: bool = False,
) -> RankerFitted:
    """Fit a ranker to annotated text, and write the assets with it if it beats retrieval.

    Documents are dealt into five folds. A mention is looked up as if no document of its fold had
    been annotated: memory and names that only they gave are taken out. It is judged by a model of
    the other folds, and what it gains must be more than two standard errors, without the loss of
    first places over all. Memorised mentions teach nothing, and keep their place.

    gold (Path): documents that the encoder was not fine-tuned on, or what it knows by heart would
        count for more than it is worth.
    top (int): candidates that are ordered; more of them cost time, and come into higher places.
    calibrate (bool): fit a calibrator to names anew where scores have changed.
    overwrite (bool): lose what `out` holds besides assets.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file, E530 for too few mentions, E109, E302
        for a top below 2, E120-E123 what `out` holds.
    """
    check_output(out, ASSETS, [gold], improves=assets.path, overwrite=overwrite)
    check_top(top)
    every = rank_unannotated(assets, Path(gold), top, progress)
    cases = [one for one in every if one.case.right and not remembered(one.ranking)]
    if not cases:
        raise Errors.too_few_rows(path=gold, found=0, wanted=_NEEDED, what="mentions to rank")
    lists = _lists(cases)
    if (found := int(lists.tells.sum())) < _NEEDED:
        raise Errors.too_few_rows(
            path=gold, found=found, wanted=_NEEDED, what="mentions with a right and a wrong answer"
        )
    fitted = fit(lists)
    before, after = _ranks(cases, None), _ranks(cases, _by_mention(fitted.unseen, lists))
    gain, error = float((after - before).mean()), standard_error(after - before, _texts(cases))
    kept = gain > _ERRORS * error and (after == 1).sum() >= (before == 1).sum()
    facts = {
        "mentions": len(cases),
        "documents": len({one.case.doc for one in cases}),
        "fitted_on": {"file": Path(gold).name, "sha256": sha256_of(Path(gold))},
        "penalty": fitted.penalty,
        "top": top,
        "retrieval": rank_figures(before, _DEPTHS),
        "ranked": rank_figures(after, _DEPTHS),
        "gain": round(gain, _DIGITS),
        "standard_error": round(error, _DIGITS),
    }
    endings = _endings(assets) if kept else None
    facts["endings"] = len(endings.endings) if endings is not None else 0
    place = _Place(Path(out), Path(gold), overwrite)
    made = _write(assets, place, fitted.model, endings, facts, kept)
    if calibrate and made.manifest.get("calibrator") is None:
        made = calibrate_on_names(made, out, progress)
    return RankerFitted(made, facts, bool(kept))


def check_top(top: int) -> None:
    """Refuse to order a single candidate: E302."""
    if top < 2:
        raise Errors.bad_setting(name="top", value=top, rule="must be at least 2")


def _endings(assets: Assets) -> Endings | None:
    """Learn what ids end with from all that is known."""
    remembering = assets.manifest.get("memory") is not None
    lines = assets.memory_lines if remembering else []
    return learn_endings(ending_examples(assets.kb), lines)


def _lists(cases: Sequence[RankedCase]) -> Lists:
    features = [ranker_features(one.ranking, one.facts()) for one in cases]
    right = [
        np.asarray([own.row in one.case.right for own in one.ranking], dtype=np.bool_)
        for one in cases
    ]
    counts = Counter(_texts(cases))
    return Lists(
        np.vstack(features),
        np.concatenate(right),
        np.cumsum([len(one) for one in right], dtype=np.int64),
        np.asarray([one.fold for one in cases], dtype=np.int64),
        # A mention that comes ten times does not teach ten times as much.
        np.asarray([1 / np.sqrt(counts[text]) for text in _texts(cases)]),
    )


def _texts(cases: Sequence[RankedCase]) -> list[str]:
    return [one.case.mention.text.lower() for one in cases]


def _by_mention(scores: Floats, lists: Lists) -> list[Floats]:
    return [scores[start:end] for start, end in lists.spans]


def _ranks(cases: Sequence[RankedCase], scores: Sequence[Floats] | None) -> Floats:
    """Compute the reciprocal rank of each mention's first right candidate, 0 where none is."""
    found = []
    for place, one in enumerate(cases):
        ranking = one.ranking
        if scores is not None:
            ranking = blend(ranking, 0, softmax(scores[place]), WEIGHT, RANKER)
        found.append(first_right([own.row for own in ranking], one.case.right))
    return reciprocal(found)


def _write(
    assets: Assets,
    place: _Place,
    model: LinearModel,
    endings: Endings | None,
    facts: dict[str, Any],
    kept: bool,
) -> Assets:
    """Write the assets with the ranker, or without it.

    Scores change with a ranker, and so does the order that a reranker was chosen behind: what was
    fitted to the old ones does not hold.
    """
    gained = f"{facts['gain']} +/- {facts['standard_error']}"
    why = "" if kept else f"it does not beat retrieval beyond doubt (mrr gained {gained})"
    changes: dict[str, Any] = {
        "ranker": facts if kept else None,
        "left_out": left_out(assets, "ranker", why),
    }
    without = [RANKER_FILE, ENDINGS_FILE]
    if kept or assets.manifest.get("ranker") is not None:
        without += [CALIBRATOR, RERANKER]
        changes |= {"calibrator": None, RERANKER: None}
    conditions = assets.conditions(assets.engine(calibrator=False, rescorer=None))

    def add(path: Path) -> None:
        if kept:
            save_ranker(path / RANKER_FILE, model, facts["top"], conditions)
            if endings is not None:
                endings.save(path / ENDINGS_FILE)

    out, gold, overwrite = place
    return write_variant(
        assets, out, changes, without=without, add=add, inputs=[gold], overwrite=overwrite
    )
