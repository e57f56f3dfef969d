"""`medlink kb build | info | show | search | diff`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Relation, Retired
from tests.lines import write_lines
from tests.mutants import alter
from tests.tables import table

OBO = """format-version: 1.2
data-version: releases/2026-01-01

[Term]
id: X:1
name: Heart attack
synonym: "Myocardial infarction" EXACT []
xref: UMLS:C0027051

[Term]
id: X:2
name: Fever
is_a: X:1
"""
LINES: list[dict[str, Any]] = [
    {"concept_id": "J1", "canonical_name": "Asthma", "aliases": ["asma"], "types": ["T047"],
     "names": [{"name": "asma", "lang": "es"}, {"name": "Asthme", "lang": "fr"}],
     "codes": {"UMLS": ["C0004096"]}},
    {"concept_id": "J2", "canonical_name": "Cough", "aliases": [], "types": ["T184"]},
]  # fmt: skip


@pytest.fixture
def obo(tmp_path: Path) -> Path:
    path = tmp_path / "x.obo"
    path.write_text(OBO, encoding="utf-8")
    return path


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "j.jsonl", *LINES)


def _ids(path: Path) -> list[str]:
    return [concept.id for concept in KnowledgeBase(path)]


# build


def test_build(run, tmp_path, obo):
    out = tmp_path / "new" / "x.kb"
    stdout = run("kb", "build", "--output", out, "--from", "obo", obo).stdout
    lines = [re.split(r"  +", line) for line in stdout.splitlines()]
    assert [lines[number] for number in (1, 2, 3, -2, -1)] == [
        ["concepts", "2"], ["names", "3"], ["skipped lines", "0"], ["codes", "UMLS 1"],
        ["relations", "isa 1"],
    ]  # fmt: skip
    facts = KnowledgeBase(out).manifest
    assert (facts["source"], facts["format"]) == ("x.obo", "obo")
    assert facts["version"] == "releases/2026-01-01"
    (source,) = facts["sources"]
    assert len(source["sha256"]["x.obo"]) == 64


def test_unknown_vocabularies_are_named(run, tmp_path):
    xrefs = [f"V{number}x:1" for number in range(30)] + ["SNOMEDCT_2010_1_31:2", "https://x.org/3"]
    terms = "".join(f"[Term]\nid: X:{n}\nname: x{n}\nxref: {one}\n" for n, one in enumerate(xrefs))
    (tmp_path / "x.obo").write_text(f"{terms}xref: V0x:7\n")
    given = ("--from", "obo", "--output", tmp_path / "x.kb")
    stdout = run("kb", "build", tmp_path / "x.obo", *given).stdout
    (row,) = (line for line in stdout.splitlines() if line.startswith("unknown vocabularies"))
    names = row.split(maxsplit=2)[2].split(", ")
    assert names[0] == "V0x 2"
    assert sorted(names[1:]) == sorted(f"V{number}x 1" for number in range(1, 30))


def test_several_sources_become_one(run, tmp_path, obo, jsonl):
    out = tmp_path / "both.kb"
    run("kb", "build", "--output", out, "--from", "obo", "--from", "jsonl", obo, jsonl)
    assert _ids(out) == ["X:1", "X:2", "J1", "J2"]
    assert KnowledgeBase(out).manifest["format"] == "obo, jsonl"


def test_checksums_of_a_directory_are_of_the_files_that_are_read(run, tmp_path):
    meta = tmp_path / "META"
    meta.mkdir()
    row = "C0004096|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D001249|Asthma|0|N||\n"
    (meta / "MRCONSO.RRF").write_text(row, encoding="utf-8")
    (meta / "MRHIER.RRF").write_text("not read\n", encoding="utf-8")
    run("kb", "build", "--output", tmp_path / "x.kb", "--from", "umls", meta)
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert kb.manifest["sources"][0]["sha256"].keys() == {"MRCONSO.RRF"}
    assert kb["C0004096"].name == "Asthma"


def test_filters(run, tmp_path, jsonl):
    out = tmp_path / "es.kb"
    given = ("--languages", "es,fr", "--types", "T047,CHEM")
    stdout = run("kb", "build", jsonl, "--from", "jsonl", *given, "--output", out).stdout
    (concept,) = KnowledgeBase(out)
    assert {name.text for name in concept.names} == {"asma", "Asthme"}
    filters = KnowledgeBase(out).manifest["filters"]
    assert filters == {"languages": ["es", "fr"], "types": ["T047", "CHEM"]}
    assert "concept: type 1" in stdout
    run("kb", "build", jsonl, "--from", "jsonl", "--types", "DISO", "--output", out)
    assert concept.id in KnowledgeBase(out)


def test_curation(run, tmp_path, jsonl):
    rules = "add\thacking cough\tJ2\ndeny\tAsma\n"
    (tmp_path / "rules.tsv").write_text(rules, encoding="utf-8")
    out = tmp_path / "x.kb"
    run(
        "kb", "build", jsonl, "--from", "jsonl", "--output", out,
        "--curation", tmp_path / "rules.tsv",
    )  # fmt: skip
    kb = KnowledgeBase(out)
    assert [name.text for name in kb["J1"].names] == ["Asthma", "Asthme"]
    assert [name.text for name in kb["J2"].names] == ["Cough", "hacking cough"]
    assert kb.manifest["curation"]["rules"][0]["applied"] == 1


def test_rules_without_effect_are_shown(run, tmp_path, jsonl):
    rules = tmp_path / "rules.tsv"
    rules.write_text(
        "action\tname\tid\nadd\tcough!\tJ2\nadd\tpertussis\tJ7\n"
        "deny\tmeasles\ndeny\tasma\ndeny\tasma\n",
        encoding="utf-8",
    )
    out = tmp_path / "x.kb"
    result = run("kb", "build", jsonl, "--from", "jsonl", "--output", out, "--curation", rules)
    assert result.stderr.splitlines() == [
        "rules.tsv: 5 rules, 1 of them changed something",
        "rules.tsv: 1 without effect, no such name (line 4)",
        "rules.tsv: 1 without effect, repeats an earlier line (line 6)",
        "rules.tsv: 1 without effect, the concept has the name already (line 2)",
        "rules.tsv: 1 without effect, unknown id (line 3)",
    ]
    found = KnowledgeBase(out).manifest["curation"]["no_effect"]
    assert found["unknown id"] == {"count": 1, "lines": [3]}


def test_id_scheme(run, tmp_path, obo, jsonl):
    out = tmp_path / "x.kb"
    formats = ("--from", "obo", "--from", "jsonl")
    run("kb", "build", "--output", out, *formats, obo, jsonl, "--id-scheme", "UMLS")
    assert _ids(out) == ["C0027051", "C0004096"]
    assert KnowledgeBase(out).manifest["removed"] == {"without UMLS": 2}


def test_columns_and_language(run, tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("K\tT\nA1\tasma\n", encoding="utf-8")
    out = tmp_path / "x.kb"
    settings = ("--columns", "id=K,name=T", "--lang", "es")
    run("kb", "build", "--output", out, "--from", "tsv", table, *settings)
    assert KnowledgeBase(out)["A1"].names[0].lang == "es"


def test_update_in_place_keeps_the_history(run, tmp_path, obo):
    out = tmp_path / "x.kb"
    build = ("kb", "build", "--output", out, "--from", "obo", obo)
    run(*build)
    obo.write_text(OBO.replace("id: X:2", "id: X:3\nalt_id: X:2"), encoding="utf-8")
    run(*build, "--update", out)
    kb = KnowledgeBase(out)
    assert kb.resolve("X:2") == "X:3"
    obo.write_text(OBO.partition("[Term]\nid: X:2")[0], encoding="utf-8")
    run(*build, "--update", out)
    kb = KnowledgeBase(out)
    assert _ids(out) == ["X:1"]
    assert kb.manifest["retired"] == 2, "X:2, of which the release says nothing more, and X:3"
    assert kb.manifest["updated_from"]["concepts"] == 2


def test_bad_line_stops_the_build_and_spares_what_was_there(run, fail, tmp_path, jsonl):
    out = tmp_path / "x.kb"
    run("kb", "build", "--output", out, "--from", "jsonl", jsonl)
    before = out.read_bytes()
    with jsonl.open("a", encoding="utf-8") as file:
        file.write("{broken")
    message = fail("E105", "kb", "build", "--output", out, "--from", "jsonl", jsonl)
    assert f"{jsonl}, line 3:" in message
    assert "--skip-bad-lines" in message
    assert out.read_bytes() == before
    assert list(tmp_path.glob(".x.kb*")) == []


def test_bad_lines_are_counted_and_reported(run, tmp_path, jsonl):
    with jsonl.open("a", encoding="utf-8") as file:
        file.write("{broken\n" * 12)
    out = tmp_path / "x.kb"
    result = run("kb", "build", "--output", out, "--from", "jsonl", jsonl, "--skip-bad-lines")
    assert "skipped lines   12" in result.stdout
    reported = result.stderr.splitlines()
    assert reported[0].startswith(f"skipped {jsonl}, line 3:")
    assert reported[-1] == "... and 2 more lines"
    assert KnowledgeBase(out).manifest["bad_lines"] == 12


def test_bad_input(fail, tmp_path, obo, jsonl):
    out = tmp_path / "x.kb"
    build = ("kb", "build", "--output", out, "--from")
    assert "nosuch.obo" in fail("E107", *build, "obo", tmp_path / "nosuch.obo")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert "empty.jsonl" in fail("E104", *build, "jsonl", empty)
    assert "filters" in fail("E104", *build, "jsonl", jsonl, "--types", "T999")
    fail("E101", *build, "jsonl", jsonl, "--update", tmp_path / "none.kb")
    fail("E107", *build, "jsonl", jsonl, "--allow-ids", tmp_path / "nosuch")
    assert "leave --allow-ids out" in fail("E407", *build, "jsonl", jsonl, "--allow-ids", empty)
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    fail("E165", *build, "jsonl", jsonl, "--allow-ids", tmp_path / "latin")
    assert not out.exists()


def test_place_that_cannot_be_written(fail, tmp_path, jsonl):
    message = fail("E109", "kb", "build", "--output", jsonl / "x.kb", "--from", "jsonl", jsonl)
    assert "untouched" in message


@table(__file__, "kb_usage")
def test_usage(run, tmp_path, obo, arguments, said):
    result = run("kb", "build", "--output", tmp_path / "x.kb", obo, *arguments, expect=2)
    assert said in " ".join(result.stderr.split())


# info


def test_info(run, tiny_kb, tiny_assets):
    stdout = run("kb", "info", tiny_kb.path, "--verify").stdout
    lines = [re.split(r"  +", line) for line in stdout.splitlines()]
    assert ["concepts", "12"] in lines
    assert lines[-1][0] == "verified"
    facts = json.loads(run("kb", "info", tiny_kb.path, "--json").stdout)
    assert (facts["concepts"], facts["retired"], facts["source"]) == (12, 1, "tests")
    assert facts["by_vocabulary"] == {"ICD10CM": 4, "UMLS": 12}
    assert facts["bytes"] == tiny_kb.path.stat().st_size
    assert json.loads(run("kb", "info", tiny_assets.path, "--json").stdout)["concepts"] == 12


def test_damage_is_found(fail, tmp_path, tiny_kb):
    whole = tiny_kb.path.read_bytes()
    bad = tmp_path / "bad.kb"
    bad.write_bytes(b"no database at all, for certain" * 100)
    fail("E102", "kb", "info", bad)
    bad.write_bytes(whole[: len(whole) // 2])
    fail("E102", "kb", "info", bad, "--verify")
    other = alter(tmp_path / "other.kb", "CREATE TABLE something (else_ TEXT)")
    fail("E102", "kb", "info", other)


@table(__file__, "verify_finds_what_does_not_fit")
def test_verify_finds_what_does_not_fit(fail, tmp_path, tiny_kb, change, said):
    bad = alter(tmp_path / "bad.kb", change, source=tiny_kb.path)
    assert said in fail("E102", "kb", "info", bad, "--verify")


# show


def test_show(run, tiny_kb):
    stdout = run("kb", "show", tiny_kb.path, "HP:0005978").stdout
    assert "Type II diabetes mellitus" in stdout
    assert "diabetes tipo 2 [es, LOCAL, SY]" in stdout
    assert "NIDDM [en, HPO, SY, obsolete]" in stdout
    assert "HP:0000819 Diabetes mellitus" in stdout
    shown = json.loads(run("kb", "show", tiny_kb.path, "HP:0000819", "--json").stdout)
    assert shown["codes"] == {"UMLS": ["C0011849"]}
    assert {child["id"] for child in shown["children"]} == {"HP:0005978", "HP:0100651"}


def test_relations_are_shown_and_counted(run, tmp_path):
    parts = [Concept(f"P{i:02}", f"part {i}", relations=(Relation("part_of", "H", "X"),))
             for i in range(11)]  # fmt: skip
    heart = Concept("H", "heart", relations=(Relation("near", "P00"),))
    build_kb(tmp_path / "x.kb", [heart, *parts])
    stdout = run("kb", "show", tmp_path / "x.kb", "H").stdout
    assert "near P00 part 0\n" in stdout
    assert "P08 part 8 part_of ... [X]" in stdout
    assert "P09" not in stdout
    assert "... and 2 more" in stdout
    shown = json.loads(run("kb", "show", tmp_path / "x.kb", "P01", "--json").stdout)
    assert shown["relations"] == [
        {"id": "H", "name": "heart", "relation": "part_of", "source": "X", "inverse": False}
    ]
    assert "part_of 11, near 1" in run("kb", "info", tmp_path / "x.kb").stdout


def test_show_follows_retired_ids(run, fail, tiny_kb):
    result = run("kb", "show", tiny_kb.path, "HP:0005965")
    assert "HP:0005965 is retired (merged), replaced by HP:0005978\n" in result.stdout
    shown = json.loads(run("kb", "show", tiny_kb.path, "HP:0005965", "--json").stdout)
    assert shown["id"] == "HP:0005978"
    assert shown["retired"] == [
        {"id": "HP:0005965", "replaced_by": "HP:0005978", "reason": "merged"}
    ]
    assert "'HP:9'" in fail("E106", "kb", "show", tiny_kb.path, "HP:9")


def test_show_says_what_became_of_a_retired_id(run, fail, tmp_path):
    records = [
        Concept("A:1", "one"), Retired("A:2", "A:3", "merged"), Retired("A:3", "A:1", "obsolete"),
        Retired("A:4", "", "obsolete"), Retired("A:5", "B:1", ""),
        Retired("A:6", "A:7"), Retired("A:7", "A:6"),
    ]  # fmt: skip
    path = tmp_path / "x.kb"
    build_kb(path, records, {})
    chain = run("kb", "show", path, "A:2").stdout
    assert "A:2 is retired (merged), replaced by A:3\n" in chain
    assert "A:3 is retired (obsolete), replaced by A:1\n" in chain
    gone = fail("E640", "kb", "show", path, "A:4")
    assert "A:4 is retired (obsolete), and nothing replaces it" in gone
    beyond = fail("E640", "kb", "show", path, "A:5")
    assert "replaced by B:1, which this knowledge base does not have" in beyond
    assert "replaced by A:6" in fail("E640", "kb", "show", path, "A:6"), "a circle ends"
    kb = KnowledgeBase(path)
    found = [kb.resolve(id) for id in ("A:1", "A:2", "A:4", "A:5", "A:6", "none")]
    assert found == ["A:1", "A:1", None, None, None, None]


# search


def test_search(run, tiny_kb):
    for text, how in (("heart attacks", "exact"), ("hart atack", "near")):
        (found,) = json.loads(run("kb", "search", tiny_kb.path, text, "--json").stdout)
        assert (found["id"], found["matched"], found["how"]) == ("HP:0001658", "Heart attack", how)
    lines = run("kb", "search", tiny_kb.path, "diabetes").stdout.splitlines()
    assert lines[0].split() == ["id", "name", "matched", "how"]
    assert len(lines) == 4
    # What begins with the text comes first: "diabetes tipo 2" before "Diabetes mellitus".
    assert lines[1].split()[0] == "HP:0005978"


@table(__file__, "search_of_assets_and_of_a_kb")
def test_search_of_assets_and_of_a_kb(run, tiny_kb, tiny_assets, text, how, ids):
    for searched in (tiny_kb.path, tiny_assets.path):
        found = json.loads(run("kb", "search", searched, text, "--json").stdout)
        assert [(hit["id"], hit["how"]) for hit in found] == [(id, how) for id in ids]


@pytest.mark.parametrize("text", ["zebra", "%", "_", "\\", "", " ", "🙂", "x" * 60_000])
def test_search_finds_nothing(run, tiny_kb, text):
    result = run("kb", "search", tiny_kb.path, text)
    assert result.stdout == ""
    assert result.stderr.startswith("No name holds")


# diff


def test_diff_of_what_is_not_there(fail, tmp_path, tiny_kb):
    fail("E101", "kb", "diff", tiny_kb.path, tmp_path / "none.kb")
