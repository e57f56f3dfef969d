import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.linking.calibrator import CALIBRATOR_FEATURES, calibrator_features
from spacy_medlink.linking.facts import NameFacts, Prior
from spacy_medlink.linking.features import DEPTH, features_of_candidates
from spacy_medlink.linking.ranker import RANKER_FEATURES
from spacy_medlink.types import Candidate, Name
from tests.fitting.samples import FACTS, ranking
from tests.tables import table


def described(own):
    return dict(
        zip(CALIBRATOR_FEATURES, calibrator_features([own], FACTS)[0].tolist(), strict=True)
    )


def test_what_is_told_of_a_ranking():
    found = described(ranking(0.8, 0.1, exact=True, form="MI", tied=(0, 1)))
    assert found == {
        "score": 0.8, "margin": 0.3, "ngram": 0.8, "dense": 0.8, "agreement": 1.0, "exact": 1.0,
        "rival": 1.0, "tied": 1.0, "memory": 0.0, "preferred": 1.0, "is preferred": 0.0,
        "same letters": 0.0, "sources": 0.0, "slip": 0.0,
        "names": pytest.approx(np.log(4)), "short form": 0.0, "length": pytest.approx(np.log(3)),
        "added": 1.0, "missing": 1.0, "numbers": 1.0,
        "same words": 0.0,
    }  # fmt: skip
    synonym = ranking(0.8)
    synonym[0].name_row = 1
    synonym[0].scores["memory"] = 1.0
    found = described(synonym)
    assert (found["preferred"], found["memory"], found["exact"], found["rival"]) == (0, 1, 0, 0)
    assert found["agreement"] == pytest.approx(1 / 3)


def test_a_tier_that_was_not_asked_says_what_the_exact_one_says():
    alone = [Candidate(0, 0, 1.0, {"exact": 1.0}, ranks={"exact": 1}, form="fever")]
    found = described(alone)
    assert found["ngram"] == found["dense"] == found["agreement"] == 1.0
    assert found["margin"] == 0.3  # nothing comes near


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.integers(0, 5), st.text(max_size=300))
def test_more_candidates_change_nothing(score, margin, exact, more, form):
    own = ranking(score, margin, exact, form=form)
    others = [Candidate(9, 27, 0.0, {"dense": 0.0})] * more
    long, short = calibrator_features([own + others, own[:DEPTH]], FACTS)
    assert long.tolist() == short.tolist()
    assert np.isfinite(long).all()


def test_no_rankings():
    assert calibrator_features([], FACTS).shape == (0, len(CALIBRATOR_FEATURES))


NAMES = ["type 1 diabetes", "sugar disease", "type 2 diabetes", "fever"]
CONCEPT_OF = np.array([0, 0, 1, 2], dtype=np.int32)
IDS = ["D1", "D2", "X1"]


def name_at(row):
    return Name(NAMES[row])


def facts_of(votes=()):
    return NameFacts(CONCEPT_OF, name_at, Prior(votes, IDS.__getitem__))


def test_features_of_candidates():
    ranking = [
        Candidate(1, 2, 0.9, {"ngram": 0.8, "dense": 0.7}, form="diabetes type 1"),
        Candidate(0, 1, 0.7, {"exact": 1.0}, form="diabetes type 1"),
    ]
    found = features_of_candidates(
        ranking, RANKER_FEATURES, facts_of([("D1", 3), ("X1", 1), ("D1", 2)])
    )
    first, second = (dict(zip(RANKER_FEATURES, row, strict=True)) for row in found.tolist())
    assert (first["score"], first["behind"], first["place"]) == (0.9, 0.0, 1.0)
    assert (second["behind"], second["place"]) == (pytest.approx(0.2), 0.5)
    assert (first["ngram"], first["dense"], first["exact"]) == (0.8, 0.7, 0.0)
    assert (second["ngram"], second["dense"], second["exact"]) == (1.0, 1.0, 1.0)
    assert (first["numbers"], second["numbers"]) == (1.0, 1.0), "1 is not 2, and not nothing"
    assert (first["preferred"], second["preferred"]) == (1.0, 0.0)
    assert (first["seen"], second["seen"]) == (0.0, 1.0)
    assert second["often"] == pytest.approx(np.log(6))
    assert first["scheme"] == second["scheme"] > facts_of([("X1", 9)]).prior_of(0).scheme


