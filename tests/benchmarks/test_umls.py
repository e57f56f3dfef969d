"""Invented releases: columns, order, counts, hierarchies, history, determinism."""

import hashlib
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import umls
from benchmarks.invented import LANGUAGES

COLUMNS = {
    "MRCONSO": 18, "MRSTY": 6, "MRDEF": 8, "MRREL": 16, "MRCUI": 7, "MRRANK": 4, "MRSAB": 25,
}  # fmt: skip
CONCEPTS, NAMES, FRACTION = 3001, 10_714, 0.05
Rows = dict[str, list[list[str]]]


def read_umls(directory: Path) -> Rows:
    texts = {path.stem: path.read_text(encoding="utf8") for path in directory.iterdir()}
    rows = {name: text.split("\n")[:-1] for name, text in texts.items()}
    return {name: [row.split("|")[:-1] for row in table] for name, table in rows.items()}


def digest(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*.*") if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check_hierarchy(parents: dict[str, set[str]], concepts: set[str]) -> str:
    """Check that all hang from one root, without circles, and return it."""
    list(TopologicalSorter(parents).static_order())  # raises CycleError
    assert parents.keys() | set().union(*parents.values()) == concepts
    (root,) = concepts - parents.keys()
    return root


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> list[Rows]:
    path = tmp_path_factory.mktemp("umls")
    for year in range(3):
        counts = umls.generate(path / str(year), CONCEPTS, NAMES, 3, year, FRACTION)
    releases = [read_umls(path / str(year)) for year in range(3)]
    assert counts == {name: len(rows) for name, rows in releases[2].items()}
    return releases


@pytest.mark.parametrize("year", range(3))
def test_umls_files(years: list[Rows], year: int) -> None:
    tables = years[year]
    assert {name: len(row) for name, rows in tables.items() for row in rows} == COLUMNS
    for name in ("MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI"):
        assert all(one[0] <= two[0] for one, two in pairwise(tables[name]))
    cuis = {row[0] for row in tables["MRCONSO"]}
    assert {row[0] for row in tables["MRSTY"]} == cuis
    assert {row[0] for row in tables["MRDEF"]} < cuis
    assert len({row[7] for row in tables["MRCONSO"]}) == len(tables["MRCONSO"])
    history = {row[0]: row for row in tables["MRCUI"]}
    assert not cuis & history.keys()
    assert {row[2] for row in history.values()} == {"DEL", "SY"}
    assert all((row[5] in cuis) == (row[2] == "SY") for row in history.values())


@pytest.mark.parametrize("year", range(3))
def test_umls_relations(years: list[Rows], year: int) -> None:
    rows, cuis = years[year]["MRREL"], {row[0] for row in years[year]["MRCONSO"]}
    assert len({row[8] for row in rows}) == len(rows)
    turned = {
        "PAR": "CHD", "RB": "RN", "RO": "RO", "inverse_isa": "isa", "": "",
        "has_tradename": "tradename_of", "has_finding_site": "finding_site_of",
    }  # fmt: skip
    turned |= {two: one for one, two in turned.items()}
    sides = {(row[0], row[4], row[3], row[7]) for row in rows}
    assert sides == {(two, one, turned[rel], turned[rela]) for one, two, rel, rela in sides}
    assert {rela for *_, rela in sides} == turned.keys() - {"PAR", "CHD", "RB", "RN", "RO"}
    parents = defaultdict(set)
    for one, two, rel, rela in sides:
        if rel == "PAR" or rela == "inverse_isa":
            parents[one].add(two)
    assert check_hierarchy(parents, cuis) == "C0000005"
    assert max(map(len, parents.values())) == 2


def test_umls_names(years: list[Rows]) -> None:
    rows = years[0]["MRCONSO"]
    counts = Counter(row[0] for row in rows)
    assert (len(counts), counts.total()) == (CONCEPTS, NAMES)
    assert 50 < max(counts.values()) < 1000
    assert {row[1] for row in rows} == LANGUAGES.keys()
    assert {row[16] for row in rows} == {"N", "O", "E", "Y"}
    assert Counter(row[0] for row in rows if row[2] == "P") == dict.fromkeys(counts, 1)
    ranks = {tuple(row[1:]): row[0] for row in years[0]["MRRANK"]}
    assert {(row[11], row[12], row[16]) for row in rows} <= ranks.keys()
    assert len(set(ranks.values())) == len(ranks)
    assert {row[11] for row in rows} == {row[3] for row in years[0]["MRSAB"]}
    texts, strings = defaultdict(set), defaultdict(set)
    for row in rows:
        texts[row[14]].add(row[0])
        strings[row[5]].add((row[1], row[14]))
    assert {len(known) for known in strings.values()} == {1}, "a string has one SUI"
    assert 0.9 < len(texts) / NAMES < 1
    assert 0.005 < sum(len(cuis) > 1 for cuis in texts.values()) / NAMES < 0.05, "ambiguous"
    assert all(text == text.strip() and "  " not in text for text in texts)


def test_umls_next_years(years: list[Rows]) -> None:
    for old, new in pairwise(years):
        before, after = ({row[7]: row for row in rows["MRCONSO"]} for rows in (old, new))
        both = before.keys() & after.keys()
        moved = {aui for aui in both if before[aui][0] != after[aui][0]}
        dropped, added = before.keys() - after.keys(), after.keys() - before.keys()
        assert min(len(moved), len(dropped), len(added)) > 0.1 * FRACTION * NAMES
        changed = len(moved) + len(dropped) + len(added)
        assert 0.7 * FRACTION < changed / NAMES < 1.3 * FRACTION
        assert {before[aui][14] for aui in moved} == {after[aui][14] for aui in moved}
        gone, born = ({row[0] for row in one} - {row[0] for row in two} for one, two in (
            (before.values(), after.values()), (after.values(), before.values())))  # fmt: skip
        assert gone and gone <= {row[0] for row in new["MRCUI"]}
        assert born and not born & {row[0] for row in old["MRCUI"]}
        assert {row[0] for row in old["MRCUI"]} <= {row[0] for row in new["MRCUI"]}
        assert old["MRSAB"][0][6] < new["MRSAB"][0][6]


def test_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        umls.generate(tmp_path / name, 300, 1071, seed, year=1)
    one, two, other = (digest(tmp_path / name) for name in ("one", "two", "other"))
    assert one == two != other


def test_odd_sizes(tmp_path: Path) -> None:
    for concepts, names in ((1, 1), (1, 700), (50, 50), (7, 1000)):
        umls.generate(tmp_path, concepts, names)
        rows = read_umls(tmp_path)["MRCONSO"]
        assert (len({row[0] for row in rows}), len(rows)) == (concepts, names)
        umls.generate(tmp_path, concepts, names, year=1, fraction=0.2)
    for concepts, names in ((10, 9), (0, 0), (10**7, 10**8)):
        with pytest.raises(ValueError, match=r"need at least|at most"):
            umls.generate(tmp_path, concepts, names)
