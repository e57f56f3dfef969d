"""What another program links stands in the table beside ours."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import raw_text
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of

TEXT = "Ulcerative colitis, colitis."
OURS, ITS = ("COLITIS", 20, 27), ("ULCER", 0, 18)


def _write(path: Path, *mentions: tuple[str, int, int]) -> Path:
    own = [{"start": start, "end": end, "mention": TEXT[start:end], "ids": [id], "type": "Disease"}
           for id, start, end in mentions]  # fmt: skip
    line = json.dumps({"doc_id": "1", "lang": "en", "text": TEXT, "mentions": own}) + "\n"
    path.write_bytes(gzip.compress(line.encode()) if path.suffix == ".gz" else line.encode())
    return path


def test_ways_and_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"HP:0000118": "Abnormality", "COLITIS": "Colitis", "ULCER": "Ulcerative colitis"}
    above = {"COLITIS": ("HP:0000118",), "ULCER": ("COLITIS",)}
    concepts = [
        Concept(id, name, (Name(name),), parents=above.get(id, ())) for id, name in names.items()
    ]
    assets = assets_of(tmp_path, concepts).path
    gold = _write(tmp_path / "gsc_plus.dev.jsonl.gz", OURS, ITS)
    monkeypatch.setattr(raw_text, "DATA", tmp_path)
    monkeypatch.setattr(raw_text, "CORPORA", ["corpus"])
    monkeypatch.setattr(raw_text, "diseases", lambda corpus, part, workplace: gold)
    other = _write(tmp_path / "Other.jsonl", ITS)
    output = tmp_path / "raw.json"
    raw_text.main(assets, assets, "dev", [other], output)
    rows = json.loads(output.read_text())["rows"]
    assert [row["way"] for row in rows] == [*raw_text.WAYS, "Other", *raw_text.WAYS]
    its = rows[len(raw_text.WAYS)]["strict"]
    assert (its["precision"], its["recall"], round(its["f1"], 2)) == (1.0, 0.5, 0.67)
    assert rows[0]["strict"]["f1"] == 1.0
    assert "| GSC+ | Other |" in output.with_suffix(".md").read_text()
