"""The engine: forms, tiers, fusion, exact-first, cache, threads; no spaCy."""

from itertools import pairwise

import numpy as np
import pytest

from spacy_medlink.assets.starter import starter_assets
from spacy_medlink.evaluation.judging import rank_names
from spacy_medlink.linking.tiers import Tiers
from spacy_medlink.text.normalisation import is_short_form
from spacy_medlink.types import Mention
from tests.rankings import assert_same

TOLERANCE = 2e-3  # cosines of bf16 sums
TEXTS = [
    "heart attack", "HEART ATTACKS", "Diabète de type 2", "PE", "pe", "pulmonary embolus", "血圧",
    "😀", "---", "x" * 10_000, "fever and pain " * 600, "type-2 diabetes", "NIDDM", "a",
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(tiny_assets):
    return tiny_assets.engine(exact_first=False)


def fresh(assets, *tiers, **settings):
    return assets.engine(list(tiers) or None, **settings)


def ids(assets, ranking):
    return [assets.kb.concept_at(one.row).id for one in ranking]


def rank(engine, *texts, k=5):
    return engine.rank([Mention(text) for text in texts], k)


def test_rankings(tiny_assets, engine):
    found = {
        text: ids(tiny_assets, own)[0]
        for text, own in zip(TEXTS, rank(engine, *TEXTS), strict=True) if own
    }  # fmt: skip
    assert found["heart attack"] == found["HEART ATTACKS"] == "HP:0001658"
    assert found["Diabète de type 2"] == found["type-2 diabetes"] == "HP:0005978"
    assert found["NIDDM"] == "HP:0005978"
    assert found["PE"] == "HP:0001698", "of two equal ones the first id"


def test_candidates_are_well_formed(tiny_assets, engine):
    for ranking in rank(engine, *TEXTS, k=50):
        assert len({one.row for one in ranking}) == len(ranking), "a concept occurs twice"
        for one in ranking:
            assert engine.name_concept[one.name_row] == one.row
            assert one.scores.keys() == {"exact", "ngram", "dense"}
            want = sum(
                engine.parts.fusion.weights[tier] * score for tier, score in one.scores.items()
            )
            assert one.score == pytest.approx(want, abs=1e-5)
        scores = [one.score for one in ranking]
        assert all(after <= before + 1e-4 for before, after in pairwise(scores))


@pytest.mark.parametrize(
    "tiers", [(), ("exact",), ("ngram",), ("dense",), ("exact", "ngram"), ("exact", "dense")]
)
def test_a_perfect_match_scores_one_by_any_tiers(tiny_assets, tiers):
    engine = fresh(tiny_assets, *tiers)
    names = list(tiny_assets.kb.iter_texts())
    for row, ranking in enumerate(rank(engine, *names, k=1)):
        assert ranking[0].score == pytest.approx(1, abs=TOLERANCE), names[row]
        if tiers != ("dense",) and names[row] != "PE":
            assert ranking[0].row == engine.name_concept[row]


def test_k_limits_and_may_exceed_what_there_is(engine):
    longest = rank(engine, "diabetes", k=1000)[0]
    assert len(longest) <= 12
    for k in (1, 3):
        assert rank(engine, "diabetes", k=k)[0] == longest[:k]


def test_nothing_in_nothing_out(engine):
    assert engine.rank([], 5) == []
    assert rank(engine, "", " ", "\n\t", "\u00a0") == [[], [], [], []]
    assert rank_names(engine, [], 5) == []


def test_blanks_among_others_keep_their_places(engine):
    rankings = rank(engine, "", "fever", " ", "fever", "asthma")
    assert [bool(ranking) for ranking in rankings] == [False, True, False, True, True]
    assert rankings[1] == rankings[3] != rankings[4]


@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_the_cache_changes_nothing_and_is_bounded(tiny_assets, size):
    engine = fresh(tiny_assets, cache_size=size)
    want = rank(fresh(tiny_assets), *TEXTS)
    for _ in range(2):
        assert_same([own[:1] for own in rank(engine, *TEXTS)], [own[:1] for own in want])
        for text, ranking in zip(TEXTS, want, strict=True):
            found = rank(engine, text)[0]
            assert [one.row for one in found[:1]] == [one.row for one in ranking[:1]]
    assert len(engine.retrieval._cache) <= size


def searched_by(engine, monkeypatch):
    """Note what the tiers of an engine are asked."""
    searched, search = [], Tiers.search

    def counted(tiers, texts, *rest):
        if tiers is engine.retrieval.tiers:  # the exact tier alone is asked of others
            searched.extend(texts)
        return search(tiers, texts, *rest)

    monkeypatch.setattr(Tiers, "search", counted)
    return searched


def test_what_is_remembered_is_not_searched_again(tiny_assets, monkeypatch):
    engine = fresh(tiny_assets, exact_first=False)
    searched = searched_by(engine, monkeypatch)
    rank(engine, "fever", "fever", "asthma", "")
    rank(engine, "asthma", "fever", "")
    assert searched == ["fever", "asthma"]
    rank(engine, "fever", k=2)
    engine.retrieval.clear()
    rank(engine, "fever")
    assert searched[2:] == ["fever", "fever"]


def test_long_forms_come_first_and_the_short_form_at_a_discount(tiny_assets, engine):
    short, long = rank(engine, "PE", "pulmonary embolism")
    (both,) = engine.rank([Mention("PE", "pulmonary embolism")], 5)
    assert ids(tiny_assets, short)[0] == "HP:0001698"
    assert ids(tiny_assets, long)[0] == ids(tiny_assets, both)[0] == "HP:0002204"
    assert both[0].score == pytest.approx(long[0].score, abs=TOLERANCE)
    by_row = {one.row: one.score for one in both}
    assert by_row[short[0].row] == pytest.approx(0.9 * short[0].score, abs=TOLERANCE)


def test_a_wrong_long_form_does_not_hide_the_short_one(tiny_assets, engine):
    (ranking,) = engine.rank([Mention("NIDDM", "zzzz")], 5)
    assert ids(tiny_assets, ranking)[0] == "HP:0005978"


def test_rank_names_takes_the_best_score_of_each(tiny_assets, engine):
    found = engine.retrieval.search(TEXTS)
    rows, fused = found.rows, engine.retrieval.fused(found)
    for own, scores, ranking in zip(rows, fused, rank_names(engine, TEXTS, 1000), strict=True):
        best = {}
        for row, score in zip(own.tolist(), scores.tolist(), strict=True):
            if row >= 0:
                best[row] = max(score, best.get(row, -9))
        assert dict(ranking) == best
        assert ranking == sorted(ranking, key=lambda one: (-one[1], one[0]))
    assert [row for row, _ in rank_names(engine, ["fever"], 2)[0]] == [
        row for row, _ in rank_names(engine, ["fever"], 1000)[0][:2]
    ]


def test_each_tier_scores_what_the_others_found(tiny_assets, engine):
    """A name that the n-gram tier did not propose still has its n-gram score."""
    found = engine.retrieval.search(["heart attack", "fieber"])
    rows, scores = found.rows, found.scores
    for tier in ("ngram", "dense"):
        source = engine.parts.encoder.encode(["heart attack", "fieber"])
        want = (
            engine.parts.others["dense"].score(source, rows)
            if tier == "dense"
            else engine.parts.others["ngram"].score(["heart attack", "fieber"], rows)
        )
        np.testing.assert_allclose(scores[tier], want, atol=1e-4)


@pytest.mark.parametrize("which", ["tiny", "starter"])
def test_exact_first_has_the_same_first_answer(tiny_assets, which):
    assets = tiny_assets if which == "tiny" else starter_assets()
    names = list(dict.fromkeys(assets.kb.iter_texts()))[:400]
    names += [name.upper() for name in names[:100] if not is_short_form(name.upper())]
    plain, fast = fresh(assets), fresh(assets, exact_first=True)
    for name, one, other in zip(names, rank(plain, *names), rank(fast, *names), strict=True):
        assert one[0].row == other[0].row, name
        if other[0].scores["exact"] == 1:
            assert one[0].name_row == other[0].name_row
            assert one[0].score == pytest.approx(other[0].score, abs=TOLERANCE)


def test_exact_first_asks_the_other_tiers_only_when_it_must(tiny_assets, monkeypatch):
    engine = fresh(tiny_assets, "exact", "ngram", exact_first=True)
    searched = searched_by(engine, monkeypatch)
    rankings = engine.rank(
        [Mention("fever"), Mention("hart attak"), Mention("PE", "pulmonary embolism"),
         Mention("XX", "asthma")], 5,
    )  # fmt: skip
    assert searched == ["hart attak", "XX"]
    assert [ids(tiny_assets, own)[0] for own in rankings] == [
        "HP:0001945", "HP:0001658", "HP:0002204", "HP:0002099",
    ]  # fmt: skip


def test_a_tier_that_is_not_asked_for_has_no_score(tiny_assets):
    engine = fresh(tiny_assets, "exact", "ngram")
    assert rank(engine, "fever")[0][0].scores.keys() == {"exact", "ngram"}
    found, nothing = rank(fresh(tiny_assets, "exact"), "fevers", "unheard of")
    assert nothing == []
    row = list(tiny_assets.kb.iter_texts()).index("Fever")
    assert (found[0].name_row, found[0].scores) == (row, {"exact": pytest.approx(0.95)})
    assert found[0].score == pytest.approx(0.95)
