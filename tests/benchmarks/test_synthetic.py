"""The generator of UMLS-shaped data: columns, order, counts, determinism, next year's release."""

import gzip
import hashlib
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import synthetic_umls
from benchmarks.synthetic.draws import Shuffle, scatter, zipf_counts
from benchmarks.synthetic.languages import LANGUAGES

COLUMNS = {
    "MRCONSO": 18,
    "MRSTY": 6,
    "MRDEF": 8,
    "MRREL": 16,
    "MRCUI": 7,
    "MRRANK": 4,
    "MRSAB": 25,
    "MRMAP": 26,
}
CONCEPTS, NAMES = 6000, 21_426


class Atom(NamedTuple):
    """A row of MRCONSO."""

    cui: str
    lat: str
    ts: str
    lui: str
    stt: str
    sui: str
    ispref: str
    aui: str
    saui: str
    scui: str
    sdui: str
    sab: str
    tty: str
    code: str
    text: str
    srl: str
    suppress: str
    cvf: str


def rrf(directory: Path, name: str) -> list[list[str]]:
    text = (directory / f"{name}.RRF").read_text(encoding="utf8")
    assert text.endswith("|\n")
    return [row.split("|")[:-1] for row in text[:-1].split("\n")]


def atoms(directory: Path) -> list[Atom]:
    return [Atom(*row) for row in rrf(directory, "MRCONSO")]


def digest(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*.*"))
    }


def is_a(directory: Path) -> dict[str, set[str]]:
    """Parents of every child, from rows in one direction; the other must say the same."""
    up: dict[str, set[str]] = defaultdict(set)
    down: dict[str, set[str]] = defaultdict(set)
    for cui1, _, _, rel, cui2, _, _, rela, *_ in rrf(directory, "MRREL"):
        if rel == "PAR" or rela == "inverse_isa":
            up[cui1].add(cui2)
        if rel == "CHD" or rela == "isa":
            down[cui2].add(cui1)
    assert up == down
    return up


@pytest.fixture(scope="module")
def meta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("umls") / "META"
    rows = synthetic_umls.generate(path, concepts=CONCEPTS, names=NAMES, seed=3)
    assert rows == {name: len(rrf(path, name)) for name in COLUMNS}
    return path


@pytest.fixture(scope="module")
def next_year(meta: Path) -> tuple[Path, dict[str, int]]:
    path = meta.parent / "NEXT"
    return path, synthetic_umls.evolve(meta, path, fraction=0.05, seed=1)


@pytest.fixture(params=["old", "new"])
def release(
    request: pytest.FixtureRequest, meta: Path, next_year: tuple[Path, dict[str, int]]
) -> Path:
    return meta if request.param == "old" else next_year[0]


@pytest.mark.parametrize("name", COLUMNS)
def test_rrf_columns(release: Path, name: str) -> None:
    rows = rrf(release, name)
    assert {len(row) for row in rows} == {COLUMNS[name]}
    if name in ("MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI"):
        assert all(one[0] <= two[0] for one, two in pairwise(rows))
        assert {len(row[0]) for row in rows} == {8}


def test_umls_counts_are_exact(meta: Path) -> None:
    counts = Counter(atom.cui for atom in atoms(meta))
    assert (len(counts), counts.total()) == (CONCEPTS, NAMES)
    assert 50 < max(counts.values()) < 1000
    assert np.median(list(counts.values())) <= 2
    assert {row[0] for row in rrf(meta, "MRSTY")} == counts.keys()
    assert {1, 2} == set(Counter(row[0] for row in rrf(meta, "MRSTY")).values())
    assert 0.05 < len(rrf(meta, "MRDEF")) / CONCEPTS < 0.09


def test_umls_languages(meta: Path) -> None:
    counts = Counter(atom.lat for atom in atoms(meta))
    assert counts.keys() == {language.lat for language in LANGUAGES}
    assert 0.6 < counts["ENG"] / NAMES < 0.8
    samples = {atom.lat: atom.text for atom in atoms(meta)}
    for lat, first, last in (
        ("RUS", "Ѐ", "ӿ"),
        ("GRE", "Ͱ", "Ͽ"),
        ("KOR", "가", "힣"),
        ("CHI", "一", "鿿"),
        ("JPN", "゠", "鿿"),
    ):
        assert any(first <= letter <= last for letter in samples[lat]), lat


def test_umls_names_look_like_names(meta: Path) -> None:
    english = [atom.text for atom in atoms(meta) if atom.lat == "ENG"]
    words = [len(text.split()) for text in english]
    assert 30 < np.mean([len(text) for text in english]) < 40
    assert (min(words), max(words)) == (1, 10)
    for character in "0,-[(/":
        assert any(character in text for text in english), character
    assert any(text.isupper() for text in english) and any(text.islower() for text in english)
    assert all(text == text.strip() and "  " not in text for text in english)


