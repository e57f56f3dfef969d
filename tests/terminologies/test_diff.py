import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.terminologies.diff import Change, changes, diff, gold_changes
from spacy_medlink.types import Concept, Name, Record, Retired
from tests.mutants import alter, refused
from tests.tiny import concept, kb_of

OLD: list[Record] = [
    concept("A", "alpha", "first", "shared"), concept("B", "beta", "second"),
    concept("C", "gamma"), concept("D", "delta"), concept("E", "epsilon", "fifth"),
    concept("F", "phi"),
]  # fmt: skip
NEW: list[Record] = [
    concept("N", "nu", "shared"),
    concept("E", "epsilon", "5th"),
    concept("A", "Alpha", "first", "beta", "second"),
    concept("F", "phi"),
    Retired("B", "X", "merged"), Retired("X", "A", "merged"), Retired("C", "", "obsolete"),
]  # fmt: skip


@pytest.fixture
def bases(tmp_path: Path) -> tuple[KnowledgeBase, KnowledgeBase]:
    return _kb(tmp_path / "old.kb", *OLD), _kb(tmp_path / "new.kb", *NEW)


def test_every_kind_of_change(bases):
    assert list(changes(*bases)) == [
        Change("concept new", "N", text="nu"),
        Change("concept merged", "B", "A", "beta"),
        Change("concept retired", "C", text="gamma"),
        Change("concept vanished", "D", text="delta"),
        Change("concept renamed", "A", "A", "alpha -> Alpha"),
        Change("name moved", "A", "N", "shared", "en"),
        Change("name moved", "B", "A", "beta", "en"),
        Change("name moved", "B", "A", "second", "en"),
        Change("name dropped", "A", "", "alpha", "en"),
        Change("name dropped", "C", "", "gamma", "en"),
        Change("name dropped", "D", "", "delta", "en"),
        Change("name dropped", "E", "", "fifth", "en"),
        Change("name new", "A", "", "Alpha", "en"),
        Change("name new", "E", "", "5th", "en"),
        Change("name new", "N", "", "nu", "en"),
    ]


def test_no_change(tiny_kb):
    found = diff(tiny_kb, tiny_kb)
    assert not found.counts and not found.examples


def test_counts_and_examples(bases):
    found = diff(*bases, examples=1)
    assert found.counts == Counter(change.kind for change in changes(*bases))
    assert found.examples["name dropped"] == [Change("name dropped", "A", "", "alpha", "en")]
    assert all(len(examples) == 1 for examples in found.examples.values())


def test_gold(bases, tmp_path):
    gold = tmp_path / "gold.jsonl"
    mentions = [
        {"mention": "first", "ids": ["A"]},
        {"mention": "Beta", "ids": ["B"]},  # merged, and still found by its name
        {"mention": "gamma", "ids": ["C"]},
        {"mention": "shared", "ids": ["A"]},  # its name has moved away
        {"mention": "nu", "ids": ["N"]},
        {"mention": "what", "ids": ["Z"]},
        {"mention": "nil", "ids": []},
    ]
    gold.write_text("\n".join(map(json.dumps, mentions)))
    expected = [
        Change("gold merged", "B", "A", "Beta"), Change("gold lost", "C", "", "gamma"),
        Change("gold unfindable", "C", "", "gamma"), Change("gold unfindable", "A", "", "shared"),
        Change("gold gained", "N", "", "nu"), Change("gold findable", "N", "", "nu"),
        Change("gold unknown", "Z", "", "what"),
    ]  # fmt: skip
    assert list(gold_changes(*bases, gold)) == expected
    found = diff(*bases, gold)
    assert found.gold_links == 6
    assert {kind: count for kind, count in found.counts.items() if "gold" in kind} == Counter(
        change.kind for change in expected
    )


def test_paths_with_odd_characters(tmp_path):
    odd = tmp_path / "a b?c#d%20é"
    odd.mkdir()
    old, new = _kb(odd / "old.kb", *OLD), _kb(odd / "new.kb", *NEW)
    assert diff(old, new).counts["concept new"] == 1


@pytest.mark.parametrize("statement", ["codes = 'x'", "types = '[1]'", ""])
def test_a_damaged_file_is_an_error_with_a_code(tmp_path, statement):
    old, new = _kb(tmp_path / "old.kb", *OLD), _kb(tmp_path / "new.kb", *OLD)
    if statement:
        alter(old.path, f"UPDATE concept SET {statement}")
    data = old.path.read_bytes()
    at = data.index(b"gamma") // 4096 * 4096
    noise = data if statement else data[:at] + b"\xff" * 4096 + data[at + 4096 :]
    refused(old.path, noise, lambda: list(changes(KnowledgeBase(old.path), new)), match="E102")


NAMES = st.sets(st.sampled_from("pqrstuvw"), min_size=1, max_size=4)
BASE = st.dictionaries(st.sampled_from("ABCDE"), NAMES, min_size=1)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(before=BASE, after=BASE)
def test_against_sets(tmp_path, before, after):
    old = _kb(tmp_path / "old.kb", *(concept(id, *sorted(names)) for id, names in before.items()))
    new = _kb(tmp_path / "new.kb", *(concept(id, *sorted(names)) for id, names in after.items()))
    had = {(id, name) for id, names in before.items() for name in names}
    has = {(id, name) for id, names in after.items() for name in names}
    gone, come = had - has, has - had
    moved = {(id, other, name) for id, name in gone for other, also in come if also == name}
    found: dict[str, set[tuple[str, ...]]] = {}
    for change in changes(old, new):
        found.setdefault(change.kind, set()).add((change.id, change.other, change.text))
    assert {id for id, *_ in found.get("concept new", set())} == set(after) - set(before)
    assert {id for id, *_ in found.get("concept vanished", set())} == set(before) - set(after)
    assert found.get("name moved", set()) == moved
    arrived, left = {name for _, name in come}, {name for _, name in gone}
    assert {(id, text) for id, _, text in found.get("name dropped", set())} == {
        (id, name) for id, name in gone if name not in arrived
    }
    assert {(id, text) for id, _, text in found.get("name new", set())} == {
        (id, name) for id, name in come if name not in left
    }


