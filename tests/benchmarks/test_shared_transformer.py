"""The benchmark of a linker on the pipeline's transformer."""

import json
from pathlib import Path

import pytest

from spacy_medlink.kb import KnowledgeBase

pytest.importorskip("spacy_transformers")

from benchmarks.shared_transformer import measure


def test_all_is_measured(tmp_path: Path, tiny_kb: KnowledgeBase, tiny_encoder: Path) -> None:
    text = "We saw a heart attack."
    mention = {"start": 9, "end": 21, "mention": "heart attack", "ids": ["HP:0001658"]}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"doc_id": "1", "text": text, "mentions": [mention]}))
    found = measure(tiny_encoder, tiny_kb.path, gold, 1)
    assert found["mentions"] == 1
    assert all(found[name] > 0 for name in ("transformer -> ner", "shared", "separate"))
