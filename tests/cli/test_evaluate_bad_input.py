"""Gold files that are not what they should be, each met by the whole command."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from tests.cli.conftest import Fail, Run

TEXT = "Fever and asthma, no fever."


def _document(start: int, end: int, said: str, *ids: str, **other: Any) -> dict[str, Any]:
    mention = {"start": start, "end": end, "mention": said, "ids": list(ids)}
    return {"text": TEXT, "mentions": [mention], **other}


def _write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _evaluate(run: Run, assets: Assets, gold: Path, *options: object) -> tuple[str, dict[str, Any]]:
    output = gold.with_suffix(".metrics.json")
    result = run("evaluate", assets.path, gold, "--tiers", "exact", "--output", output, *options)
    return result.stderr, json.loads(output.read_text(encoding="utf-8"))


def test_of_many_mismatches_ten_are_shown(
    run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path
) -> None:
    wrong = [_document(0, 4, "Fever", "HP:0001945") for _ in range(13)]
    gold = _write(tmp_path / "gold.jsonl", _document(0, 5, "Fever", "HP:0001945"), *wrong)
    stderr, metrics = _evaluate(run, tiny_assets, gold)
    assert stderr.startswith("[W402] 13 gold mentions are not what")
    assert [f"line {line}:" in stderr for line in range(2, 15)] == [True] * 10 + [False] * 3
    assert "Fever" not in stderr
    assert (metrics["mismatches"], metrics["n"], metrics["acc@1"]) == (13, 14, 1.0)
    assert "line 2" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")


def test_ids_that_no_knowledge_base_knows(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        _document(0, 5, "Fever", "Q1"),
        _document(10, 16, "asthma", "no such id", "X:0"),
    )
    stderr, metrics = _evaluate(run, tiny_assets, gold, "--train", gold, "--end-to-end")
    assert stderr.startswith("[W401] 2 of 2 gold mentions have no id")
    assert (metrics["n"], metrics["gold_in_kb"], metrics["acc@1"], metrics["mrr"]) == (2, 0, 0, 0)
    assert metrics["verdicts"]["not in KB"] == 2
    assert metrics["gold"]["ids"] == {"unknown": 3}
    assert metrics["end_to_end"]["strict"]["recall"] == 0
    stderr, metrics = _evaluate(run, tiny_assets, gold, "--only-known")
    assert stderr.startswith("[W401] 2 of 2")
    assert (metrics["n"], metrics["acc@1"], metrics["gold"]["left_out"]) == (0, None, 2)


# Without a time: all processes of a run must see the same tests.
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(fail: Fail, tiny_assets: Assets, tmp_path: Path, content: bytes) -> None:
    name = "empty.jsonl.gz" if content.startswith(b"\x1f\x8b") else "empty.jsonl"
    empty, gold = tmp_path / name, _write(tmp_path / "gold.jsonl", _document(0, 5, "Fever", "A"))
    empty.write_bytes(content)
    assert name in fail("E404", "evaluate", tiny_assets.path, empty)
    assert name in fail("E404", "evaluate", tiny_assets.path, gold, "--train", empty)


def test_two_documents_with_one_id(
    run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path
) -> None:
    lines = [_document(0, 5, "Fever", "HP:0001945", doc_id=id) for id in ("a", "b", "a")]
    gold = _write(tmp_path / "gold.jsonl", *lines)
    stderr, metrics = _evaluate(run, tiny_assets, gold)
    assert "line 3: the document 'a' is in line 1 already" in stderr
    # They are told apart all the same: three documents, three mentions.
    assert (metrics["gold"]["documents"], metrics["gold"]["repeated_documents"]) == (3, 1)
    assert metrics["n"] == 3
    assert "line 3" in fail("E403", "evaluate", tiny_assets.path, gold, "--strict")


def test_offsets_past_the_end(fail: Fail, tiny_assets: Assets, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", _document(20, 99, "fever.", "HP:0001945"))
    assert "line 1" in fail("E401", "evaluate", tiny_assets.path, gold)
