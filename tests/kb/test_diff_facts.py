"""Changes of codes, types, parents, definitions and of what names say, beside those of names."""

from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.diff import Change, changes, diff
from spacy_medlink.types import Concept, Name, Record, Retired


def _kb(path: Path, *records: Record) -> KnowledgeBase:
    build_kb(path, records)
    return KnowledgeBase(path)


def _headache(**facts: object) -> Concept:
    names = facts.pop("names", (Name("Headache", "en", "A", "PT"),))
    return Concept("D1", "Headache", names, **facts)


def _changes(tmp_path: Path, old: Concept, new: Concept) -> list[Change]:
    return list(changes(_kb(tmp_path / "old.kb", old), _kb(tmp_path / "new.kb", new)))


def test_codes_by_vocabulary(tmp_path: Path) -> None:
    old = _headache(codes={"ICD10": ("G43.9",), "UMLS": ("C1", "C2"), "MESH": ("D1",)})
    new = _headache(codes={"ICD10": ("R51",), "UMLS": ("C2", "C1"), "HP": ("1", "2")})
    assert _changes(tmp_path, old, new) == [
        Change("codes changed", "D1", "", "Headache", "", "HP", "", "1, 2"),
        Change("codes changed", "D1", "", "Headache", "", "ICD10", "G43.9", "R51"),
        Change("codes changed", "D1", "", "Headache", "", "MESH", "D1", ""),
    ]


def test_types_parents_and_definitions(tmp_path: Path) -> None:
    old = _headache(types=("T1", "T2"), parents=("P", "Q"), definition="Pain.")
    new = _headache(types=("T2", "T3"), parents=("Q", "P"), definition="Pain in the head.")
    assert _changes(tmp_path, old, new) == [
        Change("types changed", "D1", text="Headache", before="T1, T2", after="T2, T3"),
        Change("definition changed", "D1", text="Headache", before="Pain.",
               after="Pain in the head."),
    ]  # fmt: skip


def test_what_names_say(tmp_path: Path) -> None:
    def names(lang: str, *rest: object) -> tuple[Name, ...]:
        return (Name("Headache", "en", *rest), Name("Cefalea", lang))

    old = _headache(names=names("en", "A", "PT", False))
    new = _headache(names=names("es", "B", "SY", True))
    assert _changes(tmp_path, old, new) == [
        Change("name source changed", "D1", "", "Headache", "en", "", "A", "B"),
        Change("name term type changed", "D1", "", "Headache", "en", "", "PT", "SY"),
        Change("name obsolete changed", "D1", "", "Headache", "en", "", "in use", "obsolete"),
        Change("name language changed", "D1", "", "Cefalea", "es", "", "en", "es"),
    ]


def test_successors_of_retired_ids(tmp_path: Path) -> None:
    two = (Concept("A", "a", (Name("a"),)), Concept("B", "b", (Name("b"),)))
    old = _kb(tmp_path / "old.kb", *two, Retired("R", "A"), Retired("S", ""), Retired("T", "B"))
    new = _kb(tmp_path / "new.kb", *two, Retired("R", "B"), Retired("S", "A"), Retired("T", "B"))
    assert list(changes(old, new)) == [
        Change("successor changed", "R", before="A", after="B"),
        Change("successor changed", "S", before="", after="A"),
    ]


def test_totals_and_labels(tmp_path: Path) -> None:
    old = _kb(tmp_path / "old.kb", _headache(codes={"ICD10": ("G43.9",)}))
    more = (Name("Headache", "en", "A", "PT"), Name("Cefalea", "es", "B"))
    new = _kb(tmp_path / "new.kb", _headache(names=more, codes={"ICD10": ("R51",), "X": ("1",)}))
    found = diff(old, new)
    totals = {(one.what, one.label): (one.before, one.after) for one in found.totals}
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


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=st.dictionaries(st.sampled_from("AB"), FACTS, min_size=1),
       after=st.dictionaries(st.sampled_from("AB"), FACTS, min_size=1))  # fmt: skip
def test_against_the_records(
    tmp_path: Path, before: dict[str, dict], after: dict[str, dict]
) -> None:  # fmt: skip
    old, new = (
        _kb(tmp_path / name, *(Concept(id, id, (Name(id),), **own) for id, own in facts.items()))
        for name, facts in (("old.kb", before), ("new.kb", after))
    )
    found = {(one.kind, one.id, one.label) for one in changes(old, new) if "changed" in one.kind}
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
