"""A memory of all names, and mining among references."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_metric_learning import losses, miners

from spacy_medlink.encoders.objectives.batch import LOSSES
from spacy_medlink.encoders.objectives.mining import HardPairMiner
from spacy_medlink.errors import MedlinkError
from tests.training.objectives.test_memory import CPU, _names, _unit
from training.objectives import name_memory
from training.objectives.name_memory import NameMemory

# Two concepts of two names; name 4 is name 0's string in a third one; 5 and 6 are a fourth.
CONCEPTS, STRINGS = [0, 0, 1, 1, 2, 3, 3], [1, 2, 3, 4, 1, 6, 7]
LOSS = LOSSES["multi_similarity"].with_settings({})


def _memory(seed: int = 0) -> NameMemory:
    names = _names(CONCEPTS, STRINGS, [True] * 7)
    return NameMemory(names, _unit(7, seed).numpy(), CPU)


def test_the_nearest_wrong_names_are_neither_synonyms_nor_twins() -> None:
    memory = _memory()
    found = memory.nearest_wrong(memory.vectors[[0]], torch.tensor([0]), 4)[0].tolist()
    assert sorted(found) == [2, 3, 5, 6]
    similarity = memory.vectors @ memory.vectors[0]
    assert found == sorted(found, key=lambda name: -float(similarity[name]))


@given(st.lists(st.integers(0, 3), min_size=3, max_size=9), st.integers(1, 3), st.integers(0, 99))
@settings(max_examples=50)
def test_mining_among_references_finds_the_pairs_that_pml_finds(
    labels: list[int], anchors: int, seed: int
) -> None:
    others, every = _unit(len(labels), seed), torch.tensor(labels)
    vectors, own = others[:anchors], every[:anchors]
    mined = HardPairMiner(0.2)(vectors, own, others, every)
    theirs = miners.TripletMarginMiner(0.2, type_of_triplets="all")
    anchor, positive, negative = theirs(vectors, own, others, every)
    keep = anchor != positive  # PML takes an anchor among its own references for a positive
    expected = (
        set(zip(anchor[keep].tolist(), positive[keep].tolist(), strict=True)),
        set(zip(anchor[keep].tolist(), negative[keep].tolist(), strict=True)),
    )
    found = (
        set(zip(mined[0].tolist(), mined[1].tolist(), strict=True)),
        set(zip(mined[2].tolist(), mined[3].tolist(), strict=True)),
    )
    assert found == expected


def test_too_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_memory, "_MOST", 1)
    with pytest.raises(MedlinkError, match=r"E502.*at most 1; there are 7"):
        _memory()


def test_the_multi_similarity_loss_is_that_of_pml() -> None:
    assert isinstance(LOSS, losses.MultiSimilarityLoss)
    assert np.isclose([LOSS.alpha, LOSS.beta, LOSS.base], [2, 50, 0.5]).all()
