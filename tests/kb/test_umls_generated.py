"""The UMLS reader against a plain reading of a generated release, and the build of it."""

from collections import defaultdict

import pytest

from benchmarks.umls import generate
from spacy_medlink.kb.readers import read
from spacy_medlink.types import Concept, Retired


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    path = tmp_path_factory.mktemp("META")
    generate(path, concepts=2000, names=7000, seed=3)
    return path


@pytest.fixture(scope="module")
def concepts(release):
    return {record.id: record for record in read("umls", release) if isinstance(record, Concept)}


def table(release, name):
    for line in (release / f"{name}.RRF").read_text(encoding="utf8").splitlines():
        yield line.split("|")


def test_the_preferred_name_has_the_highest_rank(release, concepts):
    ranks = {tuple(row[1:4]): int(row[0]) for row in table(release, "MRRANK")}
    best = defaultdict(list)
    for row in table(release, "MRCONSO"):
        if row[1] == "ENG" and row[16] == "N":
            best[row[0]].append((ranks[row[11], row[12], row[16]], row[14]))
    assert len(best) > 1000
    for id, names in best.items():
        top = max(rank for rank, _ in names)
        assert concepts[id].name in {text for rank, text in names if rank == top}


def test_types_parents_and_codes(release, concepts):
    types, parents, codes = defaultdict(set), defaultdict(set), defaultdict(set)
    for row in table(release, "MRSTY"):
        types[row[0]].add(row[1])
    for row in table(release, "MRREL"):
        if (row[3] == "CHD" or row[7] == "isa") and row[0] != row[4]:
            parents[row[4]].add(row[0])
    for row in table(release, "MRCONSO"):
        if row[11] in ("SNOMEDCT_US", "ICD10CM"):
            codes[row[0], row[11]].add(row[13])
    for id, concept in concepts.items():
        assert set(concept.types) == types[id]
        assert set(concept.parents) == parents[id]
        for vocabulary in ("SNOMEDCT_US", "ICD10CM"):
            assert set(concept.codes.get(vocabulary, ())) == codes[id, vocabulary]


def test_brands_are_found_from_the_other_side_too(release, concepts):
    pairs = [(row[4], row[0]) for row in table(release, "MRREL") if row[7] == "has_tradename"]
    assert len(pairs) > 10
    for substance, brand in pairs:
        known = {name.text for name in concepts[substance].names}
        assert {name.text for name in concepts[brand].names
                if not name.obsolete and name.tty != "TRADE"} <= known  # fmt: skip


def test_history(release):
    rows = {row[0]: row for row in table(release, "MRCUI")}
    retired = {record.id: record for record in read("umls", release) if isinstance(record, Retired)}
    assert retired.keys() == rows.keys()
    for id, row in rows.items():
        assert retired[id].replaced_by == (row[5] if row[2] == "SY" else "")