def test_umls_string_identifiers(meta: Path) -> None:
    """SUI says which strings are equal and LUI which are equal up to case, as in the UMLS."""
    rows = atoms(meta)
    assert len({atom.aui for atom in rows}) == NAMES
    strings = {(atom.lat, atom.text) for atom in rows}
    assert len(strings) == len({atom.sui for atom in rows})
    assert len(strings) == len({(atom.lat, atom.text, atom.sui) for atom in rows})
    terms = {(atom.lat, atom.text.casefold()) for atom in rows}
    assert len(terms) == len({atom.lui for atom in rows}) < len(strings)
    assert 0.9 < len(strings) / NAMES < 1
    owners = defaultdict(set)
    for atom in rows:
        owners[atom.lat, atom.text].add(atom.cui)
    ambiguous = sum(len(cuis) > 1 for cuis in owners.values())
    assert 0.002 < ambiguous / len(strings) < 0.05


def test_umls_preferred_name_of_each_language(meta: Path) -> None:
    preferred = Counter((atom.cui, atom.lat) for atom in atoms(meta) if atom.ts == "P")
    assert set(preferred.values()) == {1}
    assert preferred.keys() == {(atom.cui, atom.lat) for atom in atoms(meta)}


def test_umls_sources(meta: Path) -> None:
    rows = atoms(meta)
    suppress = Counter(atom.suppress for atom in rows)
    assert suppress.keys() == {"N", "O", "E", "Y"}
    assert 0.02 < suppress["O"] / NAMES < 0.1
    kinds = {(atom.sab, atom.tty, atom.suppress) for atom in rows}
    ranks = {tuple(row[1:]): int(row[0]) for row in rrf(meta, "MRRANK")}
    assert kinds <= ranks.keys() and len(set(ranks.values())) == len(ranks)
    assert {sab for sab, _, _ in kinds} <= {row[3] for row in rrf(meta, "MRSAB")}
    codes = defaultdict(set)
    for atom in rows:
        if atom.sab == "SNOMEDCT_US":
            codes[atom.code].add(atom.cui)
    assert {len(cuis) for cuis in codes.values()} == {1}
    assert {row[6] for row in rrf(meta, "MRMAP")} <= codes.keys()


def test_umls_relations(release: Path, meta: Path) -> None:
    cuis = {atom.cui for atom in atoms(release)}
    rows = rrf(release, "MRREL")
    assert {row[0] for row in rows} | {row[4] for row in rows} <= cuis
    assert len({row[8] for row in rows}) == len(rows)
    assert 1.5 < len(rows) / len(cuis) < 3
    if release == meta:
        owners = {atom.aui: atom.cui for atom in atoms(release)}
        assert all(owners[row[1]] == row[0] and owners[row[5]] == row[4] for row in rows)
    up = is_a(release)
    list(TopologicalSorter(up).static_order())  # raises CycleError
    orphans = cuis - up.keys()
    assert len(orphans) == 1, "one root, from which everything hangs"
    trade = {(row[3], row[7]) for row in rows if "tradename" in row[7]}
    assert trade == {("RB", "has_tradename"), ("RN", "tradename_of")}


def test_umls_history(meta: Path) -> None:
    cuis = {atom.cui for atom in atoms(meta)}
    history = rrf(meta, "MRCUI")
    assert not cuis & {row[0] for row in history}
    assert {row[2] for row in history} >= {"DEL", "SY"}
    for row in history:
        assert (row[5] == "") if row[2] == "DEL" else (row[5] in cuis)


@pytest.mark.parametrize("gz", [False, True])
def test_umls_is_deterministic(tmp_path: Path, gz: bool) -> None:
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        synthetic_umls.generate(tmp_path / name, 300, 1071, seed=seed, gz=gz)
        synthetic_umls.evolve(tmp_path / name, tmp_path / f"{name}+1", 0.1, seed=seed)
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    assert digest(tmp_path / "one+1") == digest(tmp_path / "two+1")
    conso = "MRCONSO.RRF.gz" if gz else "MRCONSO.RRF"
    assert digest(tmp_path / "one")[conso] != digest(tmp_path / "other")[conso]
    assert digest(tmp_path / "one+1")[conso] != digest(tmp_path / "one")[conso]


def test_umls_gz_holds_the_same(tmp_path: Path) -> None:
    for gz in (False, True):
        synthetic_umls.generate(tmp_path / str(gz), 200, 700, gz=gz)
    for path in (tmp_path / "False").iterdir():
        packed = tmp_path / "True" / f"{path.name}.gz"
        assert gzip.decompress(packed.read_bytes()) == path.read_bytes()


def test_umls_does_not_depend_on_the_block_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthetic_umls.generate(tmp_path / "one", 900, 3000)
    blocks = synthetic_umls.blocks
    monkeypatch.setattr(synthetic_umls, "blocks", lambda offsets: blocks(offsets, 100))
    synthetic_umls.generate(tmp_path / "many", 900, 3000)
    assert digest(tmp_path / "one") == digest(tmp_path / "many")


