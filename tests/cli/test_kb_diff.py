"""`medlink kb diff` as text and as lines of JSON."""

import json
from collections import Counter
from pathlib import Path

import pytest

from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Name
from tests.cli.conftest import Run

LONG = "ache of the head " * 9


@pytest.fixture
def bases(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.kb", tmp_path / "new.kb"
    pain = Concept("P", "Pain", (Name("Pain"),), definition="It hurts.")
    codes = {"ICD10": ("G43.9",)}
    build_kb(old, [Concept("D1", "Headache", (Name("Headache"),), codes=codes), pain])
    names = (Name("Headache"), Name(LONG), Name("ache"))
    codes = {"ICD10": ("R51",)}
    pain = Concept("P", "Pain", (Name("Pain"),), definition=f"It {LONG}.")
    build_kb(new, [Concept("D1", "Headache", names, codes=codes), pain])
    return old, new


def test_text_has_counts_first(run: Run, bases: tuple[Path, Path]) -> None:
    lines = run("kb", "diff", *bases).stdout.splitlines()
    assert lines[1].split() == ["names", "2", "4"]
    (codes,) = (line for line in lines if line.startswith("codes changed "))
    assert codes.split() == ["codes", "changed", "1", "ICD10", "1"]
    detail = lines.index("codes changed")
    assert lines[detail + 1].split() == ["id", "name", "vocabulary", "before", "after"]
    assert lines[detail + 2].split() == ["D1", "Headache", "ICD10", "G43.9", "R51"]


def test_json_has_all(run: Run, bases: tuple[Path, Path]) -> None:
    lines = run("kb", "diff", *bases, "--json").stdout.splitlines()
    every = [json.loads(line) for line in lines]
    assert every.pop(0) == {"format": "spacy-medlink kb diff", "old": "old.kb", "new": "new.kb"}
    assert Counter(change["kind"] for change in every) == {
        "codes changed": 1, "definition changed": 1, "name new": 2,
    }  # fmt: skip
    assert {"kind": "codes changed", "id": "D1", "text": "Headache", "label": "ICD10",
            "before": "G43.9", "after": "R51"} in every  # fmt: skip
    assert run("kb", "diff", bases[0], bases[0]).stdout == "Nothing changed.\n"


def test_gold_that_loses_its_concept(run: Run, bases: tuple[Path, Path], tmp_path: Path) -> None:
    gold, new = tmp_path / "gold.jsonl", tmp_path / "less.kb"
    build_kb(new, [Concept("P", "Pain", (Name("Pain"),))])
    gold.write_text('{"mention": "headache", "ids": ["D1"]}', encoding="utf-8")
    shown = run("kb", "diff", bases[0], new, "--gold", gold).stdout
    assert "concept vanished" in shown and "gold lost" in shown


def test_text_says_how_many_more_there_are(run: Run, tmp_path: Path) -> None:
    bases = [tmp_path / name for name in ("old.kb", "new.kb")]
    for path, count in zip(bases, (1, 13), strict=True):
        build_kb(path, [Concept(f"D{n}", f"name {n}", (Name(f"name {n}"),)) for n in range(count)])
    shown = run("kb", "diff", *bases).stdout
    assert shown.count("... and 2 more") == 2  # concepts, and their names
