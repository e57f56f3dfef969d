from dataclasses import replace
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.curation import Curation, Rule, read_curation
from spacy_medlink.types import BadLine, Concept, Name, Record, Retired

COLD = Concept("C1", "Common cold", (Name("Common cold"), Name("cold"), Name("Erkältung", "de")))
COPD = Concept("C2", "COPD", (Name("COPD"), Name("COLD"), Name("Cold")))
GONE = Retired("C0", "C1")
ALL: list[Record] = [COLD, COPD, GONE]


def _names(rules: list[Rule], records: list[Record] = ALL) -> dict[str, list[str]]:
    return {
        record.id: [name.text for name in record.names]
        for record in Curation(rules).apply(records)
        if isinstance(record, Concept)
    }


def test_deny_everywhere_and_for_one_concept() -> None:
    everywhere = _names([Rule(1, "deny", "cold")])
    assert everywhere == {"C1": ["Common cold", "Erkältung"], "C2": ["COPD", "COLD"]}
    one = _names([Rule(1, "deny", "cold", "C2")])
    assert one == {"C1": ["Common cold", "cold", "Erkältung"], "C2": ["COPD", "COLD"]}


def test_deny_in_one_language() -> None:
    assert "Erkältung" not in _names([Rule(1, "deny", "ERKALTUNG", lang="de")])["C1"]
    assert "Erkältung" in _names([Rule(1, "deny", "ERKALTUNG", lang="en")])["C1"]


def test_force() -> None:
    assert _names([Rule(1, "force", "cold", "C1")]) == {
        "C1": ["Common cold", "cold", "Erkältung"], "C2": ["COPD", "COLD"],
    }  # fmt: skip
    assert _names([Rule(1, "force", "COLD", "C1")]) == {
        "C1": ["Common cold", "cold", "Erkältung", "COLD"], "C2": ["COPD", "Cold"],
    }  # fmt: skip


def test_add() -> None:
    (cold, *_) = Curation([Rule(1, "add", "Schnupfen", "C1", "de")]).apply(ALL)
    assert isinstance(cold, Concept)
    assert cold.names[-1] == Name("Schnupfen", "de", "curation", "CU")


def test_denied_everywhere_and_added_once() -> None:
    rules = [Rule(1, "deny", "cold"), Rule(2, "add", "cold", "C1")]
    assert _names(rules) == {"C1": ["Common cold", "Erkältung", "cold"], "C2": ["COPD", "COLD"]}


def test_the_preferred_name_may_go() -> None:
    (cold, *_) = Curation([Rule(1, "deny", "common cold")]).apply(ALL)
    assert isinstance(cold, Concept)
    assert (cold.name, len(cold.names)) == ("cold", 2)


def test_manifest_tells_what_was_applied() -> None:
    rules = [
        Rule(1, "deny", "cold"),
        Rule(2, "deny", "no such name"),
        Rule(3, "add", "x", "C9"),
        Rule(4, "deny", "only"),
    ]
    curation = Curation(rules)
    records = list(curation.apply([*ALL, Concept("C3", "only", (Name("only"),))]))
    assert [record.id for record in records] == ["C1", "C2", "C0"]
    assert curation.as_manifest() == {
        "rules": [
            {"action": "deny", "name": "cold", "applied": 2},
            {"action": "deny", "name": "no such name", "applied": 0},
            {"action": "add", "name": "x", "id": "C9", "applied": 0},
            {"action": "deny", "name": "only", "applied": 1},
        ],
        "emptied": ["C3"],
        "no_effect": {
            "no such name": {"count": 1, "lines": [2]},
            "unknown id": {"count": 1, "lines": [3]},
        },
    }
    assert [rule.line for rule in curation.rules if rule.no_effect] == [2, 3]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule(1, "deny", "cold"), ""),
        (Rule(1, "deny", "cough"), "no such name"),
        (Rule(1, "deny", "cold", "C2", "de"), "no such name"),
        (Rule(1, "deny", "cold", "C9"), "unknown id"),
        (Rule(1, "deny", "cold", "C0"), "unknown id"),  # retired
        (Rule(1, "add", "COMMON-COLD", "C1"), "the concept has the name already"),
        (Rule(1, "add", "common cold", "C1", "de"), ""),
        (Rule(1, "add", "common cold", "C2"), ""),
        (Rule(1, "force", "common cold", "C1"), "the concept has the name already"),
        (Rule(1, "force", "cold", "C9"), "unknown id"),  # though others have lost it
    ],
)
def test_a_rule_that_changes_nothing_says_why(rule: Rule, why: str) -> None:
    curation = Curation([rule, replace(rule, line=2)])
    before = [record.names for record in ALL if isinstance(record, Concept)]
    after = [record.names for record in curation.apply(ALL) if isinstance(record, Concept)]
    assert rule.no_effect == why
    assert curation.rules[1].no_effect == "repeats an earlier line"
    if why and rule.action != "force":
        assert before == after
    if not why:
        assert before != after


