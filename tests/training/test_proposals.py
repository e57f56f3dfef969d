from itertools import pairwise
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.building import build_assets
from spacy_medlink.components.finding.proposals import Heads
from spacy_medlink.errors import MedlinkError
from training.proposals import THRESHOLDS, Figures, choose_threshold, judge_thresholds


def test_figures_of_names(tiny_assets: Assets) -> None:
    figures = judge_thresholds(tiny_assets)
    assert [one.threshold for one in figures] == list(THRESHOLDS)
    for lower, higher in pairwise(figures):
        assert lower.right >= higher.right
        assert lower.wrong >= higher.wrong
    assert 0 < figures[0].right <= 1
    assert 0 < figures[0].wrong <= 2
    assert judge_thresholds(tiny_assets) == figures
    assert choose_threshold(figures, 20) in THRESHOLDS


def test_what_ends_as_no_name_does_is_not_accepted(
    tiny_assets: Assets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Heads, "ends", lambda heads, text: False)
    assert all(one.right == one.wrong == 0 for one in judge_thresholds(tiny_assets))


def test_only_a_branch(tiny_assets: Assets) -> None:
    within = judge_thresholds(tiny_assets, ["HP:0000819"])
    assert within != judge_thresholds(tiny_assets)
    with pytest.raises(MedlinkError, match="E106"):
        judge_thresholds(tiny_assets, ["HP:9"])


def test_the_highest_of_the_best() -> None:
    figures = [Figures(0.7, 0.8, 0.4), Figures(0.8, 0.75, 0.3), Figures(0.9, 0.1, 0.0)]
    assert figures[0].f1 == pytest.approx(2 * (2 / 3) * 0.8 / (2 / 3 + 0.8))
    assert choose_threshold(figures, 10) == 0.8
    assert Figures(0.9, 0.0, 0.0).f1 == 0.0


def test_an_encoder_is_needed(tiny_assets: Assets, tmp_path: Path) -> None:
    bare = build_assets(tmp_path / "bare", tiny_assets.kb.path)
    with pytest.raises(MedlinkError, match=r"E302.*dense"):
        judge_thresholds(bare)
