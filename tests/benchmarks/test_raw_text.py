"""Entities, all mentions and what another program links stand in one table."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import raw_text
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of

TEXT = "Ulcerative colitis, colitis."
MENTIONS = ("ULCER", 0, 18), ("COLITIS", 20, 27)


def test_ways_and_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"HP:0000118": "Abnormality", "COLITIS": "Colitis", "ULCER": "Ulcerative colitis"}
    above = {"COLITIS": ("HP:0000118",), "ULCER": ("COLITIS",)}
    concepts = [
        Concept(id, name, (Name(name),), parents=above.get(id, ())) for id, name in names.items()
    ]
    assets = assets_of(tmp_path, concepts).path
    mentions = [
        {"start": start, "end": end, "mention": TEXT[start:end], "ids": [id], "type": "Disease"}
        for id, start, end in MENTIONS
    ]
    document = {"doc_id": "1", "lang": "en", "text": TEXT, "mentions": mentions}
    gold, other = tmp_path / "gsc_plus.dev.jsonl.gz", tmp_path / "Other.jsonl"
    gold.write_bytes(gzip.compress(json.dumps(document).encode()))
    other.write_text(json.dumps({**document, "mentions": mentions[:1]}), "utf-8")
    monkeypatch.setattr(raw_text, "DATA", tmp_path)
    monkeypatch.setattr(raw_text, "CORPORA", ["corpus"])
    monkeypatch.setattr(raw_text, "diseases", lambda corpus, part, workplace: gold)
    output = tmp_path / "raw.json"
    raw_text.main(assets, assets, "dev", [other], output)
    rows = json.loads(output.read_text())["rows"]
    assert [row["way"] for row in rows] == [*raw_text.WAYS, "Other", *raw_text.WAYS]
    its = rows[len(raw_text.WAYS)]
    assert (its["strict P"], its["strict R"], round(its["strict F1"])) == (100, 50, 67)
    assert rows[0]["strict F1"] == 100 and rows[0]["texts a second"] > 0
    assert "| GSC+ | doc.spans |" in output.with_suffix(".md").read_text()
