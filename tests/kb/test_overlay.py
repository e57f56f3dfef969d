"""An overlay says of concepts and names what a build with the same rules says."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.curation import Curation, Rule, read_curation
from spacy_medlink.kb.overlay import OverlaidKb, Overlay
from spacy_medlink.types import Concept, Name, Record, Retired

RECORDS: list[Record] = [
    Concept("C1", "Common cold", (Name("Common cold"), Name("cold"), Name("Erkältung", "de"))),
    Concept("C2", "COPD", (Name("COPD"), Name("COLD"), Name("Cold"))),
    Concept("C3", "Low temperature", (Name("Low temperature"), Name("cold", "de"))),
    Retired("C0", "C1"),
]
TEXTS = ("cold", "COLD", "Colds", "copd", "Erkaltung", "new name", "Low Temperature")
RULES = st.lists(
    st.builds(
        lambda action, text, id, lang: (
            Rule(1, action, "", id or "C1")
            if action == "retire"
            else Rule(1, action, text, id if action == "deny" else id or "C2", lang)
        ),
        st.sampled_from(("deny", "force", "add", "retire")),
        st.sampled_from(TEXTS),
        st.sampled_from(("", "C1", "C2", "C3", "C9")),
        st.sampled_from(("", "de")),
    ),
    max_size=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    path = tmp_path_factory.mktemp("overlay") / "kb"
    build_kb(path, RECORDS, {"source": "tests"})
    return KnowledgeBase(path)


def laid(kb: KnowledgeBase, *rules: Rule) -> OverlaidKb:
    return OverlaidKb(kb, Overlay.of(Curation(list(rules)), kb))


@settings(max_examples=200)
@given(RULES)
def test_it_says_what_a_build_says(kb: KnowledgeBase, rules: list[Rule]) -> None:
    curated = {
        record.id: sorted(record.names)
        for record in Curation([Rule(**vars(rule)) for rule in rules]).apply(RECORDS)
        if isinstance(record, Concept)
    }
    own = laid(kb, *rules)
    overlaid = {
        id: sorted(own[id].names) for id in ("C1", "C2", "C3") if id in own and own[id].names
    }
    assert overlaid == curated


def test_rows_of_names(kb: KnowledgeBase) -> None:
    own = laid(kb, Rule(1, "add", "flu", "C3"), Rule(2, "add", "sniffles", "C1"))
    added = [own.name_at(row).text for row in (kb.n_names, kb.n_names + 1)]
    assert added == ["sniffles", "flu"]
    assert own.texts_at([kb.n_names, 0, kb.n_names + 1, 0]) == [
        "sniffles", "Common cold", "flu", "Common cold",
    ]  # fmt: skip
    assert (own.text_at(0), own.name_at(0).text) == ("Common cold", "Common cold")
    assert [concept.id for concept in own.find("Sniffle")] == ["C1"]
    assert own["C3"].names[-1] == Name("flu", "en", "curation", "CU")
    with pytest.raises(MedlinkError, match="E102"):
        own.name_at(kb.n_names + 2)


def test_a_retired_concept(kb: KnowledgeBase) -> None:
    own = laid(kb, Rule(1, "retire", "", "C1"))
    assert "C1" not in own and "C1" in kb
    assert own.resolve("C1") is None and own.resolve("C0") is None and kb.resolve("C0") == "C1"
    assert own.history("C1") == [Retired("C1", "", "curation")]
    assert [concept.id for concept in own.find("cold")] == ["C2", "C3"]


def test_what_changed_nothing_is_told(kb: KnowledgeBase) -> None:
    rules = [
        Rule(1, "deny", "no such name"), Rule(2, "add", "cold", "C1"), Rule(3, "add", "x", "C9"),
        Rule(4, "add", "yaws", "C1"), Rule(5, "add", "Yaws", "C1"), Rule(6, "retire", "", "C0"),
        Rule(7, "retire", "", "C3"), Rule(8, "add", "z", "C3"),
    ]  # fmt: skip
    overlay = Overlay.of(Curation(rules), kb)
    assert {rule.line: rule.no_effect for rule in overlay.rules if rule.no_effect} == {
        1: "no such name", 2: "the concept has the name already", 3: "unknown id",
        5: "repeats an earlier line", 6: "unknown id", 8: "unknown id",
    }  # fmt: skip
    assert overlay.counts == {"add": 1, "no_effect": 6, "retire": 1}
    assert not any(rule.applied for rule in rules)


def test_it_travels(kb: KnowledgeBase) -> None:
    own = pickle.loads(pickle.dumps(laid(kb, Rule(1, "add", "flu", "C3"))))
    assert own["C3"].names[-1].text == own.text_at(kb.n_names) == "flu"


def test_rules_are_written_as_they_are_read(tmp_path: Path) -> None:
    path, again = tmp_path / "rules.tsv", tmp_path / "rules.jsonl"
    path.write_text("deny\tcold\nadd\tSchnupfen\tC1\tde\nretire\t\tC2\n", encoding="utf-8")
    again.write_text(read_curation(path).dump(), encoding="utf-8")
    assert read_curation(again).rules == read_curation(path).rules


@pytest.mark.parametrize("line", ["retire\tcold\tC1", "retire\t\t", "retire", "remove\t\tC1"])
def test_a_bad_rule(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E105"):
        read_curation(path)


def test_a_build_retires_a_concept(tmp_path: Path) -> None:
    curation = Curation([Rule(1, "retire", "", "C1"), Rule(2, "add", "flu", "C1")])
    build_kb(tmp_path / "kb", curation.apply(RECORDS), {"source": "tests"})
    kb = KnowledgeBase(tmp_path / "kb")
    assert [concept.id for concept in kb] == ["C2", "C3"]
    assert kb.history("C1") == [Retired("C1", "", "curation")]
    assert curation.as_manifest()["no_effect"] == {"unknown id": {"count": 1, "lines": [2]}}
    assert "C1" not in kb
