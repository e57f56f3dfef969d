"""The generator of SNOMED CT shaped data: files, identifiers, hierarchy, languages, history."""

import hashlib
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import synthetic_rf2
from benchmarks.synthetic.sctid import check_digits

CONCEPTS, NAMES = 3000, 15_111
ROOT = "138875005"
IS_A = "116680003"
FILES = {
    "Terminology/sct2_Concept_Snapshot_INT_20260101.txt": 5,
    "Terminology/sct2_Description_Snapshot-en_INT_20260101.txt": 9,
    "Terminology/sct2_Description_Snapshot-es_INT_20260101.txt": 9,
    "Terminology/sct2_TextDefinition_Snapshot-en_INT_20260101.txt": 9,
    "Terminology/sct2_Relationship_Snapshot_INT_20260101.txt": 10,
    "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT_20260101.txt": 7,
    "Refset/Language/der2_cRefset_LanguageSnapshot-es_INT_20260101.txt": 7,
    "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT_20260101.txt": 13,
    "Refset/Map/der2_sRefset_SimpleMapSnapshot_INT_20260101.txt": 7,
    "Refset/Content/der2_cRefset_AssociationSnapshot_INT_20260101.txt": 7,
}


def rf2(directory: Path, pattern: str) -> list[dict[str, str]]:
    (path,) = directory.glob(f"Snapshot/**/{pattern}")
    text = path.read_bytes().decode("utf8")
    assert text.endswith("\r\n")
    head, *rows = [row.split("\t") for row in text[:-2].split("\r\n")]
    return [dict(zip(head, row, strict=True)) for row in rows]


def digest(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*.txt"))
    }


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rf2")
    synthetic_rf2.generate(path, concepts=CONCEPTS, names=NAMES, seed=3)
    return path


def test_files(snapshot: Path) -> None:
    found = {str(path.relative_to(snapshot / "Snapshot")) for path in snapshot.rglob("*.txt")}
    assert found == FILES.keys()
    for name, columns in FILES.items():
        rows = (snapshot / "Snapshot" / name).read_bytes().decode("utf8").split("\r\n")[:-1]
        assert {row.count("\t") + 1 for row in rows} == {columns}, name
        ids = [row.split("\t")[0] for row in rows]
        assert ids[0] == "id" and len(set(ids)) == len(ids) > 1


def test_counts_are_exact(snapshot: Path) -> None:
    concepts = rf2(snapshot, "sct2_Concept_*")
    assert len(concepts) == CONCEPTS
    assert sum(row["active"] == "0" for row in concepts) == round(0.08 * CONCEPTS)
    english, spanish = (rf2(snapshot, f"sct2_Description_*-{lang}_*") for lang in ("en", "es"))
    assert len(english) + len(spanish) == NAMES
    assert {row["languageCode"] for row in english} == {"en"}
    assert {row["languageCode"] for row in spanish} == {"es"}
    ids = {row["id"] for row in concepts}
    for rows in (english, spanish):
        assert {row["conceptId"] for row in rows} == ids
        names = [row for row in rows if row["typeId"] == "900000000000003001"]
        assert len(names) == CONCEPTS
        assert all(row["term"].endswith(")") for row in names)


def valid(sctid: str) -> bool:
    """Check with the tables as printed in the specification."""
    product = """0123456789 1234067895 2340178956 3401289567 4012395678
        5987604321 6598710432 7659821043 8765932104 9876543210""".split()
    powers = """0123456789 1576283094 5803796142 8916043527
        9453126870 4286573901 2793806415 7046913258""".split()
    check = 0
    for place, digit in enumerate(reversed(sctid)):
        check = int(product[check][int(powers[place % 8][int(digit)])])
    return check == 0


def test_identifiers(snapshot: Path) -> None:
    assert valid(ROOT) and valid(IS_A) and not valid("138875006")
    for pattern, partition in (
        ("sct2_Concept_*", "00"),
        ("sct2_Description_*-en_*", "01"),
        ("sct2_Description_*-es_*", "01"),
        ("sct2_TextDefinition_*", "01"),
        ("sct2_Relationship_*", "02"),
    ):
        for row in rf2(snapshot, pattern):
            assert valid(row["id"]) and row["id"][-3:-1] == partition
            assert row["effectiveTime"] <= "20260101"
    concepts = {row["id"] for row in rf2(snapshot, "sct2_Concept_*")}
    for row in rf2(snapshot, "sct2_Relationship_*"):
        assert {row["sourceId"], row["destinationId"]} <= concepts


