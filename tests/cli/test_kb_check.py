"""What `medlink kb build` says of bad lines, with and without `--dry-run`."""

from spacy_medlink.kb.readers.tabular import FIELDS
from tests.kb.samples import FAULTY_CSV as TABLE


def test_a_dry_run_lists_all_problems(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE, encoding="utf-8")
    order = ("kb", "build", path, "--from", "csv", "--dry-run")
    lines = run(*order, expect=1).stdout.splitlines()
    assert lines[0].startswith(f"warning: {path}, line 2: K1 has the name 'Pyrexia' 2 times")
    assert lines[-1] == "3 errors, 7 warnings; 6 concepts and 11 names were read"
    assert len(lines) == 11
    path.write_text("id,name,parents\nA,x,B\n", encoding="utf-8")
    assert "0 errors, 1 warnings" in run(*order).stdout, "warnings alone: 0"
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


def test_a_build_lists_all_bad_lines(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE, encoding="utf-8")
    error = run(
        "kb", "build", path, "--from", "csv", "--output", tmp_path / "x.kb", expect=1
    ).stderr
    assert "[E130] 3 lines cannot be read:" in error
    assert [f"line {line}:" in error for line in (5, 6, 7)] == [True] * 3
    path.write_text("id,name\n" + "K1\n" * 30, encoding="utf-8")
    error = run(
        "kb", "build", path, "--from", "csv", "--output", tmp_path / "x.kb", expect=1
    ).stderr
    said = " ".join(error.split())  # a long path breaks lines
    assert (said.count(", line "), "... and 10 more" in said) == (20, True)
    assert not (tmp_path / "x.kb").exists()


def test_the_keys_of_columns_are_in_the_help(run):
    shown = " ".join(run("kb", "build", "--help").stdout.split())
    keys = shown.partition("Keys: ")[2].partition(".")[0]
    assert all(field in keys for field in FIELDS)
    assert "code:VOCABULARY" in keys
