"""Fuzzing of the readers: what no valid file holds is an error with file and line, or is reported.

Valid files are mutated in ways that files really go wrong: cut off, glued, re-encoded, edited by
hand. `MEDLINK_FUZZ` sets how many inputs each sample of the slow test gives.
"""

import codecs
import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.umls import rrf
from spacy_medlink.types import BadLine, Concept, Record, Retired
from tests.kb import samples
from tests.kb.readers.test_releases import RELEASES
from tests.mutants import mutate, rounds, told

# A damaged header has columns that are not known, a damaged cross-reference no vocabulary.
pytestmark = pytest.mark.filterwarnings("ignore:.W11[023]")
BUILT = 0.005  # share of mutants that also goes into a knowledge base, which takes time
ROUNDS = rounds(150, 10_000)  # mutants of each sample, 160,000 in all


class Case(NamedTuple):
    """A valid file, the codes that may end the reading of a mutant, and how to count its rows."""

    format: str
    name: str
    data: bytes
    fatal: frozenset[str]
    count: Callable[[list[Record]], int] | None = None
    headers: tuple[int, ...] = (0,)


def _rows(records: list[Record]) -> int:
    """Count the rows that concepts came from: each gives one preferred or simple name."""
    return sum(name.tty != "AB" for record in records for name in getattr(record, "names", ()))


def _preferred(records: list[Record]) -> int:
    return sum(name.tty == "PT" for record in records for name in getattr(record, "names", ()))


NEVER, TABLE = frozenset[str](), frozenset({"E161", "E132"})
CODES = frozenset({"E105", "E132", "E161"})  # E105: what begins like JSON
CASES = [
    Case("obo", "hp.obo", samples.OBO.encode(), NEVER),
    Case("jsonl", "kb.jsonl", samples.JSONL.encode(), NEVER, len),
    Case("scispacy", "kb.json", samples.SCISPACY.encode(), frozenset({"E105"})),
    Case("owl", "hp.owl", samples.OWL.encode(), frozenset({"E105"})),
    Case("skos", "sweet.ttl", samples.SKOS.encode(), frozenset({"E105"})),
    Case("owl", "fever.nt", samples.N_TRIPLES.encode(), frozenset({"E105"})),
    Case("fhir", "sweet.json", samples.FHIR_TEXT.encode(), frozenset({"E105"})),
    Case("tsv", "names.tsv", samples.TSV.encode(), TABLE, _preferred, (1,)),
    Case("csv", "names.csv", samples.CSV.encode(), TABLE),
    Case("biosyn", "dictionary.txt", samples.BIOSYN.encode(), NEVER, _rows),
    Case("gazetteer", "gazetteer.tsv", samples.GAZETTEER.encode(), TABLE, _rows, (0, 1)),
    Case("icd", "icd10cm_order_2024.txt", samples.ICD_ORDER.encode(), CODES),
    Case("icd", "icd10cm_codes_2024.txt", samples.ICD_CODES.encode(), CODES),
    Case("icd", "Morphenglish.txt", samples.ICDO_MORPHOLOGY.encode(), CODES),
]  # fmt: skip
IDS = [f"{case.format}-{case.name}" for case in CASES]


def examine(
    format: str, path: Path, fatal: frozenset[str]
) -> tuple[list[Record], list[BadLine]] | None:
    """Read a file both ways and check what must hold of any file.

    RETURNS: records and bad lines; None where nothing could be read.
    """
    bad: list[BadLine] = []
    plain, strict = told(lambda: list(read(format, path)), fatal | {"E105", "E160"}, str(path))
    if strict and strict.code == "E160":
        # Hypothesis knows how archives and XML begin, from the constants of the readers.
        fatal |= {strict.code}
    records, _ = told(lambda: list(read(format, path, bad)), fatal)
    if records is None:
        return None
    assert bool(bad) == (strict is not None), (bad, strict)
    if strict is None:
        assert records == plain
    else:
        first = bad if path.is_dir() else bad[:1]  # its files may be read in another order
        problems = [f"{line.path}, line {line.line}: {line.problem}" for line in first]
        assert any(one in strict.message for one in problems)
    for record in records:
        assert_whole(record)
    return records, bad


def assert_whole(record: Record) -> None:
    """Check that a record can be stored, looked up and shown."""
    assert record.id and record.id.isprintable() and record.id == record.id.strip()
    if isinstance(record, Retired):
        assert record.replaced_by == record.replaced_by.strip()
        return
    assert bool(record.name.strip()) == bool(record.names or record.name)
    for name in record.names:
        assert name.text.strip()
    texts = [record.definition, *record.types, *record.parents, *record.codes]
    texts += [text for name in record.names for text in name[:4]]
    texts += [code for codes in record.codes.values() for code in codes]
    assert "\0" not in "".join([record.name, *texts]).encode().decode()


def fuzz(case: Case, path: Path, rng: random.Random) -> None:
    data = mutate(case.data, rng)
    path.write_bytes(data)
    found = examine(case.format, path, case.fatal)
    if found is None:
        return
    records, bad = found
    lines = data.split(b"\n" if b"\n" in data else b"\r")
    assert all(1 <= line.line <= len(lines) for line in bad)
    if case.count and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Every line that is not blank is a record, or was reported: nothing is dropped in silence.
        quotes = case.format in ("tsv", "gazetteer")
        filled = sum(not _is_blank(line, quotes) for line in lines)
        partly = sum(case.format == "jsonl" and line.problem == "an empty name" for line in bad)
        headers = case.headers if records or len(bad) < filled else (0,)
        accounted = case.count(records) + len(bad) - partly
        assert accounted in [filled - header for header in headers], data
    if rng.random() < BUILT:
        assert_buildable(path.with_name("fuzz.kb"), records)


