"""Miners and losses over the names of a batch."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_metric_learning.miners import TripletMarginMiner

from spacy_medlink.encoders.objectives.batch import LOSSES, MINERS, BatchObjective
from spacy_medlink.encoders.objectives.mining import (
    HardPairMiner,
    random_triplets,
    without_twins,
)
from spacy_medlink.encoders.objectives.protocol import Batch


def _unit(n: int, seed: int, dim: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(n, dim, generator=generator), dim=1)


def _batch(*labels: int) -> Batch:
    names = torch.arange(len(labels))
    return Batch(names, torch.tensor(labels), names + 100)


def _objective(miner: str, loss: str) -> BatchObjective:
    return BatchObjective(MINERS[miner].with_settings({}), LOSSES[loss].with_settings({}))


def _pairs(first: torch.Tensor, second: torch.Tensor) -> set[tuple[int, int]]:
    return set(zip(first.tolist(), second.tolist(), strict=True))


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=14),
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.2, 0.7]),
)
@settings(max_examples=50)
def test_hard_pairs_are_those_of_all_hard_triplets(labels, seed, margin):
    vectors, classes = _unit(len(labels), seed), torch.tensor(labels)
    a, p, b, n = HardPairMiner(margin)(vectors, classes)
    anchors, positives, negatives = TripletMarginMiner(margin, "all")(vectors, classes)
    assert _pairs(a, p) == _pairs(anchors, positives)
    assert _pairs(b, n) == _pairs(anchors, negatives)


def test_random_triplets_are_so_many_for_each_anchor_that_has_a_synonym():
    labels = torch.tensor([0, 0, 1, 2, 3])
    anchors, positives, negatives = random_triplets(5)(_unit(5, seed=1), labels)
    assert anchors.bincount(minlength=5).tolist() == [5, 5, 0, 0, 0]
    assert (labels[anchors] == labels[positives]).all() and (anchors != positives).all()
    assert (labels[anchors] != labels[negatives]).all()
    assert len(random_triplets(5)(_unit(2, seed=1), torch.tensor([0, 1]))[0]) == 0


@pytest.mark.parametrize("miner", MINERS)
def test_every_loss_draws_synonyms_together(miner):
    batch = _batch(0, 0, 1, 1, 2, 2, 3, 3)
    for loss in LOSSES:
        vectors = _unit(8, seed=1).requires_grad_()
        before = _gap(vectors, batch)
        objective = _objective(miner, loss)
        optimizer = torch.optim.Adam([vectors], lr=0.02)
        for _ in range(12):
            value, _ = objective(torch.nn.functional.normalize(vectors, dim=1), batch)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            assert torch.isfinite(value), loss
        assert _gap(vectors, batch) > before, loss


def _gap(vectors: torch.Tensor, batch: Batch) -> float:
    """By how much names are more similar within concepts than between them."""
    unit = torch.nn.functional.normalize(vectors.detach(), dim=1)
    cosine, same = unit @ unit.T, batch.labels[:, None] == batch.labels
    itself = torch.eye(len(vectors), dtype=torch.bool)
    return float(cosine[same & ~itself].mean() - cosine[~same].mean())


def test_multi_similarity_is_the_formula_of_the_paper():
    """Equation 2 with alpha for positives, over all pairs."""
    vectors, batch = _unit(5, seed=3), _batch(0, 0, 1, 1, 2)
    alpha, beta, base = 2.0, 50.0, 0.5
    value, _ = _objective("none", "multi_similarity")(vectors, batch)
    cosine = vectors @ vectors.T
    same = batch.labels[:, None] == batch.labels
    itself = torch.eye(5, dtype=torch.bool)
    pulled = torch.where(same & ~itself, torch.exp(-alpha * (cosine - base)), 0).sum(dim=1)
    pushed = torch.where(~same, torch.exp(beta * (cosine - base)), 0).sum(dim=1)
    expected = (torch.log(1 + pulled) / alpha + torch.log(1 + pushed) / beta).mean()
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("miner", ["none", "hard_pairs", "multi_similarity"])
def test_one_string_in_two_concepts_is_not_pushed_apart(miner):
    vectors = _unit(4, seed=5)
    vectors[2] = vectors[0]
    batch = _batch(0, 0, 1, 1)._replace(strings=torch.tensor([10, 11, 10, 12]))
    as_twins, _ = _objective(miner, "multi_similarity")(vectors, batch)
    other = batch._replace(strings=torch.tensor([10, 11, 13, 12]))
    as_strangers, _ = _objective(miner, "multi_similarity")(vectors, other)
    assert as_twins < as_strangers


def test_twins_are_left_out_of_triplets_and_pairs():
    strings = torch.tensor([7, 8, 7])
    index = torch.tensor
    triplets = without_twins((index([0, 1]), index([1, 0]), index([2, 2])), strings)
    assert [part.tolist() for part in triplets] == [[1], [0], [2]]
    pairs = without_twins((index([0]), index([1]), index([0, 1]), index([2, 2])), strings)
    assert [part.tolist() for part in pairs] == [[0], [1], [1], [2]]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_batch_without_positives_changes_nothing(loss):
    vectors = _unit(3, seed=2).requires_grad_()
    value, _ = _objective("hard_pairs", loss)(vectors, _batch(0, 1, 2))
    value.backward()
    assert vectors.grad is None or not vectors.grad.abs().sum()
