"""Checksums that nobody published: the first is recorded, another one is refused."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from training.fetching.trust import compare_with_first

FILE = Path("corpora/downloads/gsc-plus/corpus.zip")
ONE, OTHER = "1" * 64, "2" * 64


def test_first_is_recorded_and_later_ones_must_equal_it(tmp_path: Path) -> None:
    record = tmp_path / "downloads" / "checksums.json"
    said = compare_with_first(record, "gsc-plus/corpus.zip", FILE, ONE)
    assert "none is known to compare it with" in said and str(record) in said
    assert compare_with_first(record, "gsc-plus/corpus.zip", FILE, ONE) == "as it first came"
    before = record.read_bytes()
    with pytest.raises(MedlinkError, match=r"E261.*gsc-plus") as caught:
        compare_with_first(record, "gsc-plus/corpus.zip", FILE, OTHER)
    assert ONE in str(caught.value) and OTHER in str(caught.value)
    assert record.read_bytes() == before
    # Who trusts the other file deletes the entry, as the message says.
    record.write_text(record.read_text("utf8").replace("gsc-plus/", "not-"), encoding="utf8")
    compare_with_first(record, "gsc-plus/corpus.zip", FILE, OTHER)
    assert compare_with_first(record, "gsc-plus/corpus.zip", FILE, OTHER) == "as it first came"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"sha256": {}}', '{"format": "spacy-medlink checksums"}',
     '{"format": "spacy-medlink checksums", "sha256": []}'],
)  # fmt: skip
def test_damaged_record_is_not_forgotten_in_silence(tmp_path: Path, text: str) -> None:
    record = tmp_path / "checksums.json"
    record.write_text(text, encoding="utf8")
    with pytest.raises(MedlinkError, match="E160"):
        compare_with_first(record, "a", FILE, ONE)
    assert record.read_text("utf8") == text
