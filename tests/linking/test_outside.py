"""What a concept outside the filters says better is no link to one within."""

import pytest

from spacy_medlink.linking import decision as rules
from spacy_medlink.linking.decision import (
    BELOW_THRESHOLD,
    MARGIN,
    NOTHING_FOUND,
    OUTSIDE,
    decide,
    is_better,
    is_named_within,
)
from spacy_medlink.linking.tiers import Tiers
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Candidate, Mention

DISEASE, FINDING = Filter.of(types=["T047"]), Filter.of(types=["T033"])


def candidate(score, row=0, form="x", **scores):
    return Candidate(row, row, score, scores, form=form)


@pytest.mark.parametrize(
    ("without", "within", "better"),
    [
        (candidate(1.0, exact=1.0), candidate(0.99), True),
        (candidate(0.9, exact=0.95), candidate(0.95), True),  # a name, whatever is near
        (candidate(1.0, memory=1.0), candidate(0.99), True),
        (candidate(1.0, exact=1.0), candidate(1.0, exact=1.0), False),  # both are called so
        (candidate(1.0, exact=1.0), candidate(0.9, exact=1.0), True),  # by its letters alone
        (candidate(0.6), candidate(0.6 - MARGIN / 2), False),
        (candidate(0.6), candidate(0.6 - 2 * MARGIN), True),
        (candidate(0.6), None, False),
        (candidate(0.6, exact=0.95), None, True),
    ],
)
def test_rules(without, within, better):
    assert is_better(without, within) == better


def test_an_abbreviation_is_what_it_stands_for():
    ranking = [candidate(0.9, form="MI", exact=1.0)]
    assert is_named_within(ranking, ["MI"])
    assert not is_named_within(ranking, ["myocardial infarction", "MI"])
    assert not is_named_within([], ["MI"])


def test_a_decision_says_why():
    own, named, near = candidate(0.7), candidate(1.0, 1, exact=1.0), candidate(0.8, 1)
    cases = [
        ([own], named, 0.5, OUTSIDE), ([own], near, 0.5, OUTSIDE), ([], named, 0.5, OUTSIDE),
        ([own], near, 0.75, BELOW_THRESHOLD), ([own], named, 0.75, OUTSIDE),
        ([own], None, 0.5, ""), ([], None, 0.5, NOTHING_FOUND),
    ]  # fmt: skip
    for ranking, better, threshold, reason in cases:
        (decision,) = decide([ranking], threshold, outside=[better])
        assert decision.reason == reason
        assert (decision.outside is not None) == (reason == OUTSIDE)
        assert decision.ranking == ranking


def test_what_the_document_identifies_needs_no_better_name():
    own = candidate(0.7, identifier=1.0)
    (decision,) = decide([[own]], 0.5, outside=[candidate(1.0, 1, exact=1.0)])
    assert decision.chosen is own


def names(engine, ranked):
    return [None if one is None else int(one.row) for one in ranked]


@pytest.fixture
def engine(tiny_assets):
    return tiny_assets.engine()


def test_names_of_concepts_outside(engine, tiny_assets):
    kb = tiny_assets.kb
    mentions = [Mention(text) for text in ("fever", "asthma", "PE", "Pericardial effusion")]
    _, outside = within_filter(engine, mentions, 3, DISEASE)
    assert names(engine, outside) == [
        kb["HP:0001945"].row, None, None, kb["HP:0001698"].row,
    ]  # fmt: skip
    rankings, none = within_filter(engine, mentions, 3, DISEASE, force=True)
    assert none == [None] * 4 and rankings == engine.rank(mentions, 3, DISEASE)


def test_a_concept_with_a_name_within_is_not_outside(engine):
    """Filters of languages and sources are of names: the concept is there by another one."""
    spanish = Filter.of(languages=["es"])
    _, outside = within_filter(engine, [Mention("heart attack")], 3, spanish)
    assert outside == [None]
    _, outside = within_filter(engine, [Mention("headaches"), Mention("AF")], 3, spanish)
    assert outside[0] is None and outside[1] is not None  # AF has no name in Spanish


def test_long_forms_count_and_not_letters(engine, tiny_assets):
    """ "PE" is a name within, but the document says that it is something outside."""
    mention = Mention("PE", long_form="pericardial effusion")
    _, (better,) = within_filter(engine, [mention], 3, DISEASE)
    assert better is not None and better.row == tiny_assets.kb["HP:0001698"].row
    _, (none,) = within_filter(engine, [mention._replace(long_form="")], 3, DISEASE)
    assert none is None


def within_filter(engine, mentions, k, only=None, force=False):
    """Rank within filters, and what is outside them."""
    within, outside = engine.retrieve(mentions, k, only, force)
    return engine.rank(mentions, k, only, within), outside


class Counting:
    """Counts the texts that an encoder encodes."""

    def __init__(self, encoder):
        self._encoder, self.texts = encoder, []
        self.dim = encoder.dim

    def encode(self, texts):
        self.texts += texts
        return self._encoder.encode(texts)


def test_texts_are_encoded_once(tiny_assets):
    engine = tiny_assets.engine(exact_first=False)
    counting = Counting(engine.parts.encoder)
    engine = engine.with_parts(encoder=counting)
    mentions = [Mention(one) for one in ("fevrish", "asthmatic", "asthma", "Pericardial effusion")]
    within_filter(engine, mentions, 3, DISEASE)
    assert sorted(counting.texts) == sorted(set(counting.texts)) and len(counting.texts) == 4


def test_nothing_more_is_searched_without_filters_or_for_names_within(tiny_assets, monkeypatch):
    engine = tiny_assets.engine(exact_first=False)
    asked = []
    search = Tiers.search

    def counted(tiers, texts, *rest):
        if tiers is engine.retrieval.tiers:
            asked.extend(texts)
        return search(tiers, texts, *rest)

    monkeypatch.setattr(Tiers, "search", counted)
    mentions = [Mention("asthma"), Mention("Pericardial effusion")]
    within_filter(engine, mentions, 3)
    assert len(asked) == 2
    within_filter(engine, mentions, 3, DISEASE)
    assert asked[2:].count("asthma") == 1 and asked[2:].count("Pericardial effusion") == 2


def test_both_searches_are_remembered(tiny_assets, monkeypatch):
    engine = tiny_assets.engine(exact_first=False)
    mention = [Mention("Pericardial effusion")]
    before = within_filter(engine, mention, 3, DISEASE)
    monkeypatch.setattr(Tiers, "search", lambda *_: pytest.fail("searched again"))
    assert within_filter(engine, mention, 3, DISEASE) == before


def test_without_a_name_the_margin_decides(engine, monkeypatch):
    mention = [Mention("pericardial effusions of fluid")]
    monkeypatch.setattr(rules, "MARGIN", -2.0)
    assert within_filter(engine, mention, 3, DISEASE)[1][0] is not None
    monkeypatch.setattr(rules, "MARGIN", 2.0)
    assert within_filter(engine, mention, 3, DISEASE)[1] == [None]
