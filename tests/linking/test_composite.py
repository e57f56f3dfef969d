"""Composite mentions: how they may be read, and when they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.linking.composite import readings
from spacy_medlink.types import Mention
from tests.tables import table


@table(__file__, "readings")
def test_readings(text, want):
    assert tuple(want) in readings(text)


@table(__file__, "what_is_no_coordination")
def test_what_is_no_coordination(text):
    assert readings(text) == []


@given(st.text(max_size=60))
def test_any_text_may_come(text):
    for reading in readings(text):
        assert len(reading) > 1
        assert all(part.strip() for part in reading)


@pytest.fixture(scope="module")
def linked(tiny_assets):
    engine = tiny_assets.engine()

    def link(text, **settings):
        (decision,) = engine.using(composite=True, **settings).decide([Mention(text)])
        concepts = [part.ranking[0].row for part in decision.parts]
        ids = [tiny_assets.kb.concept_at(row).id for row in concepts]
        return [(part.text, id) for part, id in zip(decision.parts, ids, strict=True)]

    return link


def test_parts_that_are_better_known_than_the_whole(linked):
    assert linked("fever and headache") == [("fever", "HP:0001945"), ("headache", "HP:0002315")]
    for text in ("type 1 and 2 diabetes", "type 1 and type 2 diabetes"):
        assert linked(text) == [
            ("type 1 diabetes", "HP:0100651"), ("type 2 diabetes", "HP:0005978"),
        ]  # fmt: skip


def test_what_is_a_name_is_not_taken_apart(tiny_assets, linked):
    assert linked("Fever") == []
    assert linked("fever and pyrexia") == [], "two names of one concept"
    assert linked("fever and headache", threshold=1.0) == []