def _kb(path: Path, *records: Record) -> KnowledgeBase:
    return kb_of(path, records)


def _headache(**facts: object) -> Concept:
    names = facts.pop("names", (Name("Headache", "en", "A", "PT"),))
    return Concept("D1", "Headache", names, **facts)


def _changes(tmp_path: Path, old: Concept, new: Concept) -> list[Change]:
    return list(changes(_kb(tmp_path / "old.kb", old), _kb(tmp_path / "new.kb", new)))


def test_codes_by_vocabulary(tmp_path):
    old = _headache(codes={"ICD10": ("G43.9",), "UMLS": ("C1", "C2"), "MESH": ("D1",)})
    new = _headache(codes={"ICD10": ("R51",), "UMLS": ("C2", "C1"), "HP": ("1", "2")})
    assert _changes(tmp_path, old, new) == [
        Change("codes changed", "D1", "", "Headache", "", "HP", "", "1, 2"),
        Change("codes changed", "D1", "", "Headache", "", "ICD10", "G43.9", "R51"),
        Change("codes changed", "D1", "", "Headache", "", "MESH", "D1", ""),
    ]


def test_types_parents_and_definitions(tmp_path):
    old = _headache(types=("T1", "T2"), parents=("P", "Q"), definition="Pain.")
    new = _headache(types=("T2", "T3"), parents=("Q", "P"), definition="Pain in the head.")
    assert _changes(tmp_path, old, new) == [
        Change("types changed", "D1", text="Headache", before="T1, T2", after="T2, T3"),
        Change("definition changed", "D1", text="Headache", before="Pain.",
               after="Pain in the head."),
    ]  # fmt: skip


def test_successors_of_retired_ids(tmp_path):
    two = (Concept("A", "a", (Name("a"),)), Concept("B", "b", (Name("b"),)))
    old = _kb(tmp_path / "old.kb", *two, Retired("R", "A"), Retired("S", ""), Retired("T", "B"))
    new = _kb(tmp_path / "new.kb", *two, Retired("R", "B"), Retired("S", "A"), Retired("T", "B"))
    assert list(changes(old, new)) == [
        Change("successor changed", "R", before="A", after="B"),
        Change("successor changed", "S", before="", after="A"),
    ]


def test_totals_and_labels(tmp_path):
    old = _kb(tmp_path / "old.kb", _headache(codes={"ICD10": ("G43.9",)}))
    more = (Name("Headache", "en", "A", "PT"), Name("Cefalea", "es", "B"))
    new = _kb(tmp_path / "new.kb", _headache(names=more, codes={"ICD10": ("R51",), "X": ("1",)}))
    found = diff(old, new)
    totals = {(total.what, total.label): (total.before, total.after) for total in found.totals}
    assert totals == {
        ("concepts", ""): (1, 1), ("names", ""): (1, 2), ("retired ids", ""): (0, 0),
        ("names by language", "en"): (1, 1), ("names by language", "es"): (0, 1),
        ("names by source", "A"): (1, 1), ("names by source", "B"): (0, 1),
        ("concepts with codes", "ICD10"): (1, 1), ("concepts with codes", "X"): (0, 1),
    }  # fmt: skip
    assert found.labels == {
        "codes changed": Counter({"ICD10": 1, "X": 1}), "name new": Counter({"es": 1}),
    }  # fmt: skip


VALUES = st.sets(st.sampled_from(["1", "2", "3"]), max_size=3).map(tuple)
FACTS = st.fixed_dictionaries({
    "types": VALUES, "parents": VALUES, "definition": st.sampled_from(["", "x", "y"]),
    "codes": st.dictionaries(st.sampled_from("UV"), VALUES.filter(bool)),
})  # fmt: skip


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(before=st.dictionaries(st.sampled_from("AB"), FACTS, min_size=1),
       after=st.dictionaries(st.sampled_from("AB"), FACTS, min_size=1))  # fmt: skip
def test_against_the_records(tmp_path, before, after):
    old, new = (
        _kb(tmp_path / name, *(Concept(id, id, (Name(id),), **own) for id, own in facts.items()))
        for name, facts in (("old.kb", before), ("new.kb", after))
    )
    found = {
        (change.kind, change.id, change.label)
        for change in changes(old, new)
        if "changed" in change.kind
    }
    expected = set()
    for id in before.keys() & after.keys():
        one, other = before[id], after[id]
        for kind in ("types", "parents"):
            if set(one[kind]) != set(other[kind]):
                expected.add((f"{kind} changed", id, ""))
        if one["definition"] != other["definition"]:
            expected.add(("definition changed", id, ""))
        for scheme in "UV":
            if set(one["codes"].get(scheme, ())) != set(other["codes"].get(scheme, ())):
                expected.add(("codes changed", id, scheme))
    assert found == expected
