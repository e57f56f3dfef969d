"""The loss over all names."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.errors import MedlinkError
from training.data.names import TrainingNames
from training.objectives import memory
from training.objectives.memory import MemoryObjective, logsumexp_by

TEMPERATURE = 0.1
CPU = torch.device("cpu")


def _names(concepts: list[int], strings: list[int], trainable: list[bool]) -> TrainingNames:
    n = len(concepts)
    return TrainingNames(
        np.arange(n),
        np.array(concepts),
        np.array(strings, dtype=np.uint64),
        np.array(trainable),
        [""] * n,
    )


def _unit(n: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(n, 4, generator=generator), dim=1)


def _batch(names: TrainingNames, *positions: int) -> Batch:
    chosen = list(positions)
    return Batch(
        torch.tensor(chosen),
        torch.from_numpy(names.concepts[chosen]),
        torch.from_numpy(names.strings[chosen].view(np.int64)),
    )


def test_loss_is_the_softmax_over_all_other_names():
    # Name 4 is name 0's string in another concept, name 2 is of no use to training.
    names = _names([0, 0, 0, 1, 1], [1, 2, 3, 4, 1], [True, True, False, True, True])
    stored, vectors = _unit(5), _unit(2, seed=1)
    objective = MemoryObjective(names, stored.numpy(), CPU, temperature=TEMPERATURE)
    loss, positives = objective(vectors, _batch(names, 0, 3))
    odds = torch.exp(vectors @ stored.T / TEMPERATURE)
    first = odds[0, 1] / (odds[0, 1] + odds[0, 3])
    second = odds[1, 4] / (odds[1, 0] + odds[1, 1] + odds[1, 2] + odds[1, 4])
    assert loss.item() == pytest.approx(-(first.log() + second.log()).item() / 2, rel=1e-5)
    assert positives == 2


def test_gradient_is_that_of_the_formula():
    names = _names([0, 0, 0, 1, 1, 2], [1, 2, 3, 4, 1, 6], [True, True, False, True, True, True])
    stored = _unit(6)
    objective = MemoryObjective(names, stored.numpy(), CPU, temperature=TEMPERATURE)
    vectors = _unit(4, seed=1).requires_grad_()
    loss, _ = objective(vectors, _batch(names, 0, 1, 3, 5))
    (found,) = torch.autograd.grad(3 * loss, vectors)
    odds = torch.exp(vectors @ stored.T / TEMPERATURE)
    likelihoods = [
        odds[0, 1] / odds[0, [1, 3, 5]].sum(),
        odds[1, 0] / odds[1, [0, 3, 4, 5]].sum(),
        odds[2, 4] / odds[2, [0, 1, 2, 4, 5]].sum(),
    ]
    expected = -torch.stack(likelihoods).log().sum()
    torch.testing.assert_close(3 * loss, expected)
    torch.testing.assert_close(found, torch.autograd.grad(expected, vectors)[0])


def test_names_without_a_synonym_do_not_count():
    names = _names([0, 0, 1], [1, 2, 3], [True, True, True])
    objective = MemoryObjective(names, _unit(3).numpy(), CPU, temperature=TEMPERATURE)
    vectors = _unit(2, seed=1)
    both, _ = objective(vectors, _batch(names, 0, 2))
    alone, _ = objective(vectors[:1], _batch(names, 0))
    assert both.item() == pytest.approx(alone.item())
    vectors = vectors[1:].requires_grad_()
    nothing, _ = objective(vectors, _batch(names, 2))
    nothing.backward()
    assert nothing.item() == 0
    assert vectors.grad is not None
    assert not vectors.grad.any()


def test_memory_takes_the_new_vectors_after_the_step():
    names = _names([0, 0], [1, 2], [True, True])
    objective = MemoryObjective(names, _unit(2).numpy(), CPU, temperature=TEMPERATURE)
    vectors = _unit(1, seed=7).requires_grad_()
    objective(vectors, _batch(names, 1))[0].backward()
    before = objective.state()["memory"].clone()
    objective.after_step()
    after = objective.state()["memory"]
    assert torch.equal(after[0], before[0])
    assert torch.equal(after[1], vectors.detach()[0])
    other = MemoryObjective(names, _unit(2).numpy(), CPU, temperature=TEMPERATURE)
    other.load_state({"memory": after.clone()})
    assert torch.equal(other.state()["memory"], after)


@given(st.lists(st.tuples(st.floats(-500, 500), st.integers(0, 3)), max_size=12))
@settings(max_examples=50)
def test_logsumexp_by_group(entries):
    values = torch.tensor([value for value, _ in entries], dtype=torch.float32)
    groups = torch.tensor([group for _, group in entries], dtype=torch.int64)
    found = logsumexp_by(values, groups, 4)
    for group in range(4):
        expected = torch.logsumexp(values[groups == group], dim=0)
        torch.testing.assert_close(found[group], expected)


def test_too_many_names_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "_MOST", 1)
    names = _names([0, 0, 1], [1, 2, 3], [True] * 3)
    with pytest.raises(MedlinkError, match=r"E502.*at most 1; there are 3"):
        MemoryObjective(names, _unit(3).numpy(), CPU, temperature=TEMPERATURE)
