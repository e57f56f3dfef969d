"""`medlink annotate`: what is said on the way; what it writes is tested in tests/annotate."""

import json
from pathlib import Path

import pytest

from spacy_medlink.assets import Assets
from tests.cli.conftest import Fail, Run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"doc_id": "a", "text": "A fever."}\n{"doc_id": "b"}\n')
    return path


def test_a_run(run: Run, notes: Path, tiny_assets: Assets, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run("annotate", notes, out, "--assets", tiny_assets.path, "--candidates", 3)
    assert result.stdout == f"1 documents linked: {out}\n"
    assert result.stderr == f"1 set aside, with the reason: {out}.bad.jsonl\n"
    record = json.loads(out.read_text())
    (mention,) = record["mentions"]
    assert (mention["mention"], mention["ids"]) == ("fever", ["HP:0001945"])
    assert len(mention["candidates"]) == 3
    assert "text" not in record


def test_options(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,note\n7,Type 2 diabetes\n")
    run(
        "annotate", tmp_path / "a.csv", tmp_path / "o.jsonl", "--assets", tiny_assets.path,
        "--text-column", "note", "--id-column", "n", "--cui-scheme", "ICD10CM", "--keep-text",
        "--threshold", 0.1,
    )  # fmt: skip
    record = json.loads((tmp_path / "o.jsonl").read_text())
    assert (record["doc_id"], record["text"]) == ("7", "Type 2 diabetes")
    assert record["mentions"][0]["cui"] == "E11"


def test_mistakes(run: Run, fail: Fail, notes: Path, tiny_assets: Assets, tmp_path: Path) -> None:
    given = ("--assets", tiny_assets.path)
    assert "--overwrite" in fail("E612", "annotate", notes, notes, *given)
    assert ".parquet" in fail("E611", "annotate", notes, tmp_path / "out.doc", *given)
    assert "E107" in fail("E107", "annotate", tmp_path / "no.jsonl", tmp_path / "o.jsonl", *given)
    for option, value in (("--engine", "x"), ("--threshold", 2)):
        result = run("annotate", notes, tmp_path / "o.jsonl", *given, option, value, expect=2)
        assert option in result.stderr
