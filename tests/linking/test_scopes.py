"""Filters and the tie rule in the engine: per call, per label, and what wins ties."""

from dataclasses import replace

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.retrieval.fusion import DEFAULT_WEIGHTS
from spacy_medlink.types import FROM_MENTIONS, Mention, Name
from tests.tiny import assets_of, concept

RECORDS = [
    concept("Z:1", "cold", types=("T047",), source="A"),
    concept("M:1", "low temperature", "cold", types=("T070",), source="B"),
    concept("A:1", "chilliness", "cold", types=("T184",), source="C"),
    concept("B:1", "chronic lung disease", "cold", types=("T047",), source="B"),
    *(concept(f"F:{n}", f"filler {n} disease", types=("T046",), source="A") for n in range(90)),
]
WEIGHTS = DEFAULT_WEIGHTS


def ranked(assets, text="cold", label="", k=5, within=None, **settings):
    engine = assets.engine(**settings)
    (ranking,) = engine.rank([Mention(text, label=label)], k, within)
    return ranking


def ids(assets, ranking):
    return [assets.kb.concept_at(one.row).id for one in ranking]


@pytest.mark.parametrize("tiers", [["exact"], ["exact", "ngram"], ["exact", "ngram", "dense"]])
def test_the_tie_rule(assets, tiers):
    def first(label=""):
        ranking = ranked(assets, label=label, tiers=tiers)
        return ids(assets, ranking)[:4], ranking[0].decided

    assert first() == (["Z:1", "A:1", "B:1", "M:1"], "usual")
    assert first("SYMPTOM") == (["A:1", "Z:1", "B:1", "M:1"], "type")
    assert first("DISEASE")[0][0] == "Z:1"
    assert first("X") == first()


def test_ties_that_stay_are_marked_with_all_ids(assets):
    # That one is the preferred name says which is usually meant, not that it is meant here.
    (by_names,) = ranked(assets, k=1)
    assert by_names.decided == "usual"
    assert [assets.kb.concept_at(row).id for row in by_names.tied] == [
        "Z:1",
        "A:1",
        "B:1",
        "M:1",
    ]
    assert ranked(assets, "cold", "SYMPTOM", k=1)[0].tied == ()
    (deep,) = ranked(assets, "cold", k=1, within=Filter.of(deny=["Z:1"]))
    assert [assets.kb.concept_at(row).id for row in deep.tied] == ["A:1", "B:1", "M:1"]


@pytest.mark.parametrize(
    ("others", "source", "first"),
    [(7, "A", "R:1"), (8, "A", "H:1"), (40, "A", "H:1"), (40, FROM_MENTIONS, "R:1")],
)
def test_by_far_most_names_mean_more_than_the_preferred_one(tmp_path, others, source, first):
    high = concept("H:1", "HTN", "hyper")
    many = tuple(Name(f"pressure {n}", "en", source) for n in range(others))
    high = replace(high, names=(*high.names, *many))
    made = assets_of(tmp_path, [concept("R:1", "hyper"), high])
    (found,) = ranked(made, "hyper", k=1)
    assert made.kb.concept_at(found.row).id == first and len(found.tied) == 2


def test_filters_of_a_call_a_label_and_the_settings_must_all_be_passed(assets):
    settings = {"only": Filter.of(sources=["B", "C"]), "labels": {"SIGN": ["T184", "T070"]}}
    found = [
        sorted(ids(assets, ranked(assets, label=label, within=only, tiers=["exact"], **settings)))
        for label, only in (
            ("", None), ("SIGN", None), ("SIGN", Filter.of(deny=["A:1"])),
            ("SIGN", Filter.of(types=["T047"])),
        )
    ]  # fmt: skip
    assert found == [["A:1", "B:1", "M:1"], ["A:1", "M:1"], ["M:1"], []]


@pytest.mark.parametrize("k", [1, 5, 60, 90])
def test_k_answers_come_back_whenever_k_exist(assets, k):
    """The tiers propose 2 names each at first, and the best names do not pass."""
    only = Filter.of(types=["T046"])
    ranking = ranked(assets, "cold", k=k, within=only, names_per_tier=2)
    assert len(ranking) == k
    assert all(id.startswith("F:") for id in ids(assets, ranking))


def test_one_batch_may_have_many_filters(assets):
    settings = {"labels": {"A": ["T047"], "B": ["T184"], "C": ["T070"]}}
    engine = assets.engine(**settings)
    mentions = [Mention("cold", label=label) for label in "ABCABC"] + [Mention("cold")]
    together = engine.rank(mentions, 5)
    assert [ids(assets, own)[0] for own in together] == [
        "Z:1", "A:1", "M:1", "Z:1", "A:1", "M:1", "Z:1",
    ]  # fmt: skip
    alone = assets.engine(**settings)
    for mention, ranking in zip(mentions, together, strict=True):
        (again,) = alone.rank([mention], 5)
        assert [one.row for one in again] == [one.row for one in ranking]


def test_what_nothing_has_is_met_when_the_engine_is_made(assets):
    with pytest.raises(MedlinkError, match="E213"):
        assets.engine(labels={"A": ["T999"]})


def test_candidates_carry_their_place_in_each_tier(assets):
    (first, *rest) = ranked(assets, "chronic lung disease", exact_first=False)
    assert first.ranks == {"exact": 1, "ngram": 1, "dense": 1}
    for one in rest:
        assert "exact" not in one.ranks
        assert all(place > 1 for place in one.ranks.values())
