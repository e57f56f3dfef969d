import math

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from training.representations.mcsm import mcsm, read_typed

DISEASE, FINDING, SYMPTOM = "T047", "T033", "T184"  # types of tests/tiny.py


def _unit(degrees: list[float]) -> np.ndarray:
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def test_by_hand():
    # On a circle: two drugs, then a disease that is nearer to the drugs than to the other disease.
    vectors = _unit([0, 10, 25, 60])
    types = ["drug", "drug", "disease", "disease"]
    found = mcsm(vectors, types, k=2)
    # Nearest of 0: 10, 25; of 10: 0, 25; of 25: 10, 0; of 60: 25, 10.
    scores = {type: of_type.tolist() for type, of_type in found.items()}
    assert scores == {"drug": [1.0, 1.0], "disease": [0.0, 1.0]}


def test_equal_vectors_are_neighbours_and_not_themselves():
    vectors = np.ones((60, 4), dtype=np.float32) / 2
    found = mcsm(vectors, ["same"] * 60, k=40)
    most = sum(1 / math.log2(place + 1) for place in range(1, 41))
    assert found["same"].mean() == pytest.approx(most, abs=1e-3)
    assert most == pytest.approx(11.09, abs=0.01)


def test_concepts_with_types_are_read(tiny_kb):
    every = read_typed(tiny_kb, [DISEASE, FINDING, SYMPTOM])
    assert [*map(len, every)] == [len(tiny_kb)] * 2
    # The others are no neighbours, and the last type of a concept counts.
    lasts = [types[-1] for types in tiny_kb.iter_types()]
    assert len(read_typed(tiny_kb, [FINDING])[0]) == lasts.count(FINDING) < len(tiny_kb)


def test_a_knowledge_base_without_types(tmp_path):
    build_kb(tmp_path / "kb", [Concept("A", "one", (Name("one"),))])
    with pytest.raises(MedlinkError, match="E407"):
        read_typed(KnowledgeBase(tmp_path / "kb"), [DISEASE])
