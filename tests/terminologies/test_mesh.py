"""The MeSH reader: both files, plain and packed, and what it refuses."""

import gzip
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.readers import get_reader, read
from spacy_medlink.terminologies.mesh import release_of
from spacy_medlink.types import BadLine, Record
from tests.kb.mesh_release import DESCRIPTORS, SUPPLEMENTS, descriptor, document
from tests.tables import table


def records_of(path: Path, bad_lines: list[BadLine] | None = None) -> list[Record]:
    return list(read("mesh", path, bad_lines))


@pytest.fixture
def release(tmp_path):
    (tmp_path / "desc2026.xml").write_text(DESCRIPTORS, encoding="utf8")
    (tmp_path / "supp2026.xml.gz").write_bytes(gzip.compress(SUPPLEMENTS.encode()))
    return tmp_path


@pytest.mark.parametrize("name", ["desc2026.xml", "supp2026.xml.gz"])
def test_one_file(release, name):
    ids = {"desc2026.xml": ["D014652", "D006973"], "supp2026.xml.gz": ["C000002"]}
    assert [record.id for record in records_of(release / name)] == ids[name]


def test_the_last_year_counts(release):
    (release / "desc2019.xml").write_text(document(descriptor("D000001", "Old")), encoding="utf8")
    assert [record.id for record in records_of(release)] == ["D014652", "D006973", "C000002"]
    assert release_of(release) == "2026"


def test_the_written_hierarchy(release):
    path = release / "mesh.kb"
    report = build_kb(path, read("mesh", release))
    assert KnowledgeBase(path).children("D014652") == ["D006973"]
    assert report.missing_parents == 2


def test_nothing_there(tmp_path):
    with pytest.raises(MedlinkError, match="E160"):
        records_of(tmp_path)


class TestBadDocuments:
    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (DESCRIPTORS.encode()[:-50], "not well-formed XML"),
            (b"", "not well-formed XML"),
            (b"id||name\n", "not well-formed XML"),
            (DESCRIPTORS.encode().replace(b"High", b"H\xffigh"), "not well-formed XML"),
            (DESCRIPTORS.encode().replace(b"High", b"H\0igh"), "not well-formed XML"),
            (b'<?xml version="1.0" encoding="klingon"?><a/>', "klingon"),
            (document("<DescriptorRecord>" * 100).encode(), "nested more than 64 deep"),
        ],
    )
    def test_cannot_be_skipped(self, tmp_path, data, problem):
        path = tmp_path / "desc2026.xml"
        path.write_bytes(data)
        with pytest.raises(MedlinkError, match=f"E105.*{problem}"):
            list(get_reader("mesh")(path, []))

    @pytest.mark.parametrize("cut", [10, 300])
    def test_damaged_gzip(self, tmp_path, cut):
        path = tmp_path / "desc2026.xml.gz"
        path.write_bytes(gzip.compress(DESCRIPTORS.encode())[:cut])
        with pytest.raises(MedlinkError, match=r"E105.*damaged gzip"):
            records_of(path, [])

    @table(__file__, "entities_are_refused")
    def test_entities_are_refused(self, tmp_path, subset, use):
        path = tmp_path / "desc2026.xml"
        good = document(descriptor("D000001", f"Name {use}"))
        path.write_text(good.replace('SYSTEM "nlm.dtd"', subset), encoding="utf8")
        with pytest.raises(MedlinkError, match=r"E105.*'lol"):
            records_of(path, [])
