"""What fuzzing and reading OBO 1.4 closely found; facts of the whole HPO are tested elsewhere."""

import time
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.obo import release_of
from spacy_medlink.types import BadLine, Concept, Name, Relation, Retired
from tests.kb import samples


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def test_terms(tmp_path: Path) -> None:
    path = _write(tmp_path / "hp.obo", samples.OBO)
    assert list(read("obo", path)) == [
        Concept(
            "HP:0000118", "Phenotypic abnormality",
            (Name("Phenotypic abnormality", "en", "HP", "PT"),),
            types=("human_phenotype",), parents=("HP:0000001",),
            relations=(Relation("isa", "HP:0000001", "HP"),),
        ),
        Concept(
            "HP:0000819", "Diabetes mellitus",
            (
                Name("Diabetes mellitus", "en", "HP", "PT"),
                Name("DM", "en", "HP", "EXACT abbreviation"),
                Name("Sugar diabetes", "en", "HP", "RELATED layperson"),
                Name("Zuckerkrankheit", "en", "HP", "EXACT"),
            ),
            types=("human_phenotype",), definition='Too much glucose, "sugar", in the blood.',
            codes={
                "UMLS": ("C0011849",), "SNOMEDCT_US": ("73211009",),
                "URL": ("https://en.wikipedia.org/wiki/Diabetes",),
            },
            parents=("HP:0000118",), relations=(Relation("isa", "HP:0000118", "HP"),),
        ),
        Retired("HP:0008217", "HP:0000819", "merged"),
        Retired("HP:0000820", "HP:0000819", "obsolete"),
    ]  # fmt: skip
    assert release_of(path) == "releases/2024-01-01"


@pytest.mark.parametrize("header", ["ontology: hp", "ontology: hp.obo ! HPO", ""])
def test_names_come_from_the_ontology_not_from_the_file(tmp_path: Path, header: str) -> None:
    """A download may be called anything; what filters and ties name must not change with it."""
    path = _write(tmp_path / "download (1).obo", f"{header}\n{samples.OBO}")
    concepts = [record for record in read("obo", path) if isinstance(record, Concept)]
    assert {name.source for concept in concepts for name in concept.names} == {"HP"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: A:1\n[Term]\nid: A:2\nname: b\n", 1),  # the [Term] of the first is lost
        ("[Term]\nid: A:1\nname: a\nid: A:2\n", 4),
        ("[Term]\nid: A:1\nname: a\nname: b\n", 4),
        ("[Term\nid: A:1\nname: a\n", 1),
        ("[Trem]\nid: A:1\nname: a\n", 1),
        ("[Term]\nid: A:1\nname:\n", 3),
        ('[Term]\nid: A:1\nname: a\nsynonym: "" EXACT []\n', 4),
        ('[Term]\nid: A:1\nname: a\nsynonym: "b EXACT []\n', 4),
        ("[Term]\nid: A:1\u200b\nname: a\n", 2),
        ("[Term]\nid: A:1\nname: a\nis_a:\n", 4),
        ("[Term]\nname: a\n", 1),
        ("[Term]\nid: A:1\n", 1),
    ],
)
def test_bad_lines(tmp_path: Path, text: str, line: int) -> None:
    path = _write(tmp_path / "x.obo", text)
    with pytest.raises(MedlinkError, match=f"E105.*x.obo, line {line}: "):
        list(read("obo", path))
    bad: list[BadLine] = []
    list(read("obo", path, bad))
    assert line in [bad_line.line for bad_line in bad]


def test_comments_after_stanzas(tmp_path: Path) -> None:
    (concept,) = read("obo", _write(tmp_path / "x.obo", "[Term] ! first\nid: A:1\nname: a!b\n"))
    assert isinstance(concept, Concept)
    assert concept.name == "a!b"


def test_a_long_run_of_spaces_takes_no_quadratic_time(tmp_path: Path) -> None:
    text = f"[Term]\nid: A:1\nname: a{' ' * 300_000}b\nis_a: B:2{' ' * 300_000}! x\n"
    start = time.perf_counter()
    (concept,) = read("obo", _write(tmp_path / "x.obo", text))
    assert time.perf_counter() - start < 5  # a few 10^10 steps otherwise
    assert isinstance(concept, Concept)
    assert concept.parents == ("B:2",)
