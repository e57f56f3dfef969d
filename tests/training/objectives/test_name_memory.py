"""SAP over a memory of all names."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_metric_learning import losses, miners

from spacy_medlink.encoders.objectives.batch import LOSSES, MINERS, BatchObjective
from spacy_medlink.encoders.objectives.mining import HardPairMiner
from spacy_medlink.errors import MedlinkError
from tests.training.objectives.test_memory import CPU, _batch, _names, _unit
from training.objectives import name_memory
from training.objectives.mined_memory import MinedMemoryObjective
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


def test_a_batch_is_compared_with_itself_its_synonyms_and_its_neighbours() -> None:
    memory, names = _memory(), _names(CONCEPTS, STRINGS, [True] * 7)
    batch = _batch(names, 0, 2)
    vectors = _unit(2, seed=3).requires_grad_()
    others = memory.references(vectors, batch, neighbours=1)
    assert torch.equal(others.vectors[:2], vectors)
    assert others.labels[:2].tolist() == [0, 1]
    rest = [memory.vectors.tolist().index(row) for row in others.vectors[2:].tolist()]
    near = memory.nearest_wrong(vectors.detach(), batch.names, 1).flatten().tolist()
    assert set(rest) == {1, 3, *near} - {0, 2}
    assert others.labels[2:].tolist() == [CONCEPTS[name] for name in rest]
    assert others.strings[2:].tolist() == [STRINGS[name] for name in rest]


def test_with_all_names_near_the_loss_is_that_of_all_names_at_once() -> None:
    """A batch of all names is what the memory stands for."""
    names, vectors = _names(CONCEPTS, STRINGS, [True] * 7), _unit(7, seed=5)
    memory = NameMemory(names, vectors.numpy(), CPU)
    whole = BatchObjective(HardPairMiner(0.2), LOSS)
    mined = MinedMemoryObjective(HardPairMiner(0.2), LOSS, memory, neighbours=7)
    expected, pairs = whole(vectors, _batch(names, *range(7)))
    first, some = mined(vectors[:4], _batch(names, *range(4)))
    second, more = mined(vectors[4:], _batch(names, *range(4, 7)))
    assert some + more == pairs
    torch.testing.assert_close((4 * first + 3 * second) / 7, expected)


def test_gradients_draw_synonyms_together_and_push_neighbours_away() -> None:
    names, stored = _names(CONCEPTS, STRINGS, [True] * 7), _unit(7)
    memory = NameMemory(names, stored.numpy(), CPU)
    objective = MinedMemoryObjective(HardPairMiner(2.0), LOSS, memory, neighbours=2)
    vector = stored[[2]].clone().requires_grad_()
    near = int(memory.nearest_wrong(vector.detach(), torch.tensor([2]), 1)[0, 0])
    before = vector.detach() @ stored[[3, near]].T
    for _ in range(20):
        unit = torch.nn.functional.normalize(vector, dim=1)
        loss, _ = objective(unit, _batch(names, 2))
        (gradient,) = torch.autograd.grad(loss, vector)
        vector = (vector - 0.05 * gradient).detach().requires_grad_()
    after = torch.nn.functional.normalize(vector.detach(), dim=1) @ stored[[3, near]].T
    assert after[0, 0] - after[0, 1] > before[0, 0] - before[0, 1]


def test_what_was_encoded_is_remembered_after_the_step_and_kept_in_a_checkpoint() -> None:
    names, memory = _names(CONCEPTS, STRINGS, [True] * 7), _memory()
    objective = MinedMemoryObjective(HardPairMiner(0.2), LOSS, memory, 2)
    before, vectors = memory.vectors.clone(), _unit(2, seed=9).requires_grad_()
    objective(vectors, _batch(names, 1, 5))
    assert torch.equal(memory.vectors, before), "not before the step"
    objective.after_step()
    assert torch.equal(memory.vectors[[1, 5]], vectors.detach())
    other = MinedMemoryObjective(HardPairMiner(0.2), LOSS, _memory(seed=4), 2)
    other.load_state({key: value.clone() for key, value in objective.state().items()})
    assert torch.equal(other.state()["memory"], memory.vectors)


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


@pytest.mark.parametrize("miner", sorted(MINERS))
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_every_miner_and_loss_of_the_papers_works_with_a_memory(miner: str, loss: str) -> None:
    names = _names(CONCEPTS, STRINGS, [True] * 7)
    objective = MinedMemoryObjective(
        MINERS[miner].with_settings({}), LOSSES[loss].with_settings({}), _memory(), 3
    )
    vectors = _unit(3, seed=2).requires_grad_()
    value, _ = objective(vectors, _batch(names, 0, 2, 5))
    value.backward()
    assert vectors.grad is not None
    assert torch.isfinite(vectors.grad).all()


def test_too_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_memory, "_MOST", 1)
    with pytest.raises(MedlinkError, match=r"E502.*at most 1; there are 7"):
        _memory()


def test_the_multi_similarity_loss_is_that_of_pml() -> None:
    assert isinstance(LOSS, losses.MultiSimilarityLoss)
    assert np.isclose([LOSS.alpha, LOSS.beta, LOSS.base], [2, 50, 0.5]).all()