def test_pieces_of_a_concept_get_an_added_name_once(tmp_path: Path) -> None:
    curation = Curation([Rule(1, "add", "x", "C1")])
    build_kb(tmp_path / "x.kb", curation.apply([COLD, COPD, Concept("C1", "y", (Name("y"),))]))
    assert curation.rules[0].applied == 1
    texts = [name.text for name in KnowledgeBase(tmp_path / "x.kb")["C1"].names]
    assert texts == ["Common cold", "cold", "Erkältung", "x", "y"]


def test_files(tmp_path: Path) -> None:
    jsonl, bare, headed = (tmp_path / name for name in ("a.jsonl", "b.tsv", "c.tsv"))
    jsonl.write_text(
        '{"action": "deny", "name": "cold"}\n\n'
        '{"action": "force", "name": "RA", "id": "C3", "lang": "EN"}\n'
    )
    bare.write_text("deny\tcold\n\nforce\tRA\tC3\tEN\n")
    headed.write_text("action\tname\tid\tlang\r\ndeny\tcold\t\t\r\nforce\tRA\tC3\tEN\r\n")
    for path, lines in ((jsonl, (1, 3)), (bare, (1, 3)), (headed, (2, 3))):
        assert read_curation(path).rules == [
            Rule(lines[0], "deny", "cold"), Rule(lines[1], "force", "RA", "C3", "en"),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("forbid\tcold", "'forbid'"),
        ("deny", "1 columns"),
        ("deny\t ", "an empty name"),
        ("add\tcold", "an empty id"),
        ("add\tcold\tC1\ten\tx", "5 columns"),
        ('{"action": "deny"}', "an empty name"),
        ('{"action": "deny", "name": 7}', "a rule with"),
        ('{"action": "deny", "name": "x", "nmae": "y"}', "nmae"),
        ('{"action": "deny", "name": "\\ud800"}', "surrogate"),
        ('{"action": ', "not JSON"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "rules"
    path.write_text(f"deny\tcold\n{line}\n")
    with pytest.raises(MedlinkError, match=r"E105.*rules, line 2: ") as caught:
        read_curation(path)
    assert problem in caught.value.message
    bad: list[BadLine] = []
    assert len(read_curation(path, bad).rules) == len(bad) == 1


def test_a_name_forced_to_two_concepts(tmp_path: Path) -> None:
    path = tmp_path / "rules"
    path.write_text("force\tRA\tC1\nforce\tRA\tC1\nforce\tra\tC2\nforce\tRA\tC3\n")
    with pytest.raises(MedlinkError, match=r"E105.*line 4: 'RA' is forced to C3, in line 1 to C1"):
        read_curation(path)
    bad: list[BadLine] = []
    assert [rule.id for rule in read_curation(path, bad).rules] == ["C1", "C1", "C2"]
    assert [line.line for line in bad] == [4]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        read_curation(tmp_path / "none")
