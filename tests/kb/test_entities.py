"""`kb.cui_to_entity`: what code written for scispaCy reads."""

import pickle

import pytest

from spacy_medlink.kb import KnowledgeBase


def test_an_entity_has_scispacys_fields(tiny_kb: KnowledgeBase) -> None:
    entity = tiny_kb.cui_to_entity["HP:0001945"]
    assert entity._asdict() == {
        "concept_id": "HP:0001945",
        "canonical_name": "Fever",
        "aliases": ["Pyrexia", "fiebre", "Fieber", "fièvre"],
        "types": ["T184"],
        "definition": "Body temperature above normal.",
    }


def test_it_is_a_mapping(tiny_kb: KnowledgeBase) -> None:
    entities = tiny_kb.cui_to_entity
    assert len(entities) == len(list(entities)) == len(tiny_kb)
    assert all(entities[id].concept_id == id for id in entities)
    assert "HP:0001945" in entities
    assert "HP:1" not in entities
    assert entities.get("HP:1") is None
    with pytest.raises(KeyError):
        entities["HP:1"]
    assert pickle.loads(pickle.dumps(entities))["HP:0001945"] == entities["HP:0001945"]
