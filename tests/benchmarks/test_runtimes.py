"""The benchmark of the runtimes, over a tiny terminology."""

import sys
from pathlib import Path

import pytest

from benchmarks.runtimes import changed, main, speeds
from spacy_medlink.assets import Assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase


def test_all_runtimes_are_measured(tiny_encoder: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    found = speeds(BiEncoder.load(tiny_encoder), ["fever", "asthma"], tmp_path)
    assert {"torch fp32", "onnx fp32", "onnx int8"} <= set(found)
    assert all(speed > 0 for speed in found.values())


def test_the_same_encoder_changes_nothing(tiny_assets: Assets, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"mention": "hart attack", "ids": ["HP:0001658"]}\n')
    found = changed(tiny_assets, tiny_assets.encoder, [gold])
    assert found == {"gold.jsonl": {"mentions": 1, "changed": 0}}


@pytest.mark.slow
def test_the_whole_writes_its_table(
    tiny_kb: KnowledgeBase, tiny_encoder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime")
    output = tmp_path / "found.json"
    main(
        tmp_path, tiny_kb.path, tiny_encoder, python=[f"here=onnx={sys.executable}"], output=output
    )
    text = output.with_suffix(".md").read_text("utf8")
    assert "| here, onnx |" in text and "| onnx int8 |" in text
