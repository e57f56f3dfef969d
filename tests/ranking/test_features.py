import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.ranking.features import DEPTH, FEATURES, features_of
from spacy_medlink.types import Candidate
from tests.fitting.samples import NAMES, ranking


def described(own):
    return dict(zip(FEATURES, features_of([own], NAMES)[0].tolist(), strict=True))


def test_what_is_told_of_a_ranking():
    found = described(ranking(0.8, 0.1, exact=True, form="MI", tied=(0, 1)))
    assert found == {
        "score": 0.8, "margin": 0.1, "ngram": 0.8, "dense": 0.8, "agreement": 1.0, "exact": 1.0,
        "rival": 1.0, "tied": 1.0, "memory": 0.0, "preferred": 1.0,
        "names": pytest.approx(np.log(4)), "short form": 1.0, "length": pytest.approx(np.log(3)),
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
    long, short = features_of([own + others, own[:DEPTH]], NAMES)
    assert long.tolist() == short.tolist()
    assert np.isfinite(long).all()


def test_no_rankings():
    assert features_of([], NAMES).shape == (0, len(FEATURES))
