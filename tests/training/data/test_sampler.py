"""Batches of names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.names import TrainingNames
from training.data.pairs import make_pairs
from training.data.sampler import GroupSampler, Sampler, ShuffledSampler, with_synonym

CONCEPTS = np.repeat(np.arange(9), [1, 2, 3, 1, 5, 2, 1, 4, 2])
TRAINABLE = np.arange(len(CONCEPTS)) != 1  # leaves concept 1 with a single name


def _names() -> TrainingNames:
    n = len(CONCEPTS)
    return TrainingNames(np.arange(n), CONCEPTS, np.arange(n, dtype=np.uint64), TRAINABLE, [""] * n)


def _samplers(size: int, seed: int) -> list[Sampler]:
    pairs = make_pairs(CONCEPTS, TRAINABLE, 50, seed=0)
    return [
        ShuffledSampler(pairs, size, seed),
        ShuffledSampler(with_synonym(_names()), size, seed),
        GroupSampler(_names(), 3, max(3, size), 50, seed),
    ]


@given(st.integers(1, 40), st.integers(0, 3))
def test_a_batch_depends_on_its_step_alone(size, seed):
    for first, second in zip(_samplers(size, seed), _samplers(size, seed), strict=True):
        forth = [first.batch(step).tolist() for step in range(2 * first.steps_per_epoch)]
        back = [second.batch(step).tolist() for step in reversed(range(len(forth)))]
        assert forth == back[::-1]


@given(st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_shows_each_pair_once(size, seed):
    pairs = make_pairs(CONCEPTS, TRAINABLE, 50, seed=0)
    # A batch holds both names of each of its pairs, and no others: with one pair a batch, the
    # batches are the pairs.
    sampler = ShuffledSampler(pairs, 1, seed)
    shown = sorted(sampler.batch(step).tolist() for step in range(sampler.steps_per_epoch))
    assert shown == sorted(pairs.tolist())
    for step in range(ShuffledSampler(pairs, size, seed).steps_per_epoch):
        concepts = CONCEPTS[ShuffledSampler(pairs, size, seed).batch(step)]
        assert (np.unique(concepts, return_counts=True)[1] >= 2).all()


@given(st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_shows_each_name_with_a_synonym_once(size, seed):
    sampler = ShuffledSampler(with_synonym(_names()), size, seed)
    shown = np.concatenate([sampler.batch(step) for step in range(sampler.steps_per_epoch)])
    trainable = CONCEPTS[TRAINABLE]
    expected = [
        position
        for position in np.flatnonzero(TRAINABLE).tolist()
        if (trainable == CONCEPTS[position]).sum() > 1
    ]
    assert sorted(shown.tolist()) == expected


def test_epochs_and_seeds_differ():
    for sampler, other in zip(_samplers(4, 0)[:4], _samplers(4, 1)[:4], strict=True):
        epoch = sampler.steps_per_epoch
        assert sampler.batch(0).tolist() != sampler.batch(epoch).tolist()
        assert sampler.batch(0).tolist() != other.batch(0).tolist()


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=30),
    st.integers(2, 8),
    st.integers(0, 40),
    st.integers(2, 20),
    st.integers(0, 3),
)
def test_groups_are_names_of_one_concept_and_an_epoch_shows_each_once(
    sizes, group, more, most, seed
):
    concepts = np.repeat(np.arange(len(sizes)), sizes)
    n = len(concepts)
    everything = np.ones(n, dtype=bool)
    names = TrainingNames(
        np.arange(n), concepts, np.arange(n, dtype=np.uint64), everything, [""] * n
    )
    if max(sizes) < 2:
        return
    sampler = GroupSampler(names, group, group + more, most, seed)
    batches = [sampler.batch(step) for step in range(sampler.steps_per_epoch)]
    shown = np.concatenate(batches)
    assert len(np.unique(shown)) == len(shown)
    counts = np.bincount(concepts[shown], minlength=len(sizes)).tolist()
    assert counts == [min(size, most) if size > 1 else 0 for size in sizes]
    for batch in batches:
        assert len(batch)
        assert (np.unique(concepts[batch], return_counts=True)[1] >= 2).all()
    assert all(len(batch) < 2 * (group + more) + group for batch in batches)
