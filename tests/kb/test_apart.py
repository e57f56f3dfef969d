"""A reader in a process of its own gives the same records, bad lines and errors as here."""

import subprocess
import sys

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import second_process
from spacy_medlink.kb.readers import obo, read, umls
from spacy_medlink.kb.second_process import read_apart
from spacy_medlink.types import BadLine, Record
from tests.kb.umls_release import TABLES, atom, write_release

UMLS = "spacy_medlink.kb.readers.umls:read_here"


def read_umls(path, bad_lines=None, **options) -> list[Record]:
    return list(read_apart(UMLS, path, bad_lines, **options))


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes, really_start = [], second_process.start

    def start(*arguments, **streams):
        process = really_start(*arguments, **streams)
        processes.append(process)
        return process

    monkeypatch.setattr(second_process, "start", start)
    return processes


def test_same_records(tmp_path, started):
    path = write_release(tmp_path)
    assert read_umls(path) == list(umls.read_here(path))
    assert len(started) == 1
    assert started[0].returncode is not None


def test_large_releases_are_read_apart(tmp_path, monkeypatch, started):
    path = write_release(tmp_path)
    expected = list(read("umls", path))
    assert not started
    monkeypatch.setattr(umls, "_LARGE", 10)
    assert list(read("umls", path)) == expected
    assert len(started) == 1


def test_many_batches_with_records_of_both_kinds(tmp_path):
    path = tmp_path / "some.obo"
    terms = [f"[Term]\nid: A:{i}\nname: name {i}\nalt_id: B:{i}\n" for i in range(12_000)]
    path.write_text("\n".join(terms))
    expected = list(obo.read(path))
    assert list(read_apart("spacy_medlink.kb.readers.obo:read", path, None)) == expected


def test_bad_lines_come_over(tmp_path):
    rows = [*TABLES["MRCONSO"], "C1|", atom("C0000050", " ")]
    path = write_release(tmp_path, TABLES | {"MRCONSO": rows})
    here: list[BadLine] = []
    there: list[BadLine] = []
    expected = list(umls.read_here(path, here))
    assert read_umls(path, there) == expected
    assert there == here
    assert len(there) == 2


def test_records_before_an_error_come_first(tmp_path):
    path = write_release(tmp_path, {"MRCONSO": [atom("C2", "two"), atom("C1", "one")]})
    with pytest.raises(MedlinkError, match="E150") as here:
        list(umls.read_here(path))
    with pytest.raises(MedlinkError) as there:
        read_umls(path)
    assert str(there.value) == str(here.value)
    assert there.value.code == "E150"


def test_who_stops_reading_leaves_no_process(tmp_path, started):
    rows = [atom(f"C{i:07d}", f"name {i}") for i in range(50_000)]
    records = read_apart(UMLS, write_release(tmp_path, {"MRCONSO": rows}), None)
    assert next(records).id == "C0000000"
    assert started[0].poll() is None
    records.close()
    assert started[0].returncode is not None


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "it was killed"),
        ("raise MemoryError('no memory')", "no memory"),
        ("import sys; sys.stdout.write('x' * 20)", "it was killed"),
    ],
)
def test_a_process_that_dies_is_an_error_with_a_code(tmp_path, monkeypatch, code, reason):
    monkeypatch.setattr(second_process, "_CODE", code)
    with pytest.raises(MedlinkError, match=f"E155.*{reason}"):
        read_umls(write_release(tmp_path))


def test_without_a_second_process(tmp_path, monkeypatch):
    path = write_release(tmp_path)
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(subprocess, "Popen", None)
    assert read_umls(path) == list(umls.read_here(path))