@table(__file__, "inverted_names_are_read_in_either_order")
def test_inverted_names_are_read_in_either_order(text, name, spelling, last_word):
    own = NameFacts(np.zeros(1, np.int32), lambda row: Name(name), Prior([], lambda row: ""))
    (found,) = features_of_candidates([Candidate(0, 0, 0.5, {}, form=text)], RANKER_FEATURES, own)
    found = dict(zip(RANKER_FEATURES, found.tolist(), strict=True))
    assert found["last word"] == last_word
    assert spelling in (None, found["spelling"])
    assert (found["spelling"] == 1.0) == (spelling == 1.0)


@given(st.text(max_size=40), st.text(max_size=40))
def test_features_are_numbers_whatever_is_written(text, name):
    own = NameFacts(np.zeros(1, np.int32), lambda row: Name(name), Prior([], lambda row: ""))
    found = features_of_candidates([Candidate(0, 0, 0.5, {}, form=text)], RANKER_FEATURES, own)
    assert np.isfinite(found).all() and found.shape == (1, len(RANKER_FEATURES))


@table(__file__, "numbers_that_differ")
def test_numbers_that_differ(text, name, differ):
    facts = NameFacts(
        np.zeros(1, dtype=np.int32), lambda row: Name(name), Prior([], IDS.__getitem__)
    )
    found = features_of_candidates(
        [Candidate(0, 0, 0.5, {"ngram": 0.5}, form=text)], RANKER_FEATURES, facts
    )
    assert found[0, RANKER_FEATURES.index("numbers")] == differ


@pytest.mark.parametrize(
    ("text", "exact", "short"),
    [("MS", 0.0, 1.0), ("MS", 1.0, 1.0), ("FEVER", 0.99, 0.0), ("ms", 0.0, 0.0), ("MS-LIKE", 0, 0)],
)
def test_a_name_in_capitals_is_no_short_form(text, exact, short):
    own = ranking(0.9, form=text)
    own[0].scores["exact"] = exact
    assert described(own)["short form"] == short


@table(__file__, "slips_of_the_pen")
def test_slips_of_the_pen(text, name, slip):
    own = NameFacts(np.zeros(1, np.int32), lambda row: Name(name), Prior([], lambda row: ""))
    exact = {"exact": 1.0} if text == "epilepsy" else {}
    (row,) = calibrator_features([[Candidate(0, 0, 0.5, exact, form=text)]], own).tolist()
    assert row[CALIBRATOR_FEATURES.index("slip")] == pytest.approx(slip)


def test_a_word_that_is_a_name_itself_is_no_slip():
    for known, slip in ((set(), 2 / 3), ({"palace"}, 0.0)):
        own = NameFacts(
            np.zeros(1, np.int32), lambda row: Name("pain of palate"), Prior([], lambda row: ""),
            is_name=known.__contains__,
        )  # fmt: skip
        mention = Candidate(0, 0, 0.5, {}, form="pain of palace")
        assert own.is_name("palace") == bool(known)
        (row,) = calibrator_features([[mention]], own).tolist()
        assert row[CALIBRATOR_FEATURES.index("slip")] == pytest.approx(slip)


@given(st.text("abcdefghij ", min_size=1, max_size=30), st.integers(0, 29), st.sampled_from("xyz"))
def test_more_slips_are_never_nearer(name, place, letter):
    def nearness(text):
        own = NameFacts(np.zeros(1, np.int32), lambda row: Name(name), Prior([], lambda row: ""))
        (row,) = calibrator_features([[Candidate(0, 0, 0.5, {}, form=text)]], own).tolist()
        return row[CALIBRATOR_FEATURES.index("slip")]

    once = name[:place] + letter + name[place:]
    twice = letter + once
    assert nearness(twice) <= max(nearness(once), 1 / 3)
