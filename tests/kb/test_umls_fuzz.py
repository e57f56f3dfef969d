"""Damaged UMLS and MeSH files: every line is read, reported or refused, and nothing else happens.

A second, slow reading of MRCONSO says what should have been read.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.umls import rrf
from spacy_medlink.types import BadLine, Concept, Record
from tests.kb.mesh_release import DESCRIPTORS, SUPPLEMENTS
from tests.kb.umls_release import TABLES, write_release
from tests.mutants import mutate

pytestmark = pytest.mark.filterwarnings("ignore:.W110")  # most have no types

UMLS_ERRORS = {"E105", "E150", "E160"}
MESH_ERRORS = {"E105"}
BLOCKS = (17, 61, 300, 1 << 16)
SHARDS = (
    b"\xed\xa0\x80", b"|\n", b" ", "\u00ad".encode(), b"C0000010|", b"C9999999|", b"O", b"PAR",
    b"CHD", b"&lol;", b"<", b">", b"</Concept>", b"&#0;", b"<DescriptorUI>",
    b"<!ENTITY lol 'lol'>", b"<![CDATA[", b"x" * 70_000,
)  # fmt: skip


def read_or_refused(
    format: str, path: Path, codes: set[str]
) -> tuple[list[Record], list[BadLine]] | None:
    """Read with bad lines collected; None when the whole is refused with one of the codes."""
    bad_lines: list[BadLine] = []
    try:
        return list(read(format, path, bad_lines)), bad_lines
    except MedlinkError as error:
        assert error.code in codes, error
        return None


def check_raises(format: str, path: Path, bad_lines: list[BadLine]) -> None:
    """When nobody collects bad lines, there must be an error just if there are any."""
    if not bad_lines:
        list(read(format, path, None))
        return
    with pytest.raises(MedlinkError, match=r"E105.* line \d+: ") as caught:
        list(read(format, path, None))
    assert any(f"{bad.path}, line {bad.line}: {bad.problem}" in str(caught.value)
               for bad in bad_lines)  # fmt: skip


def sorted_rows(data: bytes) -> tuple[list[tuple[str, str]], list[int]] | None:
    """Read MRCONSO the slow way: (id, name) of good rows, numbers of bad ones; None if unsorted."""
    rows, bad = [], []
    last = ""
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        raw = raw.removesuffix(b"\r")
        if not raw.strip():
            continue
        try:
            *fields, end = raw.decode().split("|")
        except UnicodeDecodeError:
            bad.append(number)
            continue
        id = fields[0] if fields else ""
        if (
            len(fields) != 18 or end or "\0" in raw.decode()
            or not id or " " in id or not id.isprintable() or not fields[14].strip()
        ):  # fmt: skip
            bad.append(number)
        elif id < last:
            return None
        else:
            last = id
            rows.append((id, fields[14]))
    return rows, bad


def check_conso(directory: Path) -> None:
    """Compare the reader with the slow one, where the other tables are well."""
    path = directory / "MRCONSO.RRF"
    expected = sorted_rows(path.read_bytes())
    found = read_or_refused("umls", directory, UMLS_ERRORS)
    if found is None or expected is None:
        assert found is None
        assert expected is None
        return
    (rows, bad), (records, bad_lines) = expected, found
    concepts = [record for record in records if isinstance(record, Concept)]
    assert [concept.id for concept in concepts] == list(dict.fromkeys(id for id, _ in rows))
    names = {
        (concept.id, name.text)
        for concept in concepts for name in concept.names if name.tty != "TRADE"
    }  # fmt: skip
    assert names == set(rows)
    assert sorted(bad.line for bad in bad_lines) == bad
    assert all(bad.path == str(path) for bad in bad_lines)
    check_raises("umls", directory, bad_lines)


def check(format: str, codes: set[str], path: Path) -> None:
    """Check that damage in any table or document is met in order."""
    found = read_or_refused(format, path, codes)
    if found is not None:
        check_raises(format, path, found[1])


check_umls, check_mesh = partial(check, "umls", UMLS_ERRORS), partial(check, "mesh", MESH_ERRORS)


def fuzz_umls(
    directory: Path, seeds: range, tables: list[str], check: Callable[[Path], None]
) -> None:
    write_release(directory)
    for seed in seeds:
        chance = random.Random(seed)
        path = directory / f"{chance.choice(tables)}.RRF"
        good = path.read_bytes()
        path.write_bytes(mutate(good, chance, SHARDS))
        rrf._BLOCK = chance.choice(BLOCKS)
        try:
            check(directory)
        except BaseException:
            print(f"seed {seed}, {path.name}, block {rrf._BLOCK}")
            raise
        path.write_bytes(good)


def fuzz_mesh(directory: Path, seeds: range) -> None:
    for seed in seeds:
        chance = random.Random(seed)
        path, good = directory / "mesh.xml", chance.choice((DESCRIPTORS, SUPPLEMENTS))
        path.write_bytes(mutate(good.encode(), chance, SHARDS))
        try:
            check_mesh(path)
        except BaseException:
            print(f"seed {seed}")
            raise


@pytest.fixture(autouse=True)
def _block_size(monkeypatch):
    monkeypatch.setattr(rrf, "_BLOCK", rrf._BLOCK)  # to be put back


SEEDS = pytest.mark.parametrize(
    "seeds",
    [
        range(200),
        pytest.param(range(10_000, 45_000), marks=[pytest.mark.slow, pytest.mark.timeout(7200)]),
    ],
    ids=["some", "35,000"],
)


@SEEDS
def test_damaged_names(tmp_path, seeds):
    fuzz_umls(tmp_path, seeds, ["MRCONSO"], check_conso)


@SEEDS
def test_damage_in_any_table(tmp_path, seeds):
    fuzz_umls(tmp_path, seeds, list(TABLES), check_umls)


@SEEDS
def test_damaged_documents(tmp_path, seeds):
    fuzz_mesh(tmp_path, seeds)


# Mostly what an RRF file is made of, so that whole rows come about.
FIELDS = st.text(
    st.one_of(st.sampled_from("CA01 \r\t"), st.characters(exclude_characters="|\n")), max_size=4
)
ROWS = st.lists(
    st.one_of(
        st.lists(FIELDS, min_size=18, max_size=18).map(lambda fields: "|".join([*fields, ""])),
        st.lists(FIELDS, max_size=20).map("|".join),
    ).map(lambda row: row.encode(errors="surrogatepass")),
    max_size=8,
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS, st.sampled_from([b"\n", b"\r\n"]), st.sampled_from(BLOCKS), st.booleans())
def test_any_rows(tmp_path, rows, end, block, sort):
    rrf._BLOCK = block
    (tmp_path / "MRCONSO.RRF").write_bytes(end.join(sorted(rows) if sort else rows))
    check_conso(tmp_path)
