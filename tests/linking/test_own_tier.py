"""A tier that a package brings: what CONTRIBUTING shows is built, asked and refused."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBaseBuilder
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.types import Concept, Mention, Name
from spacy_medlink.util import sides
from tests.docs.markdown import ROOT, blocks_of
from tests.mutants import refused

TIER = "consonants"
NAMES = {"D1": "nephritis", "D2": "gout", "D3": "asthma", "D4": "naphratos"}


@pytest.fixture
def assets(tmp_path, monkeypatch):
    (block,) = [
        block for block in blocks_of(ROOT / "CONTRIBUTING.md") if "test_own_tier" in block.not_run
    ]
    (tmp_path / "own_tier_of_docs.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint(TIER, "own_tier_of_docs:ConsonantTier", "medlink_tiers")
    registered = sides._registered

    def with_own(group: str) -> dict[str, EntryPoint]:
        points = registered(group)
        return {**points, TIER: point} if group == point.group else points

    monkeypatch.setattr(sides, "_registered", with_own)
    with KnowledgeBaseBuilder(tmp_path / "kb") as builder:
        for id, name in NAMES.items():
            builder.add(Concept(id, name, (Name(name),)))
    yield build_assets(tmp_path / "assets", tmp_path / "kb")
    sys.modules.pop("own_tier_of_docs")


def test_a_package_brings_a_tier(assets):
    assert assets.tiers == ["exact", TIER, "ngram"]
    linker = assets.engine(["exact", TIER], calibrator=False)
    ((first, second),) = linker.rank([Mention("nefritis")], 5)
    assert {first.scores[TIER], second.scores[TIER]} == {1.0}
    assert {first.row, second.row} == {0, 3}
    (ranking,) = assets.engine(calibrator=False).rank([Mention("nefritis")], 5)
    assert ranking[0].row == 0  # the n-gram tier tells these two apart
    assert ranking[0].scores.keys() >= {TIER, "ngram"}


def test_its_searches_keep_to_the_mask(assets):
    allowed = Mask.of(np.array([False, True, True, True]))
    hits = assets.tier(TIER).search(["nefritis", "cough"], 2, allowed)
    assert hits.rows.tolist() == [[3, -1], [-1, -1]]


def test_damaged_files_are_refused(assets):
    file = assets.path / TIER / "codes.npy"
    refused(file, "cut at its end", lambda: Assets(assets.path).tier(TIER))


def test_a_missing_package_is_named(assets, monkeypatch):
    monkeypatch.undo()
    with pytest.raises(MedlinkError, match=r"E108.*tier .consonants."):
        Assets(assets.path).engine()