@given(st.integers(min_value=1, max_value=10**17 - 1))
def test_verhoeff(number: int) -> None:
    digit = int(check_digits(np.array([number]))[0])
    assert [d for d in range(10) if valid(f"{number}{d}")] == [digit]


def test_hierarchy(snapshot: Path) -> None:
    active = {row["id"] for row in rf2(snapshot, "sct2_Concept_*") if row["active"] == "1"}
    rows = [row for row in rf2(snapshot, "sct2_Relationship_*") if row["typeId"] == IS_A]
    parents: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["active"] == "1":
            parents[row["sourceId"]].add(row["destinationId"])
    list(TopologicalSorter(parents).static_order())  # raises CycleError
    assert active - parents.keys() == {ROOT}
    assert parents.keys() | set().union(*parents.values()) == active
    # What ended would close cycles: only a reader that minds `active` passes.
    ended = [row for row in rows if row["active"] == "0"]
    assert any(row["sourceId"] in parents[row["destinationId"]] for row in ended)


def test_associations(snapshot: Path) -> None:
    concepts = {row["id"]: row["active"] for row in rf2(snapshot, "sct2_Concept_*")}
    rows = rf2(snapshot, "der2_cRefset_Association*")
    assert {"900000000000527005", "900000000000526001"} < {row["refsetId"] for row in rows}
    assert {concepts[row["referencedComponentId"]] for row in rows} == {"0"}
    assert {concepts[row["targetComponentId"]] for row in rows} == {"0", "1"}
    heirs: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        heirs[row["referencedComponentId"]].add(row["targetComponentId"])
    list(TopologicalSorter(heirs).static_order())  # raises CycleError


def test_languages(snapshot: Path) -> None:
    preferred = "900000000000548007"
    for lang, refset in (("en", "900000000000509007"), ("es", "448879004")):
        rows = rf2(snapshot, f"sct2_Description_*-{lang}_*")
        active = {row["id"]: row for row in rows if row["active"] == "1"}
        assert 0 < len(rows) - len(active) < 0.05 * len(rows)
        members = rf2(snapshot, f"der2_cRefset_Language*-{lang}_*")
        assert {row["referencedComponentId"] for row in members} <= active.keys()
        chosen = Counter(
            (active[row["referencedComponentId"]]["conceptId"], typed)
            for row in members
            if row["refsetId"] == refset and row["acceptabilityId"] == preferred
            for typed in [active[row["referencedComponentId"]]["typeId"]]
        )
        assert set(chosen.values()) == {1}, "one preferred term and one FSN a concept"
        assert len(chosen) == 2 * CONCEPTS


def test_maps(snapshot: Path) -> None:
    concepts = {row["id"] for row in rf2(snapshot, "sct2_Concept_*") if row["active"] == "1"}
    rows = rf2(snapshot, "der2_iisssccRefset_*")
    assert {row["referencedComponentId"] for row in rows} <= concepts
    assert {(row["mapGroup"], row["mapPriority"]) for row in rows} == {
        ("1", "1"),
        ("1", "2"),
        ("2", "1"),
    }
    unclassified = [row for row in rows if not row["mapTarget"]]
    assert 0 < len(unclassified) < len(rows) / 5
    simple = rf2(snapshot, "der2_sRefset_*")
    assert {row["refsetId"] for row in simple} == {"900000000000497000", "446608001"}
    assert {row["referencedComponentId"] for row in simple} <= concepts


def test_is_deterministic(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        synthetic_rf2.generate(tmp_path / name, concepts=200, seed=seed)
    assert digest(tmp_path / "one") == digest(tmp_path / "two") != digest(tmp_path / "other")
    with pytest.raises(ValueError, match="need at least"):
        synthetic_rf2.generate(tmp_path, concepts=10, names=39)
