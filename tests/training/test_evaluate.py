"""Measuring the linker of a workflow, on whatever gold mentions there are."""

import json
import sys
from pathlib import Path

import pytest

from training.evaluate import evaluate, main, table
from training.verbs import run

KNOWN = '{"mention": "asthma", "ids": ["HP:0002099"]}\n'
UNKNOWN = '{"mention": "plague", "ids": ["XX:1"]}\n'


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    directory = tmp_path / "gold"
    directory.mkdir()
    (directory / "train.jsonl").write_text(KNOWN, encoding="utf8")
    return directory


def test_each_corpus_has_its_column(tiny_assets, tiny_encoder, gold: Path) -> None:
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


def test_nothing_to_measure_with(
    tiny_assets, gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "metrics" / "evaluation.json"
    output.parent.mkdir()
    monkeypatch.setattr(
        sys, "argv", ["evaluate", str(tiny_assets.path), str(gold), "--output", str(output)]
    )
    for _ in range(2):  # a second time replaces what the first wrote
        with pytest.raises(SystemExit) as end:
            run(main)
        assert not end.value.code
    assert json.loads(output.read_text("utf8"))["corpora"] == {}
    assert "No gold mentions" in output.with_suffix(".md").read_text("utf8")
