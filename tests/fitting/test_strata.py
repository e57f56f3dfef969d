"""What a terminology or corrections vouch for: rates of their own, which nothing fuzzy changes."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_medlink.fitting.calibrate import _choose
from spacy_medlink.fitting.calibrator import (
    SHORT_FORMS,
    STATED,
    Point,
    fit,
    rates_of_gold,
    rates_of_names,
)
from spacy_medlink.fitting.examples import RankedExamples
from spacy_medlink.ranking.calibrator import (
    CALIBRATOR_FEATURES,
    STRATA,
    calibrator_features,
    strata_of,
)
from tests.fitting.samples import FACTS, ranked_examples, ranking


def verbatim(row=0, form="some text", rival=False, memory=0.0):
    own = ranking(1.0, 0.1, exact=True, row=row, form=form)
    own[0].scores["memory"] = memory
    own[1].scores["exact"] = 0.95 if rival else 0.0
    return own


def some(rankings, right, weights=None):
    n = len(rankings)
    return RankedExamples(
        calibrator_features(rankings, FACTS),
        np.asarray(right, dtype=np.bool_),
        np.ones(n, dtype=np.bool_),
        np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64),
        np.arange(n) + 1000,
    )


def both(one, other):
    return RankedExamples(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))


def test_strata():
    own = [
        ranking(0.9), verbatim(), verbatim(rival=True), verbatim(memory=1.0),
        verbatim(rival=True, memory=1.0),
    ]  # fmt: skip
    assert [STRATA[place] for place in strata_of(calibrator_features(own, FACTS)).tolist()] == [
        "others", "verbatim", "shared", "verbatim and remembered", "remembered"
    ]  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_what_resembles_names_does_not_change_what_is_one(share):
    """However often fuzzy rankings are right, and however high they score."""
    fuzzy, _ = ranked_examples(400)
    generator = np.random.default_rng(0)
    fuzzy = fuzzy._replace(right=generator.random(400) < share)
    names = some([verbatim(row) for row in range(60)], [True] * 57 + [False] * 3)
    found = fit(both(fuzzy, names)).calibrator
    (prob,) = set(found.estimate(names.features).tolist())
    assert prob == pytest.approx((50 * STATED["verbatim"] + 57) / 110)


def test_gold_mentions_take_the_place_of_the_stated_rate():
    wrong = [False] * 400
    few = rates_of_gold(some([verbatim()] * 4, wrong[:4]))["verbatim"]
    many = rates_of_gold(some([verbatim()] * 400, wrong))["verbatim"]
    assert STATED["verbatim"] > few > 0.85 and many < 0.15
    assert rates_of_gold(some([], []))["verbatim"] == STATED["verbatim"]


def test_names_that_are_short_or_shared_are_less_sure():
    names = [verbatim(row) for row in range(8)]
    assert rates_of_names(some(names, [True] * 8)) == STATED
    short = [verbatim(row, form="MI") for row in range(8)]
    assert rates_of_names(some(short, [True] * 8))["verbatim"] == pytest.approx(SHORT_FORMS)
    # A removed concept's name finds another concept: as often as its weight says.
    shared = rates_of_names(some([*names, verbatim(9)], [True] * 8 + [False]))["verbatim"]
    assert shared == pytest.approx(STATED["verbatim"] * 8 / 9)


def test_a_calibrator_of_an_earlier_version_is_read_as_it_was(tmp_path):
    import json

    from spacy_medlink.ranking.calibrator import RankingCalibrator

    own, _ = ranked_examples(300)
    made = replace(fit(own).calibrator, rates=None)
    made.save(tmp_path / "c.json")
    facts = json.loads((tmp_path / "c.json").read_text())
    old = len(CALIBRATOR_FEATURES) - 1  # "same words" came later
    facts["features"] = facts["features"][:old]
    for name in ("mean", "scale", "weights"):
        facts[name] = facts[name][:old]
    del facts["rates"]
    (tmp_path / "c.json").write_text(json.dumps(facts))
    read = RankingCalibrator.load(tmp_path / "c.json", FACTS)
    rankings = [ranking(score / 20) for score in range(20)] + [verbatim()]
    # Of these, none has a name with the same words, which `made` could have weighed.
    assert read.rates is None and read.model.weights[-1] == 0
    without = replace(made.model, weights=np.append(made.model.weights[:old], 0.0))
    features = calibrator_features(rankings, FACTS)
    shift = np.abs(read.model.score(features) - without.score(features))
    assert shift.max() < 1e-9


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), "0.5", None])
def test_rates_that_cannot_be_are_refused(tmp_path, rate):
    import json

    from spacy_medlink.errors import MedlinkError
    from spacy_medlink.ranking.calibrator import RankingCalibrator

    own, _ = ranked_examples(100)
    fit(own).calibrator.save(tmp_path / "c.json")
    facts = json.loads((tmp_path / "c.json").read_text())
    facts["rates"]["verbatim"] = rate
    (tmp_path / "c.json").write_text(json.dumps(facts))
    with pytest.raises(MedlinkError, match="E202"):
        RankingCalibrator.load(tmp_path / "c.json", FACTS)


def test_a_threshold_does_not_leave_names_out_where_another_has_the_precision():
    own, _ = ranked_examples(100)
    calibrator = replace(fit(own).calibrator, rates={**STATED, "verbatim": 0.94})
    surest = Point(0.97, 0.99, 0.01, 0.05, 0.05)
    names = Point(0.94, 0.952, 0.01, 0.6, 0.5)
    low = Point(0.7, 0.9, 0.01, 0.8, 0.7)
    assert _choose([surest, names, low], calibrator, 0.94) == names
    assert _choose([surest, names, low], calibrator, 0.97) == surest
