"""Ranking models: what fitting finds, what models save, what traits say."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting.lists import Lists, fit
from spacy_medlink.ranking.model import RankingModel
from spacy_medlink.ranking.prior import Prior
from spacy_medlink.ranking.traits import TRAITS, NameFacts, traits_of
from spacy_medlink.types import Candidate

NAMES = ["type 1 diabetes", "sugar disease", "type 2 diabetes", "fever"]
CONCEPT_OF = np.array([0, 0, 1, 2], dtype=np.int32)
IDS = ["D1", "D2", "X1"]


def facts(votes=()):
    return NameFacts(CONCEPT_OF, NAMES.__getitem__, Prior(votes, IDS.__getitem__))


def planted(mentions=200, candidates=6, seed=0, noise=0.0):
    """Make lists whose right candidate has the most of one trait and the least of another."""
    generator = np.random.default_rng(seed)
    traits = generator.normal(size=(mentions, candidates, len(TRAITS)))
    wanted = traits[..., 3] - traits[..., 8] + noise * generator.normal(size=traits.shape[:2])
    right = wanted == wanted.max(axis=1, keepdims=True)
    ends = np.arange(1, mentions + 1) * candidates
    return Lists(
        traits.reshape(-1, len(TRAITS)), right.ravel(), ends, np.arange(mentions) % 5,
        np.ones(mentions),
    )  # fmt: skip


def test_what_decides_is_found():
    lists = planted()
    fitted = fit(lists)
    weights = dict(zip(TRAITS, fitted.model.weights, strict=True))
    assert min(weights[TRAITS[3]], -weights[TRAITS[8]]) > 5 * max(
        abs(weights[name]) for name in TRAITS if name not in (TRAITS[3], TRAITS[8])
    )
    firsts = fitted.unseen.reshape(200, 6).argmax(axis=1)
    assert (lists.right.reshape(200, 6)[np.arange(200), firsts]).mean() > 0.95, "unseen mentions"


def test_where_nothing_decides_the_penalty_is_high():
    fitted = fit(planted(noise=50.0))
    assert fitted.penalty == max(fitted.losses)
    assert fit(planted()).penalty == min(fitted.losses)


def test_the_slope_is_that_of_the_loss():
    """At the weights that were found, no small step does better."""
    lists = planted(noise=1.0)
    model = fit(lists).model
    penalty = fit(lists).penalty

    def loss(weights):
        z = ((lists.traits - model.mean) / model.scale @ weights).reshape(200, 6)
        shares = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        hit = shares[lists.right.reshape(200, 6)]
        return -np.log(hit).mean() + penalty * weights @ weights

    best = loss(model.weights)
    for step in np.eye(len(TRAITS)) * 1e-2:
        assert min(loss(model.weights + step), loss(model.weights - step)) > best


def test_mentions_that_tell_nothing_leave_retrieval_alone():
    lists = planted(20)
    for flags in (np.zeros(120, bool), np.ones(120, bool)):
        model = fit(Lists(lists.traits, flags, lists.ends, lists.folds, lists.weights)).model
        assert not model.logits(lists.traits).any()


def test_lists_of_different_lengths():
    lists = planted(30)
    kept = np.concatenate([np.arange(6 * n, 6 * n + 2 + n % 5) for n in range(30)])
    ends = np.cumsum([2 + n % 5 for n in range(30)])
    right = lists.right[kept]
    model = fit(Lists(lists.traits[kept], right, ends, lists.folds, lists.weights)).model
    assert np.isfinite(model.weights).all() and model.weights.any()


def test_round_trip(tmp_path):
    model = fit(planted()).model
    model.save(tmp_path / "ranker.json")
    again = RankingModel.load(tmp_path / "ranker.json")
    assert again.fingerprint == model.fingerprint
    traits = planted(3).traits
    assert (again.logits(traits) == model.logits(traits)).all()
    alone = np.concatenate([model.logits(row[None]) for row in traits])
    assert (alone == model.logits(traits)).all(), "the same, however many there are"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": 0}, "E219"),
        ({"traits": ["score"]}, "E219"),
        ({"weights": [1.0]}, "E202"),
        ({"scale": [0.0] * len(TRAITS)}, "E202"),
        ({"mean": [float("nan")] * len(TRAITS)}, "E202"),
        ({"fitted_for": 1}, "E202"),
    ],
)
def test_models_that_cannot_be(tmp_path, change, code):
    file = tmp_path / "ranker.json"
    fit(planted(10)).model.save(file)
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **change}), "utf-8")
    with pytest.raises(MedlinkError, match=rf"^\[{code}\]"):
        RankingModel.load(file)
    file.write_text("{", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E202"):
        RankingModel.load(file)


def test_traits():
    ranking = [
        Candidate(1, 2, 0.9, {"ngram": 0.8, "dense": 0.7}, form="diabetes type 1"),
        Candidate(0, 1, 0.7, {"exact": 1.0}, form="diabetes type 1"),
    ]
    found = traits_of(ranking, facts([("D1", 3), ("X1", 1), ("D1", 2)]))
    first, second = (dict(zip(TRAITS, row, strict=True)) for row in found.tolist())
    assert (first["score"], first["behind"], first["place"]) == (0.9, 0.0, 1.0)
    assert (second["behind"], second["place"]) == (pytest.approx(0.2), 0.5)
    assert (first["ngram"], first["dense"], first["exact"]) == (0.8, 0.7, 0.0)
    assert (second["ngram"], second["dense"], second["exact"]) == (1.0, 1.0, 1.0)
    assert (first["numbers"], second["numbers"]) == (1.0, 1.0), "1 is not 2, and not nothing"
    assert (first["preferred"], second["preferred"]) == (1.0, 0.0)
    assert (first["seen"], second["seen"]) == (0.0, 1.0)
    assert second["often"] == pytest.approx(np.log(6))
    assert first["scheme"] == second["scheme"] > facts([("X1", 9)]).prior_of(0).scheme


@pytest.mark.parametrize(
    ("text", "name", "spelling", "last_word"),
    [
        ("idiopathic generalised epilepsies", "Epilepsy, Generalized, Idiopathic", 1.0, 1.0),
        ("epilepsy generalized idiopathic", "Epilepsy, Generalized, Idiopathic", 1.0, 0.0),
        ("idiopathic epilepsy", "epilepsy", None, 1.0),
        ("epilepsy", "Tuberculosis,Pulmonary", None, 0.0),  # without a space: 1,25-dihydroxy...
        ("pulmonary tuberculosis", "Tuberculosis,Pulmonary", None, 0.0),
        ("fever", ", fever", 1.0, 1.0),
        ("fever", ", ", 0.0, 0.0),
    ],
)
def test_inverted_names_are_read_in_either_order(text, name, spelling, last_word):
    own = NameFacts(np.zeros(1, np.int32), lambda row: name, Prior([], lambda row: ""))
    (found,) = traits_of([Candidate(0, 0, 0.5, {}, form=text)], own)
    traits = dict(zip(TRAITS, found.tolist(), strict=True))
    assert traits["last word"] == last_word
    assert spelling in (None, traits["spelling"])
    assert (traits["spelling"] == 1.0) == (spelling == 1.0)


@given(st.text(max_size=40), st.text(max_size=40))
def test_traits_are_numbers_whatever_is_written(text, name):
    own = NameFacts(np.zeros(1, np.int32), lambda row: name, Prior([], lambda row: ""))
    found = traits_of([Candidate(0, 0, 0.5, {}, form=text)], own)
    assert np.isfinite(found).all() and found.shape == (1, len(TRAITS))
