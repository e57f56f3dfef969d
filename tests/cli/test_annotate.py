"""`medlink annotate`: what is said on the way; what it writes is tested in tests/annotate."""

import json
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.annotate import run as run_module
from spacy_medlink.annotate.documents import Done


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"doc_id": "a", "text": "A fever."}\n{"doc_id": "b"}\n')
    return path


def test_a_run(run, notes, tiny_assets, tmp_path):
    out = tmp_path / "out.jsonl"
    # One document has no text: all that could be linked was, but not all was linked.
    result = run("annotate", tiny_assets.path, notes, "--output", out, "--candidates", 3, expect=3)
    assert result.stdout == f"2 documents, 1 mentions, 1 links, 0 NIL, 1 set aside: {out}\n"
    assert result.stderr.endswith(f"1 set aside, with the reason: {out}.bad.jsonl\n")
    record = json.loads(out.read_text())
    (mention,) = record["mentions"]
    assert (mention["mention"], mention["ids"]) == ("fever", ["HP:0001945"])
    assert [candidate["id"] for candidate in mention["candidates"]] == ["HP:0001945"]
    assert "text" not in record
    notes.write_text('{"doc_id": "a", "text": "A severe heart attak."}\n')  # no name settles it
    for count in (2, 3):
        run(
            "annotate",
            tiny_assets.path,
            notes,
            "--output",
            out,
            "--candidates",
            count,
            "--overwrite",
        )
        (mention,) = json.loads(out.read_text())["mentions"]
        assert len(mention["candidates"]) == count


def test_a_run_in_which_nothing_could_be_read_says_why(run, fail, tiny_assets, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "a", "text": null}\n{"id": "b"}\n')
    for earlier in (None, "dear\n"):
        said = fail("E407", "annotate", tiny_assets.path, source, "--output", out, "--overwrite")
        assert "Set aside: 2 (" in said and "The first, line 1: no text." in said
        assert (out.read_text() if out.exists() else None) == earlier
        out.write_text("dear\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "in.jsonl", "out.jsonl", "out.jsonl.bad.jsonl",
    }  # fmt: skip
    source.write_text('{"key": "a", "text": "Fever."}\n')
    said = fail("E615", "annotate", tiny_assets.path, source, "--output", out, "--overwrite")
    assert "in.jsonl, line 1 has no column for the id; it has: key, text." in said


def test_repeated_ids_are_reported(run, tiny_assets, tmp_path):
    ids = ["a", "b", "a", "c", "a", "b"]
    lines = [json.dumps({"doc_id": id, "text": "fever, HTN"}) for id in ids]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    out = tmp_path / "out.jsonl"
    given = (tiny_assets.path, tmp_path / "in.jsonl", "--output", out)
    result = run("annotate", *given, "--threshold", 1)
    assert re.search(r"W342\] 3 documents .*\('a', 'b'\)", result.stderr)
    mentions = sum(len(json.loads(line)["mentions"]) for line in out.read_text().splitlines())
    links = out.read_text().count('"reason": null')
    assert result.stdout == (
        f"6 documents, {mentions} mentions, {links} links, {mentions - links} NIL, 0 set aside, "
        f"3 with the id of another: {out}\n"
    )


def test_interrupted(run, tiny_assets, tmp_path, monkeypatch):
    lines = [json.dumps({"doc_id": str(number), "text": "A fever."}) for number in range(1100)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    out = tmp_path / "out.jsonl"
    given = (tiny_assets.path, tmp_path / "in.jsonl", "--output", out)
    real = run_module.run_local

    def stopped(*arguments: Any) -> Iterator[Done | int]:
        steps = real(*arguments)
        for _ in range(2):
            yield from takewhile(lambda step: not isinstance(step, Done), steps)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "run_local", stopped)
        result = run("annotate", *given, expect=130)
    assert "2 parts are done and kept" in result.stderr
    assert "same command" in result.stderr
    result = run("annotate", *given)
    assert "2 parts were done already" in result.stderr
    assert (
        result.stdout
        == f"1,100 documents, 1,100 mentions, 1,100 links, 0 NIL, 0 set aside: {out}\n"
    )


def test_options(run, tiny_assets, tmp_path):
    (tmp_path / "a.csv").write_text("n,note\n7,Type 2 diabetes\n")
    run(
        "annotate", tiny_assets.path, tmp_path / "a.csv", "--output", tmp_path / "o.jsonl",
        "--columns", "text=note,id=n", "--keep-text",
        "--threshold", 0.1,
    )  # fmt: skip
    record = json.loads((tmp_path / "o.jsonl").read_text())
    assert (record["doc_id"], record["text"]) == ("7", "Type 2 diabetes")
    assert record["mentions"][0]["cui"] == "C0011860"


def test_mistakes(run, fail, notes, tiny_assets, tmp_path):
    verb = ("annotate", tiny_assets.path)
    out = ("--output", tmp_path / "o.jsonl")
    fail("E122", *verb, notes, "--output", notes)
    assert ".parquet" in fail("E611", *verb, notes, "--output", tmp_path / "out.doc")
    assert "E107" in fail("E107", *verb, tmp_path / "no.jsonl", *out)
    for option, value in (("--engine", "x"), ("--threshold", 2), ("--columns", "text=")):
        result = run(*verb, notes, *out, option, value, expect=2)
        assert option in result.stderr
