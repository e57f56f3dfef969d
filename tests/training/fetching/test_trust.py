"""Checksums that nobody published: the first is recorded, another one is refused."""

import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from training.fetching.trust import Trust

FILE = Path("corpora/downloads/gsc-plus/corpus.zip")
ONE, OTHER = "1" * 64, "2" * 64


def test_first_is_recorded_and_later_ones_must_equal_it(tmp_path: Path) -> None:
    record = tmp_path / "downloads" / "checksums.json"
    said = Trust(record).check("gsc-plus/corpus.zip", FILE, ONE)
    assert "none is known to compare it with" in said and str(record) in said
    assert "as it first came, on 20" in Trust(record).check("gsc-plus/corpus.zip", FILE, ONE)
    before = record.read_bytes()
    with pytest.raises(MedlinkError, match=r"E261.*gsc-plus") as caught:
        Trust(record).check("gsc-plus/corpus.zip", FILE, OTHER)
    assert ONE in str(caught.value) and OTHER in str(caught.value)
    assert record.read_bytes() == before
    Trust(record).check("mantra/GSC.zip", FILE, OTHER)
    assert len(json.loads(record.read_text("utf8"))["files"]) == 2


def test_user_can_trust_another_one(tmp_path: Path) -> None:
    record = tmp_path / "checksums.json"
    Trust(record).check("a", FILE, ONE)
    facts = json.loads(record.read_text("utf8"))
    del facts["files"]["a"]
    record.write_text(json.dumps(facts), encoding="utf8")
    Trust(record).check("a", FILE, OTHER)
    assert "as it first came" in Trust(record).check("a", FILE, OTHER)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"files": {}}', '{"format": "spacy-medlink checksums"}',
     '{"format": "spacy-medlink checksums", "files": {"a": "1111"}}'],
)  # fmt: skip
def test_damaged_record_is_not_forgotten_in_silence(tmp_path: Path, text: str) -> None:
    record = tmp_path / "checksums.json"
    record.write_text(text, encoding="utf8")
    with pytest.raises(MedlinkError, match="E262"):
        Trust(record).check("a", FILE, ONE)
    assert record.read_text("utf8") == text