@pytest.mark.parametrize(
    ("concepts", "names", "languages"), [(1, 1, 1), (1, 700, 20), (50, 50, 2), (7, 1000, 3)]
)
def test_umls_odd_sizes(tmp_path: Path, concepts: int, names: int, languages: int) -> None:
    synthetic_umls.generate(tmp_path / "a", concepts, names, languages=languages)
    counts = Counter(atom.cui for atom in atoms(tmp_path / "a"))
    assert (len(counts), counts.total()) == (concepts, names)
    assert len({atom.lat for atom in atoms(tmp_path / "a")}) <= languages
    synthetic_umls.evolve(tmp_path / "a", tmp_path / "b", 0.2)
    assert atoms(tmp_path / "b")


def test_umls_refuses_the_impossible(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="need at least 10 names"):
        synthetic_umls.generate(tmp_path, concepts=10, names=9)
    with pytest.raises(ValueError, match="1 to 20 languages"):
        synthetic_umls.generate(tmp_path, languages=21)
    with pytest.raises(ValueError, match="at most"):
        synthetic_umls.generate(tmp_path, concepts=10**7, names=10**8)
    synthetic_umls.generate(tmp_path, 20, 60)
    with pytest.raises(ValueError, match="old release"):
        synthetic_umls.evolve(tmp_path, tmp_path / ".")


def test_evolve_changes_the_fraction_asked_for(
    meta: Path, next_year: tuple[Path, dict[str, int]]
) -> None:
    directory, changes = next_year
    old = {atom.aui: atom for atom in atoms(meta)}
    new = {atom.aui: atom for atom in atoms(directory)}
    both = old.keys() & new.keys()
    moved = {aui for aui in both if old[aui].cui != new[aui].cui}
    assert len(old.keys() - new.keys()) == changes["dropped"]
    assert len(new.keys() - old.keys()) == changes["added"]
    assert len(moved) == changes["moved"]
    assert changes["dropped"] + changes["moved"] + changes["added"] == round(0.05 * NAMES)
    assert all(changes.values()), "every kind of change occurs"
    assert all(old[aui] == new[aui] for aui in both - moved)
    assert {old[aui].text for aui in moved} == {new[aui].text for aui in moved}
    assert len(new) == len(atoms(directory))


def test_evolve_keeps_history(meta: Path, next_year: tuple[Path, dict[str, int]]) -> None:
    directory, changes = next_year
    old, new = ({atom.cui for atom in atoms(path)} for path in (meta, directory))
    history = {row[0]: row for row in rrf(directory, "MRCUI")}
    gone = old - new
    fate = Counter(history[cui][2] for cui in gone)
    assert fate == {"DEL": changes["retired"], "SY": changes["merged"]}
    assert len(new - old) == changes["new_concepts"]
    assert not history.keys() & new
    assert all(row[2] == "DEL" or row[5] in new for row in history.values())
    assert {row[0] for row in rrf(meta, "MRCUI")} <= history.keys()
    for name in ("MRSTY", "MRDEF"):
        assert {row[0] for row in rrf(directory, name)} <= new
    assert {history[cui][1] for cui in gone} == {"2026AA"}
    assert {row[6] for row in rrf(directory, "MRSAB")} == {"2027AA"}


def test_evolve_again(next_year: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    """Identifiers are never used twice, not even by the release after the next."""
    synthetic_umls.evolve(next_year[0], tmp_path, 0.05, seed=2)
    before, rows = atoms(next_year[0]), atoms(tmp_path)
    assert len({atom.aui for atom in rows}) == len(rows)
    new = {atom.aui for atom in rows} - {atom.aui for atom in before}
    assert min(new) > max(atom.aui for atom in before)
    history = {row[0] for row in rrf(tmp_path, "MRCUI")}
    assert not history & {atom.cui for atom in rows}
    suis = defaultdict(set)
    for atom in rows:
        suis[atom.sui].add((atom.lat, atom.text))
    assert {len(strings) for strings in suis.values()} == {1}


@given(st.integers(1, 5000), st.integers(0, 100))
def test_shuffle_is_a_permutation(size: int, seed: int) -> None:
    shuffle = Shuffle(size, seed)
    numbers = np.arange(size)
    places = shuffle(numbers)
    assert np.array_equal(np.sort(places), numbers)
    assert np.array_equal(shuffle.inverse(places), numbers)


@given(st.integers(0, 100), st.sampled_from([8, 12, 16]))
def test_scatter_is_one_to_one(seed: int, width: int) -> None:
    numbers = np.arange(1 << width)
    assert np.array_equal(np.sort(scatter(numbers, width, seed)), numbers)


@given(st.integers(1, 300), st.integers(1, 4), st.integers(0, 5000), st.integers(0, 9))
def test_zipf_counts_are_exact(parts: int, minimum: int, extra: int, seed: int) -> None:
    counts = zipf_counts(parts * minimum + extra, parts, minimum, seed)
    assert len(counts) == parts and counts.sum() == parts * minimum + extra
    assert counts.min() >= minimum
