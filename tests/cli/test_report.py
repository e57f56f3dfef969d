"""`medlink report`: from files of metrics to pages for people."""

import json
import re
from pathlib import Path

from spacy_medlink.assets import Assets
from tests.cli.conftest import Fail, Run
from tests.lines import write_lines

LINES = [
    {"mention": "Fever", "ids": ["HP:0001945"], "lang": "en"},
    {"mention": "=fiebre", "ids": ["HP:0001945"], "lang": "es"},
    {"mention": "zebra", "ids": []},
]


def _evaluate(run: Run, assets: Assets, path: Path, *options: object) -> Path:
    gold = write_lines(path.with_suffix(".jsonl"), *LINES)
    run("evaluate", assets.path, gold, "--tiers", "exact,ngram", "--output", path, *options)
    return path


def test_a_report(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    one = _evaluate(run, tiny_assets, tmp_path / "one.json", "--with-text")
    two = _evaluate(run, tiny_assets, tmp_path / "two.json", "--against", one)
    out = tmp_path / "deep" / "report"
    stdout = run("report", one, two, "--output", out).stdout
    assert stdout.strip() == str(out / "report.html")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "two against one.json: acc@1" in page and "=fiebre" in page
    assert "name a directory" in run("report", one, "--output", "r.HTML", expect=2).stderr


def test_what_changed_since_the_run_before(
    run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path
) -> None:
    before = _evaluate(run, tiny_assets, tmp_path / "before.json", "--threshold", "0")
    now = _evaluate(run, tiny_assets, tmp_path / "now.json", "--threshold", "1", "--with-text")
    out = tmp_path / "report"
    run("report", now, "--before", before, "--output", out)
    page = (out / "report.html").read_text(encoding="utf-8")
    counts = dict(re.findall(r"<dt>([a-z ]+)</dt><dd>(\d+)</dd>", page))
    assert sum(map(int, counts.values())) == len(LINES)
    rows = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page)
    ]
    head = next(row for row in rows if row[0].startswith("before"))
    moves = {row[0]: dict(zip(head[1:], map(int, row[1:]), strict=True)) for row in rows[1:5]}
    for verdict, count in counts.items():
        assert sum(row[verdict] for row in moves.values()) == int(count)
    assert (moves["right"]["missed"], moves["wrong"]["rightly none"]) == (1, 1)
    changed = {row[2]: row[4:] for row in rows if len(row) == 8}
    assert changed["=fiebre"] == ["right", "Fever (HP:0001945)", "missed", "NIL"]
    assert "What changed since the run before" in page
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(LINES[0]), encoding="utf-8")
    fewer = tmp_path / "fewer.json"
    run("evaluate", tiny_assets.path, other, "--tiers", "exact,ngram", "--output", fewer)
    fail("E411", "report", now, "--before", fewer, "--output", out)


def test_files_of_one_name_are_told_apart(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    one = _evaluate(run, tiny_assets, tmp_path / "one.json")
    run("report", one, one, "--output", tmp_path / "report")
    assert "one 2: exact" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


def test_other_files_stay(run: Run, tiny_assets: Assets, tmp_path: Path) -> None:
    one = _evaluate(run, tiny_assets, tmp_path / "one.json")
    note = tmp_path / "note.txt"
    note.write_text("mine", encoding="utf-8")
    run("report", one, "--output", tmp_path)
    assert note.read_text(encoding="utf-8") == "mine"


def test_bad_input(run: Run, fail: Fail, tiny_assets: Assets, tmp_path: Path) -> None:
    fail("E107", "report", tmp_path / "none.json")
    other = tmp_path / "other.json"
    other.write_text('{"acc@1": 1.0}', encoding="utf-8")
    fail("E160", "report", other)
    one = _evaluate(run, tiny_assets, tmp_path / "one.json")
    fail("E109", "report", one, "--output", one)
    run("report", expect=2)
