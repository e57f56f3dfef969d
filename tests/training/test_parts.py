"""The parts of the corpora of a workflow: who teaches, who chooses, who measures."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from tests.training.corpora.samples import files_of, write_files
from training.parts import PARTS, divide, make_parts, read_parts


def _records(name: str, count: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {"doc_id": f"{number}", "text": f"{name} {number} cough",
         "mentions": [{"mention": "cough", "ids": ["HP:0012735"]}]}
        for number in range(first, first + count)
    ]  # fmt: skip


def _put(corpora: Path, name: str, part: str, records: list[dict[str, Any]]) -> None:
    corpora.mkdir(exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    (corpora / f"{name}.{part}.jsonl.gz").write_bytes(gzip.compress(text.encode()))


@given(st.fixed_dictionaries({part: st.integers(0, 60) for part in PARTS}))
def test_every_document_stays_and_none_is_in_two_parts(counts):
    parts = {part: _records(part, count) for part, count in counts.items()}
    made = divide(parts)
    texts = [record["text"] for part in PARTS for record in made[part]]
    assert sorted(texts) == sorted(one["text"] for own in parts.values() for one in own)
    assert divide(parts) == made
    if counts["test"]:
        assert made["test"] == parts["test"]
    elif counts["dev"]:
        assert made["test"] == parts["dev"]
    if counts["train"] >= 20:
        assert all(made.values())
        assert len(made["train"]) >= 0.8 * counts["train"] - 2


def test_what_measures_in_one_corpus_teaches_in_none(tmp_path):
    corpora, gold = tmp_path / "corpora", tmp_path / "gold"
    shared = _records("abstract", 3)
    _put(corpora, "one", "train", [*_records("one", 20), *shared])
    _put(corpora, "two_b", "test", [*shared, *_records("two", 4, first=7)])
    counts = make_parts(["one", "two-b", "one"], corpora, gold)
    assert counts["two-b"] == {"train": 0, "dev": 0, "test": 7}
    assert sum(counts["one"].values()) <= 23
    files = sorted(path.name for path in gold.glob("*.jsonl"))
    assert files == ["dev.jsonl", "one.test.jsonl", "train.jsonl", "two-b.test.jsonl"]
    read = {path.name: list(read_gold(path, strict=True)) for path in gold.glob("*.jsonl")}
    measured = {own.text for name in files if ".test" in name for own in read[name]}
    taught = {own.text for name in ("train.jsonl", "dev.jsonl") for own in read[name]}
    assert measured and taught and not measured & taught
    # Two corpora that give one id to different documents do not meet.
    assert {own.doc_id.split("/")[0] for own in read["train.jsonl"]} == {"one"}
    before = {path.name: path.read_bytes() for path in gold.glob("*.jsonl")}
    make_parts(["one", "two-b"], corpora, gold)
    assert {path.name: path.read_bytes() for path in gold.glob("*.jsonl")} == before


def test_nothing_there_gives_empty_files(tmp_path):
    (tmp_path / "corpora").mkdir()
    assert make_parts(["gsc-plus"], tmp_path / "corpora", tmp_path / "gold") == {}
    assert [(tmp_path / "gold" / f"{part}.jsonl").read_bytes() for part in PARTS[:2]] == [b"", b""]
    with pytest.raises(MedlinkError, match="E108"):
        make_parts(["no-corpus"], tmp_path / "corpora", tmp_path / "gold")


def test_downloads_are_converted_by_their_own_parts(tmp_path):
    write_files(tmp_path / "gsc-plus", files_of("gsc-plus", "PhenoTagger"))
    write_files(tmp_path / "medmentions", files_of("medmentions"))
    parts = read_parts("gsc-plus", tmp_path)
    assert parts.keys() == {"dev"} and parts["dev"][0]["mentions"]
    assert read_parts("medmentions", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gsc-plus", "medmentions"]
    counts = make_parts(["gsc-plus"], tmp_path, tmp_path / "gold")
    assert counts["gsc-plus"]["test"] == len(parts["dev"])


def test_folds_that_repeat_each_other_count_once(tmp_path):
    for fold in (0, 1):
        for part, phrase in (("train", "bad cough"), ("validation", "coughing"), ("test", "cough")):
            file = tmp_path / "askapatient" / f"AskAPatient.fold-{fold}.{part}.txt"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"49727002\tcough\t{phrase}\n", encoding="utf8")
    parts = read_parts("askapatient", tmp_path)
    assert {part: len(own) for part, own in parts.items()} == {"train": 1, "dev": 1, "test": 1}


def test_bad_line_is_named(tmp_path):
    (tmp_path / "mine.train.jsonl").write_text("{nothing\n", encoding="utf8")
    with pytest.raises(MedlinkError, match=r"E401.*line 1"):
        read_parts("mine", tmp_path)


def test_types_that_the_terminology_is_not_about(tmp_path, tiny_kb):
    corpora = tmp_path / "corpora"
    records = _records("one", 20)
    for record in records:
        known = {"mention": "asthma", "ids": ["HP:0002099"], "type": "Disease"}
        nil = {"mention": "ill", "ids": [], "type": "Disease"}
        drug = {"mention": "aspirin", "ids": ["D001241"], "type": "Chemical"}
        record["mentions"] = [known, nil, drug]
    _put(corpora, "one", "train", records)
    make_parts(["one"], corpora, tmp_path / "gold", kb=tiny_kb)
    read = read_gold(tmp_path / "gold" / "train.jsonl")
    assert {mention.text for doc in read for mention in doc.mentions} == {"asthma", "ill"}
