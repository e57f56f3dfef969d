"""Dictionaries of corpora: those of BioSyn, and gazetteers."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.biosyn import read as read_biosyn
from spacy_medlink.types import BadLine, Concept, Name, Retired
from tests.kb import samples


def test_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.txt"
    path.write_text(samples.BIOSYN)
    assert list(read("biosyn", path)) == [
        Concept(
            "D003920", "diabetes mellitus", (Name("diabetes mellitus"), Name("dm")),
            codes={"MESH": ("D003920",), "OMIM": ("125853",)},
        ),
        Retired("OMIM:125853", "D003920", "alternative"),
        Concept("C0020538", "hypertension", (Name("hypertension"),), codes={"UMLS": ("C0020538",)}),
        Concept(
            "D006973", "high blood pressure", (Name("high blood pressure"),),
            codes={"MESH": ("D006973", "D000001")},
        ),
        Retired("D000001", "D006973", "alternative"),
    ]  # fmt: skip


def test_language_and_source(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.txt"
    path.write_text("1||a||\n".replace("a||", "a"))
    (concept,) = read_biosyn(path, lang="fi", source="MINE")
    assert concept == Concept("1", "a", (Name("a", "fi", "MINE"),))


@pytest.mark.parametrize(
    "line", ["D1", "D1|x", "D1||", "||name", "D1||a||b", "D1|||a", "D1|+D2||a", "D\t1||a"]
)
def test_bad_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "dictionary.txt"
    path.write_text(f"C0000001||x\n{line}\nC0000002||y\n")
    with pytest.raises(MedlinkError, match=r"E105.*dictionary.txt, line 2: "):
        list(read("biosyn", path))
    bad: list[BadLine] = []
    assert [record.id for record in read("biosyn", path, bad)] == ["C0000001", "C0000002"]
    assert [bad_line.line for bad_line in bad] == [2]


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def test_the_main_term_goes_first(tmp_path: Path) -> None:
    assert list(read("gazetteer", _write(tmp_path / "x.tsv", samples.GAZETTEER))) == [
        Concept(
            "73211009", "diabetes mellitus",
            (
                Name("diabetes mellitus", "es", "SNOMEDCT", "PT"),
                Name("DM", "es", "SNOMEDCT", "SY"),
            ),
            types=("disorder",),
        ),
        Concept(
            "38341003", "hipertensión", (Name("hipertensión", "es", "SNOMEDCT", "PT"),),
            types=("disorder",),
        ),
    ]  # fmt: skip


def test_columns_in_another_order(tmp_path: Path) -> None:
    text = "term\tcode\nfiebre\t386661006\ncalentura\t386661006\n"
    (concept,) = read("gazetteer", _write(tmp_path / "x.tsv", text))
    assert isinstance(concept, Concept)
    assert (concept.name, len(concept.names)) == ("fiebre", 2)


def test_morphologies_without_a_header(tmp_path: Path) -> None:
    first, second = read("gazetteer", _write(tmp_path / "x.tsv", samples.ICDO_BARE))
    assert (first.id, second.id) == ("8000/0", "8000/3")
    assert isinstance(first, Concept)
    assert first.names == (Name("Neoplasia benigna", "es", "ICDO3", "SY"),)


@pytest.mark.parametrize("text", ["a\tb\tc\n", "code\tlanguage\n1\tes\n", "one\n", "x\tterm\ty\n"])
def test_a_header_that_says_nothing(tmp_path: Path, text: str) -> None:
    with pytest.raises(MedlinkError, match="E161"):
        list(read("gazetteer", _write(tmp_path / "x.tsv", text)))


@pytest.mark.parametrize(
    "row", ["1\tes\tfiebre\tfinding\t1\tx", "\tes\tfiebre\tfinding\t1", "1\tes\t\tfinding\t1"]
)
def test_bad_rows_of_a_gazetteer(tmp_path: Path, row: str) -> None:
    path = _write(tmp_path / "x.tsv", f"{samples.GAZETTEER}{row}\n")
    with pytest.raises(MedlinkError, match=r"E105.*x.tsv, line 5: "):
        list(read("gazetteer", path))
    bad: list[BadLine] = []
    assert len(list(read("gazetteer", path, bad))) == 2
    assert [bad_line.line for bad_line in bad] == [5]
