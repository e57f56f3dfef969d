from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.biosyn import read as read_biosyn
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
