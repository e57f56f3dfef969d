from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.rekey import rekey
from spacy_medlink.types import Concept, Name, Record, Retired
from tests.tiny import TINY_RECORDS


def _concept(id: str, *codes: str, parents: tuple[str, ...] = (), **more: object) -> Concept:
    found = {"UMLS": codes} if codes else {}
    return Concept(id, f"name of {id}", (Name(f"name of {id}", "en", "HPO"),), codes=found,
                   parents=parents, **more)  # fmt: skip


def _rekeyed(*records: Record) -> tuple[list[Record], int]:
    dropped: Counter[str] = Counter()
    return list(rekey(records, "UMLS", dropped=dropped)), dropped["without UMLS"]


def test_codes_become_ids_and_ids_codes() -> None:
    original = _concept(
        "HP:1", "C1", definition="d", types=("T047",)
    )  # fmt: skip
    (record,), dropped = _rekeyed(original)
    assert record == Concept(
        "C1", original.name, original.names, ("T047",), "d", {"UMLS": ("C1",), "HP": ("HP:1",)}
    )
    assert dropped == 0


def test_several_codes_give_several_concepts() -> None:
    records, _ = _rekeyed(_concept("HP:1", "C2", "C1"), _concept("HP:2", "C3", parents=("HP:1",)))
    assert [record.id for record in records] == ["C1", "C2", "C3"]
    assert all(isinstance(record, Concept) for record in records)
    assert [record.codes["UMLS"] for record in records if isinstance(record, Concept)] == [
        ("C1",), ("C2",), ("C3",),
    ]  # fmt: skip
    assert isinstance(records[2], Concept)
    assert records[2].parents == ("C1", "C2")


def test_what_lies_below_a_dropped_concept_goes_below_its_parents() -> None:
    records, dropped = _rekeyed(
        _concept("HP:4", "C4", parents=("HP:3",)),
        _concept("HP:3", parents=("HP:2", "HP:4")),
        _concept("HP:2", parents=("HP:1", "HP:3")),  # a cycle of dropped ones
        _concept("HP:1", "C1"),
    )
    assert [record.id for record in records] == ["C4", "C1"]
    assert dropped == 2
    assert isinstance(records[0], Concept)
    assert records[0].parents == ("C1",)


def test_a_concept_is_no_parent_of_itself() -> None:
    records, _ = _rekeyed(_concept("HP:1", "C1"), _concept("HP:2", "C1", parents=("HP:1",)))
    assert [record.parents for record in records if isinstance(record, Concept)] == [(), ()]


def test_a_code_in_one_piece_serves_all_pieces() -> None:
    """A concept may come in several records; the builder unites them."""
    records, dropped = _rekeyed(_concept("HP:1"), _concept("HP:2"), _concept("HP:1", "C1"))
    assert [record.id for record in records] == ["C1", "C1"]
    assert dropped == 1


def test_retired_ids_lead_to_the_new_ones() -> None:
    records, _ = _rekeyed(
        Retired("HP:7", "HP:8", "merged"), Retired("HP:8", "HP:1", "merged"),
        Retired("HP:9", "HP:2", "merged"), _concept("HP:1", "C1"), _concept("HP:2"),
    )  # fmt: skip
    assert records[:3] == [
        Retired("HP:7", "HP:8", "merged"),
        Retired("HP:8", "C1", "merged"),
        Retired("HP:9", "", "merged"),  # HP:2 is dropped
    ]


def test_ids_of_the_scheme_stay() -> None:
    concept = Concept("C0011849", "diabetes", (Name("diabetes"),))
    assert _rekeyed(concept)[0] == [
        Concept("C0011849", "diabetes", (Name("diabetes"),), codes={"UMLS": ("C0011849",)})
    ]


def test_the_old_vocabulary() -> None:
    def old(concept: Concept) -> set[str]:
        (record,) = rekey([concept], "UMLS")
        assert isinstance(record, Concept)
        return set(record.codes) - {"UMLS"}

    assert old(_concept("MONDO:1", "C1")) == {"MONDO"}
    assert old(_concept("1234", "C1")) == {"HPO"}


def test_built(tmp_path: Path) -> None:
    report = build_kb(tmp_path / "x.kb", rekey(TINY_RECORDS, "UMLS"))
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert report.missing_parents == 0
    assert kb.resolve("HP:0005965") == "C0011860"
    assert kb["C0011860"].parents == ("C0011849",)
    assert kb["C0011860"].codes.get("HP", ()) == ("HP:0005978",)
    assert {name.lang for name in kb["C0011849"].names} == {"en", "de"}


@given(
    st.dictionaries(
        st.integers(0, 9),
        st.tuples(st.sets(st.sampled_from("ABC")), st.sets(st.integers(0, 9), max_size=3)),
        max_size=8,
    )
)
def test_every_ancestor_that_stays_is_still_an_ancestor(
    graph: dict[int, tuple[set[str], set[int]]],
) -> None:
    concepts = [
        _concept(f"X:{id}", *sorted(f"{code}{id}" for code in codes),
                 parents=tuple(f"X:{parent}" for parent in sorted(parents)))
        for id, (codes, parents) in graph.items()
    ]  # fmt: skip
    records, dropped = _rekeyed(*concepts)
    assert dropped == sum(not codes for codes, _ in graph.values())
    assert len(records) == sum(len(codes) for codes, _ in graph.values())

    def above(start: int) -> set[int]:
        found: set[int] = set()
        waiting = [start]
        while waiting:
            for parent in graph.get(waiting.pop(), (set(), set()))[1]:
                if parent in graph and parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    after = {record.id: record.parents for record in records if isinstance(record, Concept)}
    for id in graph:
        for code in graph[id][0]:
            reached: set[str] = set()
            waiting = [f"{code}{id}"]
            while waiting:
                for new in after[waiting.pop()]:
                    if new not in reached:
                        reached.add(new)
                        waiting.append(new)
            numbers = {int(new[1:]) for new in reached} - {id}
            assert numbers == {number for number in above(id) if graph[number][0]} - {id}