def _is_blank(line: bytes, quotes: bool) -> bool:
    """Tell what the readers hold to be blank: nothing but white space of Unicode.

    quotes (bool): whether cells may be quoted, and so "" is an empty one.
    """
    text = line.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    cells = ["" if quotes and cell == '""' else cell for cell in text.split("\t")]
    return not any(cell and not cell.isspace() for cell in cells)


def assert_buildable(path: Path, records: list[Record]) -> None:
    try:
        build_kb(path, records)
    except MedlinkError as error:
        assert error.code == "E104"
        return
    kb = KnowledgeBase(path)
    for concept in kb:
        assert kb[concept.id].names == concept.names
        kb.ancestors(concept.id)
        kb.resolve(concept.id)


@ROUNDS
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_mutants(case: Case, rounds: int, tmp_path: Path) -> None:
    rng = random.Random(f"{case.name} {rounds}")
    for _ in range(rounds):
        fuzz(case, tmp_path / case.name, rng)


# What gets into the tables of a release and into its XML, besides.
SHARDS = (
    b"\xed\xa0\x80", b"|\n", b" ", "\u00ad".encode(), b"C0000010|", b"C9999999|", b"O", b"PAR",
    b"CHD", b"&lol;", b"<", b">", b"</Concept>", b"&#0;", b"<DescriptorUI>",
    b"<!ENTITY lol 'lol'>", b"<![CDATA[", b"x" * 70_000,
)  # fmt: skip
BLOCKS = (17, 61, 300, 1 << 16)  # bytes of RRF that are read at once
REFUSED = {"mesh": frozenset({"E105"}), "umls": frozenset({"E105", "E150", "E160"})}


@ROUNDS
@pytest.mark.parametrize("name", [name for name in RELEASES if name != "rxnorm"])
def test_mutants_of_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rounds: int
) -> None:
    """One file of a release is damaged, any of them."""
    rng, (format, write) = random.Random(f"{name} {rounds}"), RELEASES[name]
    directory = write(tmp_path)
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    whole = len(list(read(format, directory)))
    for _ in range(rounds):
        monkeypatch.setattr(rrf, "_BLOCK", rng.choice(BLOCKS))
        victim = rng.choice(files)
        data = victim.read_bytes()
        victim.write_bytes(mutate(data, rng, SHARDS))
        fatal = REFUSED.get(name, frozenset({"E160"}))
        records, bad = examine(format, directory, fatal) or ([], [])
        if name == "snomed" and "_Concept_" not in victim.name and (records or bad):
            nameless = sum("without any name" in line.problem for line in bad)
            assert len(records) + nameless == whole
        if rng.random() < BUILT:
            assert_buildable(directory / "fuzz.kb", records)
            (directory / "fuzz.kb").unlink(missing_ok=True)
        victim.write_bytes(data)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)))
def test_anything(case: Case, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / case.name
    path.write_bytes(data)
    examine(case.format, path, case.fatal)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("filling", [b"x", b" ", b'"', b"\t", b"\\", b"[", b"|", b"\xff"])
def test_very_long_lines(case: Case, tmp_path: Path, filling: bytes) -> None:
    path = tmp_path / case.name
    middle = len(case.data) // 2
    for line in (filling * 300_000, b"a" + filling * 300_000 + b"b"):
        path.write_bytes(case.data[:middle] + line + case.data[middle:])
        examine(case.format, path, case.fatal)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("change", ["bom", "crlf", "gz"])
def test_harmless_changes(case: Case, tmp_path: Path, change: str) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data)
    expected = list(read(case.format, path))
    data = {
        "bom": b"\xef\xbb\xbf" + case.data,
        "crlf": case.data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        "gz": gzip.compress(case.data),
    }[change]
    other = tmp_path / (case.name + ".gz") if change == "gz" else path
    other.write_bytes(data)
    assert list(read(case.format, other)) == expected


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_cut_gzip(case: Case, tmp_path: Path) -> None:
    path = tmp_path / f"{case.name}.gz"
    data = gzip.compress(case.data)
    path.write_bytes(data[: len(data) // 2])
    bad: list[BadLine] = []
    with pytest.raises(MedlinkError) as caught:
        list(read(case.format, path, bad))
    assert caught.value.code == "E105"
    assert "gzip" in caught.value.message


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_directory_instead_of_file(case: Case, tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match=r"E160.*(it is a directory|it has no such file)|E165"):
        list(read(case.format, tmp_path))


def test_cycles_and_missing_parents_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.obo"
    path.write_text(
        "[Term]\nid: A:1\nname: a\nis_a: A:2\n\n[Term]\nid: A:2\nname: b\nis_a: A:1\nis_a: A:9\n"
        "is_a: A:2\n\n[Term]\nid: A:1\nname: a again\n"
    )
    report = build_kb(tmp_path / "x.kb", read("obo", path))
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert (report.merged, report.missing_parents) == (1, 1)
    assert [name.text for name in kb["A:1"].names] == ["a", "a again"]
    assert kb.ancestors("A:1") == {"A:2": 1, "A:9": 2}
    assert isinstance(kb["A:2"], Concept)
