"""Fuzzing of all converters: what a damaged file gives is exact, or a coded error, or counted.

`MEDLINK_FUZZ` sets how many mutants of each sample the slow test tries.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from tests.mutants import mutate
from tests.training.corpora.conftest import Files, write_files
from tests.training.corpora.samples import SAMPLES
from training.corpora.convert import without_repeats
from training.corpora.registry import CORPORA, find_corpus
from training.corpora.tally import Tally
from training.corpora.writing import to_record

SHARDS = (
    b"\t\t\t", b"|t|", b"|a|", b"<", b">", b"</", b"&", b"&amp;", b"&x;", b";;", b"::", b"T1\t",
    b"-", b"#1\tAnnotatorNotes T1\t", b"9", b"9" * 30, "é".encode(), "９".encode(),
)  # fmt: skip
NORMAL = 30  # mutants of each sample in the normal test
SLOW = int(os.environ.get("MEDLINK_FUZZ", "3000"))
# No source, no corpus, damaged, entities.
EXPECTED = {"E107", "E160", "E165", "E105"}


def read(name: str, folder: Path, strict: bool = False) -> tuple[list[dict[str, Any]], Tally]:
    tally = Tally(strict)
    documents = without_repeats(find_corpus(name.strip()).read(folder, tally), tally)
    return [to_record(document, tally) for document in documents], tally


def check(records: list[dict[str, Any]], tally: Tally) -> None:
    """Check that lines can be written and read back, and that offsets are exact."""
    for record in records:
        assert json.loads(json.dumps(record).encode()) == record
        "".join(map(str, record.values())).encode()  # no halves of characters
        for mention in record.get("mentions", [record]):
            assert mention["mention"].strip()
            assert all(id.strip() and id.isprintable() for id in mention["ids"])
            if "start" in mention and "text" in record:
                there = record["text"][mention["start"] : mention["end"]]
                assert there == mention["mention"]
    assert tally.documents == len(records)
    told = "\n".join(tally.report())
    assert all(f"{count:,} {problem}" in told for problem, count in tally.faults.items())


def fuzz(name: str, files: Files, folder: Path, chance: random.Random) -> bool:
    """Damage one file of a corpus; tell whether something was counted."""
    victim = chance.choice(sorted(files))
    content = files[victim]
    data = content.encode() if isinstance(content, str) else content
    path = folder / victim
    path.write_bytes(mutate(data, chance, SHARDS))
    try:
        records, tally = read(name, folder)
    except MedlinkError as error:
        assert error.code in EXPECTED, error
        assert str(folder) in error.message
        return True
    finally:
        path.write_bytes(data)
    check(records, tally)
    return bool(tally.faults)


def test_every_converter_has_a_sample() -> None:
    same = {"cometa-specific", "distemist", "medprocner", "medmentions-st21pv"}
    assert {name.strip() for name in SAMPLES} == CORPORA.keys() - same


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_without_fault(name: str, tmp_path: Path) -> None:
    records, tally = read(name, write_files(tmp_path, SAMPLES[name]), strict=True)
    check(records, tally)
    assert tally.mentions


@pytest.mark.parametrize("name", SAMPLES)
def test_mutants(name: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path, SAMPLES[name])
    chance = random.Random(name)
    told = sum(fuzz(name, SAMPLES[name], folder, chance) for _ in range(NORMAL))
    assert told, "no damage was noticed at all"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SAMPLES)
def test_many_mutants(name: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path, SAMPLES[name])
    chance = random.Random(f"slow {name}")
    for _ in range(SLOW):
        fuzz(name, SAMPLES[name], folder, chance)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("change", ["bom", "crlf"])
def test_harmless_changes(name: str, change: str, tmp_path: Path) -> None:
    """A mark of UTF-8 and the line ends of Windows change nothing, in texts neither."""
    if (name, change) == ("mcn", "crlf"):
        pytest.skip("it gives no words that could tell which line ends its offsets count")
    expected, _ = read(name, write_files(tmp_path / "plain", SAMPLES[name]))
    changed: dict[str, str | bytes] = {}
    for path, content in SAMPLES[name].items():
        packed = isinstance(content, bytes)
        data = content if isinstance(content, bytes) else content.encode()
        if not packed and change == "bom":
            data = b"\xef\xbb\xbf" + data
        elif not packed:
            data = data.replace(b"\n", b"\r\n")
        changed[path] = data
    records, tally = read(name, write_files(tmp_path / "changed", changed), strict=True)
    assert tally.mentions == sum(len(record.get("mentions", [1])) for record in records)
    for record in [*records, *expected]:
        if record.get("text"):  # a text without mentions keeps its own line ends
            record["text"] = record["text"].replace("\r\n", "\n")
    assert records == expected
