import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.annotate.text_inputs import Columns, read_json_lines, read_table
from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation.report.metrics_file import read_metrics
from spacy_medlink.exchange.lines import read_lines as corpus_lines
from spacy_medlink.kb.gold import gold_lines
from spacy_medlink.kb.readers import formats, get_reader, lines, xml_records
from spacy_medlink.kb.readers.lines import numbered_lines, open_source, raw_lines
from spacy_medlink.kb.readers.rows import read_rows
from spacy_medlink.kb.rules import read_rules
from spacy_medlink.types import BadLine
from training.corpora.tally import Tally

PIECES = st.sampled_from(
    [b"a", "é".encode(), b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf"]
)


def _one_by_one(data: bytes) -> tuple[list[tuple[int, str]], list[int]]:
    """What the lines are, said as plainly as possible."""
    good, bad = [], []
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    raw = data.split(b"\n")
    for number, line in enumerate(raw[:-1] if raw[-1] == b"" else raw, start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            assert b"\0" not in line
            good.append((number, line.decode().rstrip("\r")))
        except (AssertionError, UnicodeDecodeError):
            bad.append(number)
    return good, bad


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=40).map(b"".join), st.integers(1, 20), st.booleans())
def test_lines_in_blocks(tmp_path, data, size, gz):
    """However long the blocks are that are read at once, the lines are the same."""
    path = tmp_path / ("x.txt.gz" if gz else "x.txt")
    path.write_bytes(gzip.compress(data) if gz else data)
    bad: list[BadLine] = []
    with patch.object(lines, "_BLOCK", size):
        found = list(numbered_lines(path, bad))
    assert (found, [line.line for line in bad]) == _one_by_one(data)


def test_the_first_bad_line_is_an_error(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"good\nb\xffd\n\0\n")
    found = numbered_lines(path)
    assert next(found) == (1, "good")
    with pytest.raises(MedlinkError, match=r"E105.*x.txt, line 2: not UTF-8 at byte 1\."):
        next(found)


def test_a_file_that_may_not_be_opened(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("x")
    path.chmod(0)
    try:
        path.open().close()
    except PermissionError:
        with pytest.raises(MedlinkError, match=r"E165"):
            list(numbered_lines(path))
    else:
        pytest.skip("this user may open everything")


def test_a_packed_file_needs_no_suffix(tmp_path):
    (tmp_path / "x.csv").write_bytes(gzip.compress(b"one\ntwo\n"))
    assert [line for _, line in numbered_lines(tmp_path / "x.csv")] == ["one", "two"]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"PK\x03\x04", "zip"),
        (b"BZh9", "bzip2"),
        (b"PAR1", "Parquet"),
        (b"\xd0\xcf\x11\xe0", "xls"),
    ],
)
def test_what_is_no_text_is_refused_by_name(tmp_path, start, said):
    (tmp_path / "x.csv").write_bytes(start + b"\0\1\xff" * 20)
    for format in ("csv", "obo", "fhir", "mesh", "owl", "icd"):
        with pytest.raises(MedlinkError, match=rf"E160.*x\.csv is not text.*{said}.*Give "):
            list(get_reader(format)(tmp_path / "x.csv", []))


@pytest.mark.parametrize("gz", [False, True])
def test_lines_that_end_with_cr_alone(tmp_path, gz):
    """As on old systems; in every reader of lines, also where a line is longer than a block."""
    data = b'doc_id,text\r1,"an ataxia"\r2,' + b"x" * 100_000 + b"\r3,c"
    path = tmp_path / ("x.csv.gz" if gz else "x.csv")
    path.write_bytes(gzip.compress(data) if gz else data)
    want = data.decode().split("\r")
    assert [line for _, line in numbered_lines(path)] == want
    with open_source(path) as file:
        assert b"".join(raw_lines(file)) == data.replace(b"\r", b"\n")
    assert [cells for _, cells in read_rows(path, None)][1] == ["1", "an ataxia"]
    documents = list(read_table(path, Columns("text", "doc_id"), ","))
    assert [document.text for document in documents] == ["an ataxia", "x" * 100_000, "c"]


# Each reads a file of a user line by line.
READERS: dict[str, Callable[[Path], Any]] = {
    "terms": lambda path: numbered_lines(path),
    "rows": lambda path: read_rows(path, []),
    "gold": gold_lines,
    "documents": lambda path: read_json_lines(path, "text", "doc_id"),
    "table": lambda path: read_table(path, Columns("text", "doc_id"), ","),
    "corpus": lambda path: corpus_lines(path, Tally()),
    "curation": lambda path: [read_rules(path, [])],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_line_without_end_is_an_error_and_not_held(tmp_path, monkeypatch, reader, end):
    """Of much in a small file, no more is unpacked than the longest line."""
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"text,doc_id" + end)
        for _ in range(64):
            file.write(b"a" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(MedlinkError, match=r"E165.*line of over 1 MB"):
        list(READERS[reader](path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


@pytest.mark.parametrize("reader", [*READERS, "metrics"])
def test_a_gzip_bomb_is_an_error(tmp_path, monkeypatch, reader):
    """Lines are short, and there is no end of them."""
    monkeypatch.setattr(lines, "_MUCH", 1 << 16)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"text,doc_id\n" + (b" " * 99 + b"\n") * 40_000))
    with pytest.raises(MedlinkError, match=r"E165.*unpacks to too much data"):
        list(READERS.get(reader, read_metrics)(path))


def test_an_element_without_end_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_records, "LONGEST", 1 << 20)
    monkeypatch.setattr(xml_records, "LONGEST_TAG", 1 << 20)
    for start in (b"<a><r>", b'<a><r x="', b"<a><!--", b"<a><r><s>x</s>"):
        path = tmp_path / "x.xml.gz"
        path.write_bytes(gzip.compress(start + b"b" * (8 << 20)))
        with pytest.raises(MedlinkError, match=r"E105.*over 1 MB"):
            list(xml_records.xml_records(path, {"r"}))


@pytest.mark.parametrize("name", formats())
def test_each_has_a_reader(name):
    assert callable(get_reader(name))


def test_another_one_is_refused():
    with pytest.raises(MedlinkError, match="E108") as caught:
        get_reader("abacus")
    assert "'abacus'" in str(caught.value) and "umls" in str(caught.value)
