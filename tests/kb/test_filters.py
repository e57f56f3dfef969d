from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.filters import Filters, name_identity
from spacy_medlink.kb.vocabularies import types_of
from spacy_medlink.types import Concept, Name, Record, Retired
from tests.tables import table
from tests.tiny import TINY_RECORDS

DIABETES = Concept(
    "D",
    "Diabetes mellitus",
    (
        Name("Diabetes mellitus", "en", "HPO|MSH", "PT"),
        Name("DM", "en", "HPO", "AB"),
        Name("diabetes sacarina", "es", "SCTSPA", "PT", obsolete=True),
        Name("Zuckerkrankheit", "de", "MSHGER", "SY"),
    ),
    types=("T047",),
)
HEART = Concept("H", "Heart", (Name("Heart", "en", "FMA", "PT"),), types=("T023",))


def _filtered(filters: Filters, *records: Record) -> tuple[list[Record], Counter[str]]:
    removed: Counter[str] = Counter()
    return list(filters.apply(records or (DIABETES, HEART), removed)), removed


def _texts(record: Record) -> list[str]:
    assert isinstance(record, Concept)
    return [name.text for name in record.names]


def test_only_obsolete_names_go_by_default() -> None:
    (diabetes, heart), removed = _filtered(Filters())
    assert _texts(diabetes) == ["Diabetes mellitus", "DM", "Zuckerkrankheit"]
    assert heart == HEART
    assert removed == {"name: obsolete": 1}
    (diabetes, _), removed = _filtered(Filters(include_obsolete=True))
    assert diabetes == DIABETES and not removed


@table(__file__, "each_filter")
def test_each_filter(filters: dict[str, Any], texts: list[str], reasons: dict[str, int]) -> None:
    records, removed = _filtered(Filters(**filters))
    assert _texts(records[0]) == texts
    assert removed == reasons


def test_the_first_name_left_becomes_the_preferred_one() -> None:
    (record, *_), _ = _filtered(Filters(languages=("de", "es"), include_obsolete=True))
    assert isinstance(record, Concept)
    assert record.name == "Zuckerkrankheit"  # the Spanish one comes first, but is obsolete


@pytest.mark.parametrize("source", ["MSH", "MESH", "mesh"])
def test_sources_of_a_name_are_narrowed_to_those_wanted(source: str) -> None:
    """However they are spelled: the UMLS writes MSH, and codes are of MESH."""
    (record,), _ = _filtered(Filters(sources=(source,)))
    assert isinstance(record, Concept)
    assert record.names == (Name("Diabetes mellitus", "en", "MSH", "PT"),)


def test_a_preferred_name_that_is_not_among_the_names_is_a_name() -> None:
    concept = Concept("A", "alpha", (Name("Alpha", "de"),))
    (record,), _ = _filtered(Filters(languages=("en",)), concept)
    assert isinstance(record, Concept)
    assert record.names == (Name("alpha"),)


def test_retired_ids_pass() -> None:
    records, _ = _filtered(Filters(allow_ids=("D",)), DIABETES, HEART, Retired("S", "D"))
    assert [record.id for record in records] == ["D", "S"]


def test_groups() -> None:
    with pytest.raises(MedlinkError, match=r"E213.*'DISEASE'.*DISO"):
        types_of(["DISEASE"])
    assert types_of(["DISO"]) >= {"T047", "T184", "T191"}
    assert "T047" not in types_of(["CHEM", "ANAT"])
    all_groups = (
        "ACTI ANAT CHEM CONC DEVI DISO GENE GEOG LIVB OBJC OCCU ORGA PHEN PHYS PROC".split()
    )
    # No type is in two groups: 127 of today and 9 of older releases.
    assert sum(len(types_of([group])) for group in all_groups) == len(types_of(all_groups)) == 136


def test_manifest() -> None:
    filters = Filters(languages=("en", "es"), include_obsolete=True)
    assert filters.as_manifest() == {"languages": ["en", "es"], "include_obsolete": True}
    assert Filters().as_manifest() == {}


def test_identity() -> None:
    assert name_identity("Crohn's Disease") == name_identity("crohn disease")
    assert name_identity("ALL") != name_identity("all")
    assert name_identity("+") != name_identity("-")


SOME = st.lists(st.sampled_from(["en", "de", "es", "fr"]), max_size=3).map(tuple)


@given(languages=SOME, include_obsolete=st.booleans())
def test_what_is_removed_is_counted(languages: tuple[str, ...], include_obsolete: bool) -> None:
    filters = Filters(languages=languages, include_obsolete=include_obsolete)
    kept, removed = _filtered(filters, *TINY_RECORDS)
    before = sum(len(record.names) for record in TINY_RECORDS if isinstance(record, Concept))
    after = sum(len(record.names) for record in kept if isinstance(record, Concept))
    names = sum(count for reason, count in removed.items() if reason.startswith("name: "))
    assert before - after == names
    assert len(TINY_RECORDS) - len(kept) == removed["concept: no name left"]
    for record in kept:
        if isinstance(record, Concept):
            assert record.name in {name.text for name in record.names}
