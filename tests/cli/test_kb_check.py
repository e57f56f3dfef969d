"""`medlink kb check`, and what a build says of bad lines."""

import json
from pathlib import Path

import pytest

from spacy_medlink.kb.readers.tabular import FIELDS
from tests.cli.conftest import Run
from tests.kb.samples import FAULTY_CSV as TABLE


def test_the_verb(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE, encoding="utf-8")
    result = run("kb", "check", path, expect=1)
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"warning: {path}, line 2: K1 has the name 'Pyrexia' 2 times")
    assert lines[-1] == "3 errors, 7 warnings; 6 concepts and 11 names were read"
    assert len(lines) == 11
    shown = run("kb", "check", path, "--limit", 1, expect=1).stdout
    assert "... and 2 more of the kind: bad line" in shown
    facts = json.loads(run("kb", "check", path, "--json", expect=1).stdout)
    assert (facts["errors"], len(facts["problems"])) == (3, 10)
    path.write_text("id,name,parents\nA,x,B\n", encoding="utf-8")
    assert "0 errors, 1 warnings" in run("kb", "check", path).stdout, "warnings alone: 0"
    unknown = run("kb", "check", tmp_path / "x.foo", expect=2)
    assert "--from FORMAT" in " ".join(unknown.stderr.split())


def test_a_build_lists_all_bad_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE, encoding="utf-8")
    error = run("kb", "build", tmp_path / "x.kb", "--from", "csv", path, expect=1).stderr
    assert "[E130] 3 lines cannot be read:" in error
    assert [f"line {line}:" in error for line in (5, 6, 7)] == [True] * 3
    path.write_text("id,name\n" + "K1\n" * 30, encoding="utf-8")
    error = run("kb", "build", tmp_path / "x.kb", "--from", "csv", path, expect=1).stderr
    assert (error.count("line "), "... and 10 more" in error) == (20, True)
    assert not (tmp_path / "x.kb").exists()


@pytest.mark.parametrize("verb", ["build", "check"])
def test_the_keys_of_columns_are_in_the_help(run: Run, verb: str) -> None:
    shown = " ".join(run("kb", verb, "--help").stdout.split())
    keys = shown.partition("Keys: ")[2].partition(".")[0]
    assert all(field in keys for field in FIELDS)
    assert "code:VOCABULARY" in keys
