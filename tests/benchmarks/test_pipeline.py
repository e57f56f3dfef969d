"""The benchmark of pipelines: its documents, and what it measures of a linker."""

import json
from pathlib import Path

from benchmarks import pipeline
from benchmarks.measured import as_table
from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase, build_kb
from tests.tiny import concept

NAMES = ["Heart attack", "Fever", "Type 2 diabetes", "PE"]


def test_documents_of_texts_say_where_mentions_are() -> None:
    documents = pipeline._of_texts(NAMES * 6)
    assert [len(one["ents"]) for one in documents] == [10, 10, 4]
    found = [one["text"][start:end] for one in documents for start, end in one["ents"]]
    assert found == NAMES * 6


def test_distinct_mentions_occur_once(tmp_path: Path) -> None:
    line = {"text": "fever, heart attack, fever", "mentions": [
        {"start": 0, "end": 5, "ids": []}, {"start": 7, "end": 19, "ids": []},
        {"start": 21, "end": 26, "ids": []},
    ]}  # fmt: skip
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(line)}\n")
    (document,) = pipeline._abstracts([tmp_path / "a.jsonl"], 100)
    assert document["ents"] == [[0, 5], [7, 19]]
    (document,) = pipeline._abstracts([tmp_path / "a.jsonl"], 1)
    assert document["ents"] == [[0, 5]]
    every = pipeline._abstracts([tmp_path / "a.jsonl"], 1, repeats=True)
    assert [one["ents"] for one in every] == 2 * [[[0, 5], [7, 19], [21, 26]]]


def test_gold_ids_of_another_terminology_mean_what_shares_a_name(tmp_path: Path) -> None:
    build_kb(tmp_path / "ours", [
        concept("C1", "Heart attack"), concept("C2", "MI"), concept("C3", "Fever"),
    ])  # fmt: skip
    build_kb(tmp_path / "theirs", [concept("D1", "Heart attacks", "mi"), concept("D2", "Cough")])
    ours, theirs = KnowledgeBase(tmp_path / "ours"), KnowledgeBase(tmp_path / "theirs")
    assert pipeline._same(ours, theirs, "D1") == {"C1", "C2"}
    assert pipeline._same(ours, theirs, "D2") == set()
    assert pipeline._same(ours, theirs, "C3") == set()
    assert pipeline._same(ours, None, "C3") == {"C3"}
    assert pipeline._same(ours, None, "D1") == set()


def test_a_linker_is_measured(tiny_assets: Assets, tmp_path: Path) -> None:
    documents = pipeline._of_texts(NAMES)
    gold = [{**documents[0], "ids": [["HP:0001658"], ["HP:0001945"], ["no such"], []]}]
    sets = {"distinct": documents, "names": documents, "gold": gold, "stream": documents}
    (tmp_path / "documents.json").write_text(json.dumps(sets))
    found = pipeline.run_task(
        "benchmarks.pipeline.link",
        source=str(tiny_assets.path), documents=str(tmp_path / "documents.json"),
    )  # fmt: skip
    assert (found["acc@1"], found["acc@5"]) == (50.0, 50.0)
    assert found["ms a distinct mention"] > 0 and found["peak_rss_mb"] > 0


def test_a_table_has_a_column_for_each_figure() -> None:
    table = as_table([{"linker": "ours", "names": 12_345}, {"linker": "other", "ms": 1.23456}])
    assert table.splitlines() == [
        "| linker | names | ms |", "|---|---|---|", "| ours | 12,345 |  |", "| other |  | 1.235 |",
    ]  # fmt: skip
