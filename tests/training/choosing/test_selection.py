"""What is shipped."""

import pytest
import torch

from spacy_medlink.encoders.objectives.protocol import Weights
from training.choosing.selection import Halves, Selection, interpolate, select
from training.recipe.settings import SelectionSettings

BASE = {"w": torch.tensor([0.0, 0.0]), "n": torch.tensor(3)}
TRAINED = {"w": torch.tensor([1.0, 2.0]), "n": torch.tensor(3)}


def _select(
    dev: dict[float, float], base: float, min_gain: float = 0.0, trained: Weights = TRAINED
) -> Selection:
    """Choose among parts whose accuracy is given; the part can be read off the first weight."""

    def figures(weights: Weights) -> dict[str, float]:
        return {"acc@1": dev[float(weights["w"][0])]}

    def halves(weights: Weights) -> Halves:
        return {"dev": figures(weights), "test": {"acc@1": 0.0}}

    settings = SelectionSettings(interpolation=tuple(dev), min_gain=min_gain)
    return select(BASE, trained, settings, {"dev": {"acc@1": base}}, figures, halves)


def test_interpolation_lies_between_base_and_trained():
    mixed = interpolate(BASE, TRAINED, 0.25)
    assert mixed["w"].tolist() == [0.25, 0.5]
    assert mixed["n"].item() == 3
    assert torch.equal(interpolate(BASE, TRAINED, 1.0)["w"], TRAINED["w"])


def test_the_best_mixture_is_shipped():
    selection = _select({0.25: 60.0, 0.5: 70.0, 1.0: 65.0}, base=62.0)
    assert selection.part == 0.5
    assert selection.weights["w"].tolist() == [0.5, 1.0]
    assert selection.measured["dev"] == {"acc@1": 70.0}
    assert [part for part, _ in selection.tried] == [0.25, 0.5, 1.0]


def test_of_equals_the_one_nearer_to_the_base():
    assert _select({1.0: 70.0, 0.5: 70.0, 0.25: 60.0}, base=62.0).part == 0.5


@pytest.mark.parametrize(("best", "min_gain"), [(61.9, 0.0), (62.0, 0.0), (62.5, 0.5), (10.0, 0.0)])
def test_what_does_not_beat_its_base_is_not_shipped(best, min_gain):
    selection = _select({0.5: best, 1.0: best - 5}, base=62.0, min_gain=min_gain)
    assert selection.part == 0
    assert selection.weights is BASE
    assert selection.measured["dev"] == {"acc@1": 62.0}
    assert len(selection.tried) == 2


def test_the_shortlist_alone_does_not_decide_against_the_base():
    chosen = select(
        BASE, TRAINED, SelectionSettings(interpolation=(1.0,)), {"dev": {"acc@1": 62.0}},
        fast=lambda weights: {"acc@1": 99.0}, whole=lambda weights: {"dev": {"acc@1": 61.0}},
    )  # fmt: skip
    assert chosen.part == 0


def test_weights_that_are_not_numbers_are_never_shipped():
    broken = {"w": torch.tensor([float("nan"), 1.0]), "n": torch.tensor(3)}
    selection = _select({0.5: 99.0, 1.0: 99.0}, base=62.0, trained=broken)
    assert selection.part == 0
    assert selection.tried == []
