"""Rules say of names and concepts the same in a build and over a knowledge base in use."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.overlay import OverlaidKb
from spacy_medlink.kb.rules import Rule, Rules, read_rules
from spacy_medlink.types import BadLine, Concept, Name, Record, Retired
from tests.tables import table
from tests.tiny import kb_of

COLD = Concept("C1", "Common cold", (Name("Common cold"), Name("cold"), Name("Erkältung", "de")))
COPD = Concept("C2", "COPD", (Name("COPD"), Name("COLD"), Name("Cold")))
LOW = Concept("C3", "Low temperature", (Name("Low temperature"), Name("cold", "de")))
RECORDS: list[Record] = [COLD, COPD, LOW, Retired("C0", "C1")]
BUILT = {one.id: {name.text for name in one.names} for one in (COLD, COPD, LOW)}

UNKNOWN, NO_NAME, HAS_NAME = "unknown id", "no such name", "the concept has the name already"


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "kb"
    return kb_of(path, RECORDS, {"source": "tests"})


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def over(kb: KnowledgeBase, *rules: Rule) -> OverlaidKb:
    return OverlaidKb(kb, Rules(list(rules)))


def names_in(records: list[Record]) -> dict[str, list[Name]]:
    return {one.id: sorted(one.names) for one in records if isinstance(one, Concept)}


def names_over(kb: OverlaidKb) -> dict[str, list[Name]]:
    return {id: sorted(kb[id].names) for id in BUILT if id in kb and kb[id].names}


@table(__file__, "a_table")
def test_a_table(kb, tmp_path, text, changes, no_effect):
    """A file of rules; by concept what it loses (-) and gets (+), and why lines change nothing."""
    rules = read_rules(written(tmp_path / "rules", text))
    expected = {id: set(names) for id, names in BUILT.items()}
    for id, change in changes.items():
        if change:
            expected[id] ^= {change[1:]}
        else:
            del expected[id]
    overlaid = OverlaidKb(kb, rules)
    assert not any(rule.applied for rule in rules.rules), "the file can be applied again"
    records = list(rules.apply(RECORDS))
    for names, applied in (
        (names_in(records), rules), (names_over(overlaid), overlaid.rules)
    ):  # fmt: skip
        assert {id: {name.text for name in names[id]} for id in names} == expected
        whys = {rule.line: rule.no_effect for rule in applied.rules if rule.no_effect}
        assert whys == {int(line): why for line, why in no_effect.items()}
    added = {name for names in names_in(records).values() for name in names} - {
        name for one in (COLD, COPD, LOW) for name in one.names
    }
    assert {(name.source, name.tty) for name in added} <= {("curation", "CU")}
    for record in records:
        assert not isinstance(record, Concept) or record.name in {one.text for one in record.names}


@settings(max_examples=200)
@given(
    st.lists(
        st.builds(
            lambda action, text, id, lang: (
                Rule(1, action, "", id or "C1")
                if action == "retire"
                else Rule(1, action, text, id if action == "deny" else id or "C2", lang)
            ),
            st.sampled_from(("deny", "force", "add", "retire")),
            st.sampled_from(("cold", "COLD", "Colds", "Erkaltung", "new", "Low Temperature")),
            st.sampled_from(("", "C1", "C2", "C3", "C9")),
            st.sampled_from(("", "de")),
        ),
        max_size=5,
    )
)
def test_any_table_over_a_base_in_use_is_as_a_build_with_it(kb, rules):
    overlaid = names_over(over(kb, *rules))
    assert overlaid == names_in(list(Rules(rules).apply(RECORDS)))


def test_what_a_manifest_and_metrics_say(kb):
    listed = [
        Rule(1, "deny", "cold"), Rule(2, "deny", "no"), Rule(3, "add", "x", "C9"),
        Rule(4, "deny", "only"),
    ]  # fmt: skip
    rules = Rules(listed)
    records = list(rules.apply([*RECORDS, Concept("C4", "only", (Name("only"),))]))
    assert [record.id for record in records] == ["C1", "C2", "C3", "C0"]
    assert rules.as_manifest() == {
        "rules": [
            {"action": "deny", "name": "cold", "applied": 3},
            {"action": "deny", "name": "no", "applied": 0},
            {"action": "add", "name": "x", "id": "C9", "applied": 0},
            {"action": "deny", "name": "only", "applied": 1},
        ],
        "emptied": ["C4"],
        "no_effect": {NO_NAME: {"count": 1, "lines": [2]}, UNKNOWN: {"count": 1, "lines": [3]}},
    }
    assert over(kb, *listed).counts == {"deny": 1, "no_effect": 3}


def test_a_build(tmp_path):
    rules = Rules([Rule(1, "add", "x", "C1"), Rule(2, "retire", "", "C2")])
    pieces = [COLD, COPD, Concept("C1", "y", (Name("y"),))]  # the first piece gets the name
    kb = kb_of(tmp_path / "kb", rules.apply(pieces))
    assert [name.text for name in kb["C1"].names] == ["Common cold", "cold", "Erkältung", "x", "y"]
    assert "C2" not in kb and kb.history("C2") == [Retired("C2", "", "curation")]
    assert [rule.applied for rule in rules.rules] == [1, 1]


def test_a_base_in_use(kb):
    rules = [
        Rule(1, "add", "flu", "C3"), Rule(2, "add", "sniffles", "C1"), Rule(3, "retire", "", "C2"),
    ]  # fmt: skip
    made = over(kb, *rules)
    for own in (made, pickle.loads(pickle.dumps(made))):
        rows = [kb.n_names, 0, kb.n_names + 1, 0]
        assert own.texts_at(rows) == ["sniffles", "Common cold", "flu", "Common cold"]
        assert [own.name_at(row).text for row in rows] == list(map(own.text_at, rows))
        assert own["C3"].names[-1] == Name("flu", "en", "curation", "CU")
        assert [concept.id for concept in own.find("Sniffle")] == ["C1"]
        assert [concept.id for concept in own.find("cold")] == ["C1", "C3"]
        assert "C2" not in own and "C2" in kb and own.resolve("C2") is None
        assert own.history("C2") == [Retired("C2", "", "curation")]
        with pytest.raises(MedlinkError, match="E102"):
            own.name_at(kb.n_names + 2)


def test_what_mentions_mean(kb):
    """The last one of a key counts, with the first id that is in use; NIL gives no name."""
    said = [
        ("hot sweat", "C3", ()), ("Hot sweats", "C9", ("C0",)), ("12", "C3", ()), ("--", "C3", ()),
        ("sniffles", "C1", ()), ("Sniffle", "", ()), ("new", "C9", ()),
    ]  # fmt: skip
    own = over(
        kb, *(Rule(1, "means", text, id, "en", "X", others) for text, id, others in said)
    )  # fmt: skip
    kept = {rule.name: (rule.id, rule.no_effect) for rule in own.rules.rules}
    assert kept == {
        "new": ("C9", UNKNOWN), "Hot sweats": ("C1", ""), "12": ("C3", ""), "Sniffle": ("", ""),
    }  # fmt: skip
    assert [(kb.concept_at(row).id, name.text) for row, name in own.added] == [("C1", "Hot sweats")]
    assert own.rules.dump().splitlines()[1] == (
        '{"mention": "Hot sweats", "ids": ["C1", "C0"], "lang": "en", "type": "X"}'
    )


def test_files(tmp_path):
    files = {
        "a.jsonl": '{"action": "deny", "name": "cold"}\n\n'
        '{"action": "force", "name": "RA", "id": "C3", "lang": "EN"}\n',
        "b.tsv": "deny\tcold\n\nforce\tRA\tC3\tEN\n",
        "c.tsv": "action\tname\tid\tlang\r\ndeny\tcold\t\t\r\nforce\tRA\tC3\tEN\r\n",
    }
    for name, text in files.items():
        rules = read_rules(written(tmp_path / name, text))
        first, last = (2, 3) if name == "c.tsv" else (1, 3)
        assert rules.rules == [Rule(first, "deny", "cold"), Rule(last, "force", "RA", "C3", "en")]
        again = read_rules(written(tmp_path / "again", rules.dump()))
        assert [rule.facts for rule in again.rules] == [rule.facts for rule in rules.rules]


@table(__file__, "bad_lines")
def test_bad_lines(tmp_path, line, problem):
    path = written(tmp_path / "rules", f"deny\tcold\n{line}\n")
    with pytest.raises(MedlinkError, match=r"E105.*rules, line [23]: ") as caught:
        read_rules(path)
    assert problem in caught.value.message
    bad: list[BadLine] = []
    assert len(read_rules(path, bad)) == 1 + line.count("\n") and len(bad) == 1
    with pytest.raises(MedlinkError, match="E107"):
        read_rules(tmp_path / "none")
