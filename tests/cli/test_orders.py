"""One order for all verbs; the old ones work for one more release, with a warning."""

import json
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.kb import KnowledgeBase
from tests.cli.conftest import Run

LINE = {"concept_id": "J1", "canonical_name": "Asthma", "aliases": ["asma"]}
GOLD = {"mention": "wheezy chest", "ids": ["J1"]}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("terms.jsonl").write_text(json.dumps(LINE) + "\n")
    Path("gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    Path("notes.jsonl").write_text('{"doc_id": "1", "text": "Known asthma."}\n')
    run("kb", "build", "terms.jsonl", "--from", "jsonl", "--output", "my.kb")
    run("build", "my.kb", "--output", "my.assets")
    return tmp_path


def contents(path: Path) -> Any:
    if path.is_dir():
        return Assets(path).manifest["kb"]["names"]
    if path.suffix == ".kb":
        kb = KnowledgeBase(path)
        return [(name.text, name.lang) for _, name in kb.iter_names()]
    return path.read_text()


ORDERS = [
    ("kb build OUT --from jsonl terms.jsonl", "kb build terms.jsonl --from jsonl --output OUT"),
    ("kb build OUT terms.jsonl --from jsonl", "kb build --output OUT --from jsonl terms.jsonl"),
    ("kb add-mentions OUT my.kb gold.jsonl", "kb add-mentions my.kb gold.jsonl --output OUT"),
    ("build OUT --kb my.kb", "build my.kb --output OUT"),
    ("build OUT --starter", "build starter --output OUT"),
    ("annotate notes.jsonl OUT --assets my.assets", "annotate my.assets notes.jsonl --output OUT"),
    ("annotate notes.jsonl OUT", "annotate starter notes.jsonl --output OUT"),
    ("import scispacy-kb terms.jsonl OUT", "import scispacy-kb terms.jsonl --output OUT"),
]


@pytest.mark.parametrize(("old", "new"), ORDERS)
def test_both_orders_write_the_same(run: Run, work: Path, old: str, new: str) -> None:
    suffix = ".jsonl" if "annotate" in old else ".kb" if "kb " in old.replace("my.kb", "") else ""
    written = []
    for number, order in enumerate((old, new)):
        out = work / f"out{number}{suffix}"
        result = run(*(str(out) if word == "OUT" else word for word in order.split()))
        assert ("[W332]" in result.stderr) == (order == old)
        written.append(contents(out))
    assert written[0] == written[1]
    assert written[0]


def test_the_warning_says_the_new_order(run: Run, work: Path) -> None:
    said = run("build", "out", "--kb", "my.kb").stderr
    assert "`medlink build KB --output OUT`" in said


@pytest.mark.parametrize(
    "order",
    [
        "kb build terms.jsonl --from jsonl",
        "kb add-mentions my.kb gold.jsonl",
        "build my.kb",
        "build --output out",
        "build my.kb --kb my.kb --output out",
        "annotate my.assets notes.jsonl",
        "annotate starter notes.jsonl",
        "annotate my.assets notes.jsonl --output o.jsonl --assets my.assets",
        "fit-ranker my.assets",
        "fit-ranker my.assets gold.jsonl --train gold.jsonl",
        "import scispacy-kb terms.jsonl a.kb --output b.kb",
    ],
)
def test_what_is_missing_or_given_twice_is_said(run: Run, work: Path, order: str) -> None:
    before = sorted(work.iterdir())
    result = run(*order.split(), expect=2)
    assert any(name in result.stderr for name in ("--output", "KB", "TRAIN", "ASSETS"))
    assert "W332" not in result.stderr
    assert sorted(work.iterdir()) == before
