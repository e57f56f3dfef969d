import numpy as np
import pytest

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Floats2d, Name
from training.representations.similarities import overlap, shares, similarities

# Names of a concept are near each other; B and C are near each other, and A is far from both.
ANGLES = {"a1": 0, "a2": 5, "b1": 170, "b2": 180, "c1": 182, "c2": 190}


class _OnACircle(BiEncoder):
    def __init__(self) -> None:
        pass

    def encode(self, texts: list[str]) -> Floats2d:  # type: ignore[override]  # of the base's settings it has none
        angles = np.radians([ANGLES[text] for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def test_mining_leaves_the_pairs_that_are_hard(tmp_path):
    concepts = (Concept(id, f"{id}1", (Name(f"{id}1"), Name(f"{id}2"))) for id in ("a", "b", "c"))
    build_kb(tmp_path / "kb", concepts)
    found = similarities(_OnACircle(), KnowledgeBase(tmp_path / "kb"), seed=0)
    every, hard = found["all pairs"], found["hard pairs"]
    assert tuple(map(len, every)) == (3, 12)
    # Of both anchors; a's names have no negative that is near enough.
    assert len(hard[0]) == 4 and hard[0].max() < np.cos(np.radians(7))
    # c2 is farther from b1 than the margin allows, while b1, whose synonym is farther, takes c2.
    assert len(hard[1]) == 7 and hard[1].min() > 0.9 > every[1].min()
    assert overlap(hard) > overlap(every)


def test_a_real_encoder_and_dictionary(tiny_kb, tiny_encoder):
    found = similarities(BiEncoder.load(tiny_encoder), tiny_kb, seed=0)
    for pairs in found.values():
        assert [shares(cosines).sum() for cosines in pairs] == [pytest.approx(1)] * 2


def test_overlap_is_the_part_that_is_the_same():
    high, low = np.full(4, 0.9), np.full(9, 0.1)
    assert overlap((high, low)) == 0
    assert overlap((np.array([0.9, 0.1]), low)) == pytest.approx(0.5)
    assert overlap((high, high[:2])) == pytest.approx(1)
