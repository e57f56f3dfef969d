"""`medlink kb diff` as text, JSON and JSON Lines."""

import json
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


def test_limits(run: Run, bases: tuple[Path, Path]) -> None:
    shown = run("kb", "diff", *bases, "--limit", 1).stdout
    assert shown.count("... and 1 more") == 1
    found = json.loads(run("kb", "diff", *bases, "--format", "json", "--limit", 1).stdout)
    assert (found["counts"]["name new"], len(found["examples"]["name new"])) == (2, 1)
    assert "name new" in run("kb", "diff", *bases, "--limit", 0).stdout, "the old name holds"


def test_the_ending_says_the_format(run: Run, bases: tuple[Path, Path], tmp_path: Path) -> None:
    outputs = {ending: tmp_path / f"d.{ending}" for ending in ("txt", "json", "jsonl")}
    for output in outputs.values():
        run("kb", "diff", *bases, "--output", output)
    text = (
        f"spacy-medlink kb diff: old.kb and new.kb compared\n\n{run('kb', 'diff', *bases).stdout}"
    )
    assert outputs["txt"].read_text() == text
    found = json.loads(outputs["json"].read_text())
    every = [json.loads(line) for line in outputs["jsonl"].read_text().splitlines()]
    assert every.pop(0) == {"format": "spacy-medlink kb diff", "old": "old.kb", "new": "new.kb"}
    assert len(every) == sum(found["counts"].values())
    assert {"kind": "codes changed", "id": "D1", "text": "Headache", "label": "ICD10",
            "before": "G43.9", "after": "R51"} in every  # fmt: skip
    assert run("kb", "diff", *bases, "--format", "jsonl").stdout == outputs["jsonl"].read_text()
    for wrong in (("--format", "html"), ("--output", tmp_path / "d.xyz")):
        run("kb", "diff", *bases, *wrong, expect=2)


@pytest.mark.parametrize("ending", ["txt", "json", "jsonl"])
def test_only_a_comparison_is_replaced(
    run: Run, bases: tuple[Path, Path], tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"d.{ending}"
    diff = ("kb", "diff", *bases, "--output", output)
    for _ in range(2):
        run(*diff)
    run("kb", "diff", bases[0], bases[0], "--output", output)
    output.write_text("mine", encoding="utf-8")
    assert "E124" in run(*diff, expect=1).stderr
    assert output.read_text(encoding="utf-8") == "mine"
    run(*diff, "--overwrite")
