"""The benchmark of pipelines: its documents, what it calls added, and its table."""

import json

from benchmarks import pipeline_tasks, pipeline_work
from benchmarks.pipeline import table
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from tests.pipelines import pipeline

NAMES = ["Heart attack", "Fever", "Type 2 diabetes", "PE"]


def test_documents_of_texts_say_where_mentions_are():
    documents = pipeline_work._of_texts(NAMES * 6)
    assert [len(one["ents"]) for one in documents] == [10, 10, 4]
    found = [one["text"][start:end] for one in documents for start, end in one["ents"]]
    assert found == NAMES * 6


def test_swapped_names_are_no_names():
    swapped = pipeline_work._swapped(["abcdefgh", "heart attack", "PE"])
    assert len(swapped) == 2
    for one, name in zip(swapped, ("abcdefgh", "heart attack"), strict=True):
        assert one != name
        assert sorted(one) == sorted(name)


def test_distinct_mentions_occur_once(tmp_path):
    line = {"text": "fever, heart attack, fever", "mentions": [
        {"start": 0, "end": 5, "ids": []}, {"start": 7, "end": 19, "ids": []},
        {"start": 21, "end": 26, "ids": []},
    ]}  # fmt: skip
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(line)}\n")
    (document,) = pipeline_work._abstracts([tmp_path / "a.jsonl"], 100)
    assert document["ents"] == [[0, 5], [7, 19]]
    (document,) = pipeline_work._abstracts([tmp_path / "a.jsonl"], 1)
    assert document["ents"] == [[0, 5]]
    every = pipeline_work._abstracts([tmp_path / "a.jsonl"], 1, repeats=True)
    assert [one["ents"] for one in every] == 2 * [[[0, 5], [7, 19], [21, 26]]]


def test_gold_ids_of_another_terminology_mean_what_shares_a_name(tmp_path):
    def concept(id, *names):
        return Concept(id, names[0], tuple(map(Name, names)))

    build_kb(tmp_path / "ours", [
        concept("C1", "Heart attack"), concept("C2", "MI"), concept("C3", "Fever"),
    ])  # fmt: skip
    build_kb(tmp_path / "theirs", [concept("D1", "Heart attacks", "mi"), concept("D2", "Cough")])
    ours, theirs = KnowledgeBase(tmp_path / "ours"), KnowledgeBase(tmp_path / "theirs")
    assert pipeline_work._same(ours, theirs, "D1") == {"C1", "C2"}
    assert pipeline_work._same(ours, theirs, "D2") == set()
    assert pipeline_work._same(ours, theirs, "C3") == set()
    assert pipeline_work._same(ours, None, "C3") == {"C3"}
    assert pipeline_work._same(ours, None, "D1") == set()


def test_tasks_measure_a_pipeline(tiny_assets, tmp_path):
    nlp = pipeline(tiny_assets)
    nlp.to_disk(tmp_path / "pipeline")
    documents = pipeline_work._of_texts(NAMES)
    gold = [{**documents[0], "ids": [["HP:0001658"], ["HP:0001945"], ["no such"], []]}]
    sets = {"distinct": documents, "names": documents, "gold": gold, "stream": documents}
    (tmp_path / "documents.json").write_text(json.dumps(sets))
    found = pipeline_tasks.ours(str(tmp_path / "pipeline"), str(tmp_path / "documents.json"))
    assert found["accuracy"] == {"mentions": 4, "acc@1": 0.5, "acc@5": 0.5}
    assert found["ms_a_mention"] > 0
    start = pipeline_tasks.cold_start(str(tmp_path / "pipeline"), alone=False, torch=True)
    assert next(iter(start["parts"])) == "import spacy"
    assert start["s"] > 0
    results = {
        "linking": {"added": {"the same again, from the cache": {"ms_a_document": 1.0}}},
        "cold_start": {"without it": start},
        "side_by_side": {
            "ours": found, "light": found,
            "scispacy": {**found, "accuracy": {"its settings": found["accuracy"]}},
        },
        "sets": {"distinct": 4, "names": 50, "distinct_from": ["a.jsonl"]},
        "machine": {"cores": 2},
    }  # fmt: skip
    text = table(results)
    assert "| the same again, from the cache |  | 0.05 | 1.000 |" in text
    assert "| scispaCy, its settings | 50.0 | 50.0 |" in text
    assert "| medical_linker, without it | 50.0 | 50.0 |" in text
    assert "(target 3 s, 250 MB)" in text
    assert "4 distinct mentions (from a.jsonl), 50 names" in text
