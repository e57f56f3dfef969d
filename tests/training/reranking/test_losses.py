"""Losses over candidates, against sums by hand; the choice of a weight."""

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.objectives.lists import LOSSES
from spacy_medlink.evaluation.intervals import standard_error
from spacy_medlink.types import Mention
from training.reranking.choosing import choose
from training.reranking.lists import RankedList

LOGITS = torch.tensor([1.0, 0.0, -1.0, 2.0, 2.0])
RIGHT = [np.array([True, False, False]), np.array([False, True])]


def test_listwise():
    first = np.log(np.exp([1.0, 0, -1]).sum()) - 1
    want = (first + np.log(2)) / 2
    assert float(LOSSES["listwise"][0](LOGITS, RIGHT)) == pytest.approx(want, abs=1e-6)


def test_none_of_them_is_right_when_nothing_is():
    right = [np.array([False, False])]
    loss = LOSSES["listwise_nil"][0]
    assert float(loss(torch.tensor([-9.0, -9.0]), right)) < 0.001
    assert float(loss(torch.tensor([9.0, -9.0]), right)) > 8


def test_binary():
    want = (np.log1p(np.exp(-1)) + np.log(2) + np.log1p(np.exp(-1))) / 3
    found = LOSSES["binary"][0](LOGITS[:3], RIGHT[:1])
    assert float(found) == pytest.approx(want, abs=1e-6)


def test_triplet_is_zero_beyond_the_margin():
    loss = LOSSES["triplet"][0]
    assert float(loss(torch.tensor([3.0, 1.0, 2.0]), RIGHT[:1])) == 0
    assert float(loss(torch.tensor([0.0, 0.0, 1.0]), RIGHT[:1])) == pytest.approx(1.5)


@pytest.mark.parametrize("name", LOSSES)
def test_the_right_one_is_pushed_up(name):
    logits = LOGITS.clone().requires_grad_()
    LOSSES[name][0](logits, RIGHT).backward()
    assert logits.grad[4] < 0 < logits.grad[3]


def lists(texts):
    return [RankedList(Mention(text), [], np.zeros(0, dtype=bool)) for text in texts]


def test_a_gain_beyond_doubt_is_taken_with_the_smallest_weight():
    plain, better = np.full(100, 0.5), np.full(100, 1.0)
    ranks = {0.0: plain, 0.1: better, 0.5: better}
    assert choose(ranks, lists(map(str, range(100)))) == 0.1


def test_a_gain_within_chance_is_not_taken():
    plain = np.full(10, 0.5)
    better = plain.copy()
    better[:2] = 1.0, 0.25
    assert choose({0.0: plain, 0.5: better}, lists(map(str, range(10)))) == 0.0


def test_lost_first_places_are_not_made_up_for_by_others():
    plain, other = np.full(100, 0.3), np.full(100, 0.5)
    plain[0] = 1.0
    assert choose({0.0: plain, 0.5: other}, lists(map(str, range(100)))) == 0.0


def test_the_same_text_many_times_proves_little():
    values = np.array([1.0] * 50 + [0.0] * 50)
    few = standard_error(values, ["a"] * 50 + ["b"] * 50)
    many = standard_error(values, [str(n) for n in range(100)])
    assert few > 5 * many
    assert standard_error(values, ["a"] * 100) == pytest.approx(many)
