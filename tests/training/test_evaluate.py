"""Measuring the linker of a workflow, on whatever gold mentions there are."""

import json

import pytest
import spacy

from tests.lines import note, write_lines
from training import package
from training.evaluate import evaluate, main, table

KNOWN = '{"mention": "asthma", "ids": ["HP:0002099"]}\n'
UNKNOWN = '{"mention": "plague", "ids": ["XX:1"]}\n'


@pytest.fixture
def gold(tmp_path):
    directory = tmp_path / "gold"
    directory.mkdir()
    (directory / "train.jsonl").write_text(KNOWN, encoding="utf8")
    return directory


def test_each_corpus_has_its_column(tiny_assets, tiny_encoder, gold):
    (gold / "one.test.jsonl").write_text(2 * KNOWN + UNKNOWN, encoding="utf8")
    (gold / "other.test.jsonl").write_text(UNKNOWN, encoding="utf8")
    results = evaluate(tiny_assets.path, gold, tiny_encoder)
    one = results["corpora"]["one"]
    assert one["mentions"] == 2 and one["systems"]["linker"] == {"acc@1": 100.0, "acc@5": 100.0}
    assert {"exact", "ngram", "dense", "base"} <= one["systems"].keys()
    assert "no mention of" in results["left_out"]["other"]
    page = table(results)
    assert "| linker | 100.0 / 100.0 |" in page and "one (2 mentions)" in page
    assert "other is left out" in page


def test_nothing_to_measure_with(tiny_assets, gold, tmp_path, call):
    output = tmp_path / "metrics" / "evaluation.json"
    output.parent.mkdir()
    for _ in range(2):  # a second time replaces what the first wrote
        assert call(main, tiny_assets.path, gold, "--output", output)[0] == 0
    assert json.loads(output.read_text("utf8"))["corpora"] == {}
    assert "No gold mentions" in output.with_suffix(".md").read_text("utf8")


def test_a_pipeline_from_raw_text(tiny_assets, gold, tmp_path, call):
    """One whose mentions another pipeline finds."""
    ner = spacy.blank("en")
    ner.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "asthma"}])  # type: ignore[attr-defined]  # a ruler
    ner.to_disk(tmp_path / "ner")
    pipeline, output = tmp_path / "pipeline", tmp_path / "evaluation.json"
    made = call(package.main, tiny_assets.path, pipeline, "--ner", tmp_path / "ner")
    assert made[0] == 0
    assert spacy.load(pipeline).pipe_names == ["entity_ruler", "medical_linker"]
    write_lines(gold / "one.test.jsonl", note("No asthma.", ("asthma", "HP:0002099")))
    code, out, _ = call(main, pipeline, gold, "--output", output)
    assert code == 0 and "| one | strict | 100.0 | 100.0 | 100.0 |" in out
    assert json.loads(output.read_text("utf8"))["end_to_end"]["one"]["strict"]["f1"] == 1.0
