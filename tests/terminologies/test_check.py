"""All problems of terminology files, at once and with their lines."""

import json
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_knowledge_base
from spacy_medlink.terminologies.check import Checked, check_sources
from tests.kb import samples


def _check(tmp_path: Path, text: str | bytes, name: str = "t.csv", **options: object) -> Checked:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return check_sources([(name.rpartition(".")[2], path)], options)


def _found(checked: Checked) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.severity, problem.kind) for problem in checked.problems]


def test_everything_at_once(tmp_path):
    checked = _check(tmp_path, samples.FAULTY_CSV)
    assert _found(checked) == [
        (2, "warning", "duplicate name"), (4, "warning", "ids alike"),
        (4, "warning", "unknown parent"), (5, "error", "bad line"), (6, "error", "bad line"),
        (7, "error", "bad line"), (8, "warning", "duplicate row"), (9, "warning", "stray quote"),
        (9, "warning", "cycle"), (11, "warning", "unknown parent"),
    ]  # fmt: skip
    said = [problem.text for problem in checked.problems]
    assert "'K2' differs from 'k2'" in said[1]
    assert "stray quotation mark" in said[3]
    assert "5 columns, expected 4" in said[5]
    assert "the same as line 2" in said[6]
    assert "there is 'K7'" in said[9]
    assert (checked.errors, checked.concepts) == (3, 6)


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("K1,Fever\nK2,Cough\n", {}, [(0, "error", "source")]),
        ("K1,Fever\nK2,Cough\nK3,x\n", {"columns": {"id": "K1", "name": "Fever"}},
         [(1, "warning", "header")]),
        ("K1,Fever\nK2,Cough\nK3,x\n", {"columns": {"id": "1", "name": "2"}}, []),
        ("Kennung,Name1\nK2,Cough\nK3,x\n", {"columns": {"id": "1", "name": "2"}},
         [(1, "warning", "header")]),
        ("id,name\nK1,Fever\nK2,x\n", {}, []),
        ("id,name\nfever,Fever\ncough,x\n", {}, []),
        ("id,name\nK1,caf\xe9\n".encode("latin-1"), {}, [(2, "warning", "encoding")]),
        ('id,name\nK1,"two\nlines"\n', {}, [(2, "warning", "stray quote")]),
        ("id,name\nK1,x\n", {"columns": {"id": "nr"}}, [(0, "error", "source")]),
        ("", {}, []),
    ],
)  # fmt: skip
def test_headers_and_text(tmp_path, text, options, found):
    assert _found(_check(tmp_path, text, **options)) == found


def test_no_first_row_is_swallowed(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("1,Fever\n2,Cough\n", encoding="utf-8")
    columns = {"id": "1", "name": "2"}  # as the command line gives them
    build_knowledge_base(
        out=tmp_path / "x.kb", sources=[("csv", path)], options={"columns": columns}
    )
    assert [one.id for one in KnowledgeBase(tmp_path / "x.kb")] == ["1", "2"]
    with pytest.raises(MedlinkError, match=r"E161.*1, Fever"):
        build_knowledge_base(out=tmp_path / "x.kb", sources=[("csv", path)])


def test_files_are_checked_together(tmp_path):
    one, other = tmp_path / "a.csv", tmp_path / "b.jsonl"
    one.write_text("id,name,parents\nA,Fever,B\n", encoding="utf-8")
    lines = [{"concept_id": "B", "canonical_name": "x"}, {"concept_id": "a", "names": ["y", "y"]}]
    other.write_text("\n".join(map(json.dumps, lines)) + "\n{", encoding="utf-8")
    found = check_sources([("csv", one), ("jsonl", other), ("obo", tmp_path / "none.obo")])
    assert [(Path(o.path).name, o.line, o.kind) for o in found.problems] == [
        ("b.jsonl", 2, "ids alike"), ("b.jsonl", 3, "bad line"), ("none.obo", 0, "source"),
    ]  # fmt: skip


@pytest.mark.parametrize(("format", "text"), [("obo", samples.OBO), ("tsv", samples.TSV)])
def test_sound_files_have_no_errors(tmp_path, format, text):
    assert _check(tmp_path, text, f"x.{format}").errors == 0


EDGES = st.lists(st.tuples(st.sampled_from("ABCDEFG"), st.sampled_from("ABCDEFG")), max_size=12)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(edges=EDGES)
def test_cycles_are_found_where_there_are_some(tmp_path, edges):
    above: dict[str, set[str]] = {id: set() for id in "ABCDEFG"}
    for child, parent in edges:
        above[child].add(parent)
    rows = "".join(f"{id},{id} name,{'|'.join(sorted(own))}\n" for id, own in above.items())
    rings = [problem for problem in _check(tmp_path, f"id,name,parents\n{rows}").problems
             if problem.kind == "cycle"]  # fmt: skip
    try:
        TopologicalSorter(above).prepare()
    except CycleError:
        assert rings
        for ring in rings:
            ids = ring.text.partition(":")[0].split(" -> ")
            assert ids[0] == ids[-1]
            assert all(up in above[id] for id, up in pairwise(ids))
    else:
        assert rings == []


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.sampled_from(['K1,"a', "K2,b", 'K3,"c"', 'K4,"d"e', "K5", "K6,f,g"])))
def test_a_bad_row_takes_no_other_along(tmp_path, rows):
    """Every sound row is read and every other one is reported, however quotation marks stand."""
    sound = {"K2,b", 'K3,"c"'}
    checked = _check(tmp_path, "\n".join(["id,name", *rows, ""]))
    bad = [problem.line for problem in checked.problems if problem.kind == "bad line"]
    assert bad == [line for line, row in enumerate(rows, 2) if row not in sound]
