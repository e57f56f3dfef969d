"""The sorted table of key hashes: the same with and without a second process."""

import sys

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb, lookup, second_process
from spacy_medlink.kb.lookup import LookupSorter
from spacy_medlink.text.normalisation import hash_key, key
from spacy_medlink.types import Concept, Name

TEXTS = [f"{word} {number}" for number in range(500) for word in ("Tumours", "café", "血圧", "---")]


def sorted_entries(directory, texts, chunk):
    sorter = LookupSorter(directory)
    try:
        for first in range(0, len(texts), chunk):
            sorter.add(first, texts[first : first + chunk])
        return np.concatenate(list(sorter.sorted())).tolist()
    finally:
        sorter.close()
        assert not directory.exists()


@pytest.fixture
def expected():
    keys = [(key(text), row) for row, text in enumerate(TEXTS)]
    return sorted(
        (int(np.uint64(hash_key(text)).view(np.int64)), row) for text, row in keys if text
    )


@pytest.mark.parametrize("many", [0, 100, 1000, 10**9])
@pytest.mark.parametrize("chunk", [1, 300, 5000])
def test_sorted_by_hash_and_row(tmp_path, monkeypatch, expected, many, chunk):
    monkeypatch.setattr(lookup, "_MANY", many)
    texts = TEXTS if chunk > 1 else TEXTS[:200]
    found = sorted_entries(tmp_path / "buckets", texts, chunk)
    assert found == [entry for entry in expected if entry[1] < len(texts)]


def test_names_without_key_and_with_half_characters(tmp_path, monkeypatch):
    monkeypatch.setattr(lookup, "_MANY", 0)
    texts = ["", "...", "a\ud800b", "fever"]
    rows = [row for _, row in sorted_entries(tmp_path / "buckets", texts, 4)]
    assert sorted(rows) == [2, 3]


def test_leftovers_of_a_killed_build_are_no_hindrance(tmp_path):
    directory = tmp_path / "buckets"
    directory.mkdir()
    (directory / "00").write_bytes(b"junk")
    assert len(sorted_entries(directory, ["fever"], 1)) == 1


def _concepts():
    for number in range(2000):
        text = f"disease {number}"
        yield Concept(f"C{number}", text, (Name(text),))


def test_a_second_process_that_dies_is_an_error_with_a_code(tmp_path, monkeypatch):
    monkeypatch.setattr(lookup, "_MANY", 0)
    monkeypatch.setattr(second_process, "_CODE", "import sys; sys.exit('no space left')")
    with pytest.raises(MedlinkError, match=r"E109.*no space left"):
        build_kb(tmp_path / "some.kb", _concepts())
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_cannot_be_started_again_does_without(tmp_path, monkeypatch):
    build_kb(tmp_path / "with.kb", _concepts())
    monkeypatch.setattr(lookup, "_MANY", 0)
    build_kb(tmp_path / "two.kb", _concepts())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    build_kb(tmp_path / "frozen.kb", _concepts())
    assert (tmp_path / "two.kb").read_bytes() == (tmp_path / "with.kb").read_bytes()
    assert (tmp_path / "frozen.kb").read_bytes() == (tmp_path / "with.kb").read_bytes()
