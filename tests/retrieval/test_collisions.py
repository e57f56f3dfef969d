"""Strings that have the hash of a name are not taken for it, wherever names are found by hash."""

import numpy as np
import pytest
import spacy

from spacy_medlink.assets import Assets
from spacy_medlink.assets.vector_store import KnownVectors, keys_of
from spacy_medlink.components.mentions import MedicalMentions
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.any_order import any_order_key, name_has_key
from spacy_medlink.text.normalisation import hash_key, key
from spacy_medlink.types import Mention
from tests.tiny import concept

# The hash of eight bytes can be computed backwards: the second has the hash of the first.
NAME, EVIL = "syndrome type 19856462", "voakhfuc"
OTHERS = ("fever", "heart attack")
RECORDS = [concept(f"C:{name}", name) for name in (NAME, *OTHERS)]


def test_these_two_do_collide():
    assert hash_key(key(NAME)) == hash_key(key(EVIL))
    assert key(NAME) == NAME != EVIL == key(EVIL)


def test_the_exact_tier_compares_names(assets):
    hits = assets.exact.search([EVIL, NAME, NAME.upper(), "fevers"])
    assert hits.rows[:, 0].tolist() == [-1, 0, 0, 1]
    assert hits.scores[1:, 0].tolist() == pytest.approx([1.0, 1.0, 0.95])


def test_no_link_is_exact_that_is_not(assets):
    (ranking,) = assets.engine(["exact"]).rank([Mention(EVIL)], 3)
    assert ranking == []
    (ranking,) = assets.engine(["exact"], exact_first=True).rank([Mention(EVIL)], 3)
    assert ranking == []


def test_the_knowledge_base_compares_names(assets):
    assert assets.kb.find(EVIL) == []
    assert [one.name for one in assets.kb.find(NAME)] == [NAME]


def found(component, text):
    doc = spacy.blank("en").make_doc(text)
    return [span.text for span in component.find(doc)]


@pytest.mark.parametrize("settings", [{}, {"languages": ["en"]}])
def test_the_dictionary_compares_names(assets, tmp_path, settings):
    made = MedicalMentions(spacy.blank("en").vocab, assets=assets.path, **settings)
    saved = MedicalMentions(made.vocab, **settings)
    made.to_disk(tmp_path / "saved")
    saved.from_disk(tmp_path / "saved")
    again = MedicalMentions(made.vocab, **settings)
    saved.to_disk(tmp_path / "again")
    again.from_disk(tmp_path / "again")
    sent = MedicalMentions(made.vocab, **settings).from_bytes(made.to_bytes())
    for component in (made, saved, again, sent):
        assert found(component, f"Fever and {EVIL} and {NAME}.") == ["Fever", NAME]


def test_saving_a_dictionary_leaves_the_assets_as_they_are(assets, tmp_path):
    made = MedicalMentions(spacy.blank("en").vocab, assets=assets.path)
    _ = made.exact
    made.to_disk(tmp_path / "saved")
    Assets(assets.path, verify=True)
    shared = tmp_path / "saved" / "exact" / "hash.npy"
    assert shared.samefile(assets.path / "exact" / "hash.npy")


def test_words_in_any_order_are_compared(monkeypatch):
    """With a hash that has one value for all, only the names tell what is found."""
    names = ["kidney malformation", "liver failure"]
    index = ExactIndex.build([(7, 0), (7, 1)], names)
    for own, row in (("malformation kidney", 0), ("failure of the liver", 1)):
        wanted = any_order_key(own.split())
        at = index.names_at(0)
        assert {row for row, name in at.items() if name_has_key(name, wanted)} == {row}
    assert index.rows_of(0, "Kidney malformations") == [(0, 0.95)]
    assert index.rows_of(0, "something else") == []


def test_vectors_are_not_taken_over_by_hash_alone():
    keys = keys_of([NAME, *OTHERS])
    alike = keys_of([EVIL]).copy()
    alike[0, 0] = keys[0, 0]  # the half that is looked up first
    for own, expected in ((keys, [False, True]), (alike, [False, False])):
        known = KnownVectors(own, lambda rows: np.zeros((len(rows), 2), dtype=np.float32))
        assert known.take([EVIL, NAME])[0].tolist() == expected
