"""Damaged names of the UMLS: a second, slow reading of MRCONSO says what should have been read."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.kb.readers.umls import rrf
from spacy_medlink.types import Concept
from tests.kb.readers.test_fuzz import BLOCKS, REFUSED, ROUNDS, SHARDS, examine
from tests.kb.umls_release import TABLES, write_release
from tests.mutants import mutate

pytestmark = pytest.mark.filterwarnings("ignore:.W110")  # most have no types


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
    found = examine("umls", directory, REFUSED["umls"])
    if found is None or expected is None:
        assert found is expected
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


@pytest.fixture(autouse=True)
def _block_size(monkeypatch):
    monkeypatch.setattr(rrf, "_BLOCK", rrf._BLOCK)  # to be put back


@ROUNDS
def test_damaged_names(tmp_path, rounds):
    rng = random.Random(f"names {rounds}")
    path = write_release(tmp_path, TABLES) / "MRCONSO.RRF"
    good = path.read_bytes()
    for _ in range(rounds):
        path.write_bytes(mutate(good, rng, SHARDS))
        rrf._BLOCK = rng.choice(BLOCKS)
        check_conso(tmp_path)


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


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.sampled_from([b"\n", b"\r\n"]), st.sampled_from(BLOCKS), st.booleans())
def test_any_rows(tmp_path, rows, end, block, sort):
    rrf._BLOCK = block
    (tmp_path / "MRCONSO.RRF").write_bytes(end.join(sorted(rows) if sort else rows))
    check_conso(tmp_path)
