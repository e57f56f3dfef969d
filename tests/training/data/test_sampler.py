"""Batches of names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.names import TokenTable, TrainingNames
from training.data.pairs import make_pairs
from training.data.sampler import NameSampler, PairSampler, Sampler

CONCEPTS = np.repeat(np.arange(9), [1, 2, 3, 1, 5, 2, 1, 4, 2])
TRAINABLE = np.arange(len(CONCEPTS)) != 1  # leaves concept 1 with a single name


def _names() -> TrainingNames:
    n = len(CONCEPTS)
    tokens = TokenTable(np.zeros(n, dtype=np.int32), np.arange(n + 1))
    return TrainingNames(np.arange(n), CONCEPTS, np.arange(n, dtype=np.uint64), TRAINABLE, tokens)


def _samplers(size: int, seed: int) -> list[Sampler]:
    pairs = make_pairs(CONCEPTS, TRAINABLE, 50, seed=0)
    return [PairSampler(pairs, size, seed), NameSampler(_names(), size, seed)]


@given(st.integers(1, 40), st.integers(0, 3))
def test_a_batch_depends_on_its_step_alone(size: int, seed: int) -> None:
    for first, second in zip(_samplers(size, seed), _samplers(size, seed), strict=True):
        forth = [first.batch(step).tolist() for step in range(2 * first.steps_per_epoch)]
        back = [second.batch(step).tolist() for step in reversed(range(len(forth)))]
        assert forth == back[::-1]


@given(st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_shows_each_pair_once(size: int, seed: int) -> None:
    pairs = make_pairs(CONCEPTS, TRAINABLE, 50, seed=0)
    # A batch holds both names of each of its pairs, and no others: with one pair a batch, the
    # batches are the pairs.
    sampler = PairSampler(pairs, 1, seed)
    shown = sorted(sampler.batch(step).tolist() for step in range(sampler.steps_per_epoch))
    assert shown == sorted(pairs.tolist())
    for step in range(PairSampler(pairs, size, seed).steps_per_epoch):
        concepts = CONCEPTS[PairSampler(pairs, size, seed).batch(step)]
        assert (np.unique(concepts, return_counts=True)[1] >= 2).all()


@given(st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_shows_each_name_with_a_synonym_once(size: int, seed: int) -> None:
    sampler = NameSampler(_names(), size, seed)
    shown = np.concatenate([sampler.batch(step) for step in range(sampler.steps_per_epoch)])
    trainable = CONCEPTS[TRAINABLE]
    expected = [
        position
        for position in np.flatnonzero(TRAINABLE).tolist()
        if (trainable == CONCEPTS[position]).sum() > 1
    ]
    assert sorted(shown.tolist()) == expected


def test_epochs_and_seeds_differ() -> None:
    for sampler, other in zip(_samplers(4, 0), _samplers(4, 1), strict=True):
        epoch = sampler.steps_per_epoch
        assert sampler.batch(0).tolist() != sampler.batch(epoch).tolist()
        assert sampler.batch(0).tolist() != other.batch(0).tolist()
