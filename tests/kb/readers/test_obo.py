"""What fuzzing and reading OBO 1.4 closely found; facts of the whole HPO are tested elsewhere."""

import json
import time
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.obo import release_of
from spacy_medlink.types import BadLine, CodeMap, Concept, Name, Relation, Retired
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
        ('[Term]\nid: A:1\ndef: "d" []\n', 1),
        ("[Term]\nid: A:1\nname: a\nis_a: ! b\n", 4),
        ('[Term]\nid: A:1\nname: {comment="c"}\n', 3),
        ("[Term]\nid: A:1\nname: a\nrelationship: part_of\n", 4),
    ],
)
def test_bad_lines(tmp_path: Path, text: str, line: int) -> None:
    path = _write(tmp_path / "x.obo", text)
    with pytest.raises(MedlinkError, match=f"E105.*x.obo, line {line}: "):
        list(read("obo", path))
    bad: list[BadLine] = []
    list(read("obo", path, bad))
    assert line in [bad_line.line for bad_line in bad]


@pytest.mark.parametrize(
    "line",
    [
        """synonym: "3,3',3"-invented acid" EXACT []""",
        'synonym: "a "b" c" EXACT []',
        'synonym: "a" b" EXACT []',
        'synonym: "a", "b" EXACT []',
        'synonym: "a" [b" EXACT []',
        'exact_synonym: "5" test" []',
        'def: "a 5" needle" [X:1]',
        'property_value: IAO:0000118 "5" test" xsd:string',
        'property_value: skos:exactMatch "MESH:"D1" xsd:string',
    ],
)
def test_a_quotation_mark_that_is_not_escaped_is_a_bad_line(tmp_path: Path, line: str) -> None:
    """Otherwise what is behind it would be lost."""
    path = _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\n{line}\n")
    bad: list[BadLine] = []
    (concept,) = read("obo", path, bad)
    assert concept == Concept("A:1", "a", (Name("a", "en", "A", "PT"),))
    assert [(bad_line.line, "quotation mark" in bad_line.problem) for bad_line in bad] == [
        (4, True)
    ]


@pytest.mark.parametrize(
    "line",
    [
        r'synonym: "3,3\',3\"-acid" EXACT []',
        r'synonym: "3,3\',3\"-acid"',
        r'synonym: "3,3\',3\"-acid" []',
        r'synonym: "3,3\',3\"-acid" EXACT lay [X:1 "said \"so\" ! here", Y:2] {a="b", c="!"} ! 5"',
        r'synonym: "3,3\',3\"-acid" EXACT [] ! 5" long',
        r'exact_synonym: "3,3\',3\"-acid" [X:1]{source="X:2"}',
    ],
)  # fmt: skip
def test_what_may_stand_behind_a_quoted_text(tmp_path: Path, line: str) -> None:
    (concept,) = read("obo", _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\n{line}\n"))
    assert isinstance(concept, Concept)
    assert concept.names[1].text == "3,3',3\"-acid"


@pytest.mark.parametrize(
    "behind", ["", ' {comment="c"}', ' {a="b", c="d ! {e}"}', " {cardinality=1} ! x", " ! a {b}"]
)
def test_qualifiers_and_comments_are_no_part_of_a_value(tmp_path: Path, behind: str) -> None:
    lines = (
        "id: A:1", "name: plain {N-2} acid", "namespace: human", "alt_id: A:2",
        "is_a: B:1", "relationship: part_of B:2", "xref: MESH:D1",
    )  # fmt: skip
    text = "".join(f"{line}{behind}\n" for line in lines)
    path = _write(tmp_path / "x.obo", f"ontology: a{behind}\n\n[Term]\n{text}")
    assert list(read("obo", path)) == [
        Concept(
            "A:1", "plain {N-2} acid", (Name("plain {N-2} acid", "en", "A", "PT"),),
            types=("human",), codes={"MESH": ("D1",)}, parents=("B:1",),
            relations=(Relation("isa", "B:1", "A"), Relation("part_of", "B:2", "A")),
        ),
        Retired("A:2", "A:1", "merged"),
    ]  # fmt: skip


MESH_1 = ("MESH", "D000001")
SKOS = "http://www.w3.org/2004/02/skos/core#"


@pytest.mark.parametrize(
    "property", ["skos:{}", "{}", SKOS + "{}", r"http\://www.w3.org/2004/02/skos/core#{}"]
)
@pytest.mark.parametrize(
    ("word", "relation"),
    [
        ("exactMatch", "exact"), ("broadMatch", "broader"), ("narrowMatch", "narrower"),
        ("closeMatch", "related"), ("relatedMatch", "related"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("MESH:D000001", MESH_1),
        ('"MESH:D000001" xsd:string', MESH_1),
        ('"MESH:D000001" xsd:string {source="X"} ! c', MESH_1),
        ('"MSH2010_2010_02_22:D000001" http://www.w3.org/2001/XMLSchema#string', MESH_1),
        ('"http://id.nlm.nih.gov/mesh/D000001" xsd:anyURI', MESH_1),
        ("<http://identifiers.org/mesh/D000001>", MESH_1),
        (r"http\://purl.obolibrary.org/obo/HP_0000001", ("HP", "0000001")),
        ('"http://example.org/a_1" xsd:anyURI', ("URL", "http://example.org/a_1")),
    ],
)  # fmt: skip
def test_matches(
    tmp_path: Path, property: str, word: str, relation: str, value: str, code: tuple[str, str]
) -> None:
    line = f"property_value: {property.format(word)} {value}"
    (concept,) = read("obo", _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\n{line}\n"))
    assert isinstance(concept, Concept)
    assert concept.maps == (CodeMap(*code, relation, "A"),)
    assert concept.codes == {code[0]: (code[1],)}


def test_equivalent_terms_are_exact_codes(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.obo", "[Term]\nid: A:1\nname: a\nequivalent_to: DOID:7 ! b\n")
    (concept,) = read("obo", path)
    assert isinstance(concept, Concept)
    assert concept.maps == (CodeMap("DOID", "7", "exact", "A"),)


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("IntAct: EBI-1", {"IntAct": ("EBI-1",)}),
        ('IntAct:  EBI-1 "a name" {source="X"} ! c', {"IntAct": ("EBI-1",)}),
        ('MEDDRA:10022016 "Inguinal: hernia"', {"MEDDRA": ("10022016",)}),
        ('Foo:5"bar {source="X"}', {"Foo": ('5"bar',)}),
        (r"http\://snomed.info/id/73211009", {"SNOMEDCT_US": ("73211009",)}),
        ("SNOMEDCT_US_2025_09_01:73211009", {"SNOMEDCT_US": ("73211009",)}),
    ],
)
def test_cross_references(tmp_path: Path, line: str, codes: dict[str, tuple[str, ...]]) -> None:
    (concept,) = read(
        "obo", _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\nxref: {line}\n")
    )
    assert isinstance(concept, Concept)
    assert concept.codes == codes


def test_relations_have_the_names_of_their_typedefs(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "x.obo",
        '[Typedef]\nid: BFO:0000051\nname: has part {x="y"}\n\n'
        "[Term]\nid: A:1\nname: a\nrelationship: BFO:0000050 B:1\nrelationship: part_of B:2\n"
        "relationship: BFO:0000051 B:3\nrelationship: RO:1 B:4 ! c\nrelationship: is_a B:5\n"
        "relationship: OBO_REL:is_a B:6\nis_a: B:5\nintersection_of: B:7\n"
        "intersection_of: part_of B:8\n\n"
        "[Typedef]\nid: part_of ! below\nxref: BFO:0000050 ! BFO's\nname: part of\n\n"
        "[Typedef]\nid: RO:1\n\n[Typedef]\nid: OBO_REL:is_a\nname: is a\n",
    )
    (concept,) = read("obo", path)
    assert isinstance(concept, Concept)
    assert concept.parents == ("B:5", "B:6", "B:7")
    assert [relation[:2] for relation in concept.relations] == [
        ("part_of", "B:1"), ("part_of", "B:2"), ("has_part", "B:3"), ("RO:1", "B:4"),
        ("isa", "B:5"), ("isa", "B:6"), ("isa", "B:7"), ("part_of", "B:8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("qualifiers", "holds"),
    [
        ('{all_only="true"}', False), ('{cardinality="0"}', False), ("{minCardinality=0}", False),
        ('{maxCardinality="3"}', False), ('{minCardinality="1", maxCardinality="3"}', True),
        ('{all_only="true", all_some="true"}', True), ('{cardinality="1"} ! all_some', True),
    ],
)  # fmt: skip
def test_relations_that_need_not_hold(tmp_path: Path, qualifiers: str, holds: bool) -> None:
    for tag in ("relationship", "intersection_of"):
        text = f"[Term]\nid: A:1\nname: a\n{tag}: has_part B:1 {qualifiers}\n"
        (concept,) = read("obo", _write(tmp_path / "x.obo", text))
        assert isinstance(concept, Concept)
        assert bool(concept.relations) == holds


def test_terms_that_are_only_referred_to_are_passed_over(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "x.obo",
        "[Term]\nid: A:1\n\n[Term]\nid: A:2\nis_a: A:1\nxref: MESH:D1\n\n"
        '[Term]\nid: A:3\nsynonym: "c" NARROW []\ndef: "d" []\n\n'
        "[Term]\nid: oboInOwl:ObsoleteClass\nname: Obsolete Class\n\n"
        "[Term]\nid: A:4\nname: old\nis_a: oboInOwl:ObsoleteClass ! Obsolete Class\n\n"
        "[Term]\nid: A:5\nname: old\n"
        "is_a: http://www.geneontology.org/formats/oboInOwl#ObsoleteClass\n",
    )
    assert list(read("obo", path)) == [
        Concept("A:3", "c", (Name("c", "en", "A", "NARROW"),), definition="d"),
        Retired("A:4", "", "obsolete"),
        Retired("A:5", "", "obsolete"),
    ]


@pytest.mark.parametrize(
    ("property", "tty"),
    [
        ("IAO:0000118", "SY"), ("http://purl.obolibrary.org/obo/IAO_0000118", "SY"),
        ("skos:altLabel", "SY"), (SKOS + "hiddenLabel", "HIDDEN"), ("EFO:alternative_term", "SY"),
    ],
)  # fmt: skip
def test_names_in_properties(tmp_path: Path, property: str, tty: str) -> None:
    line = f'property_value: {property} "other \\"name\\"" xsd:string'
    path = _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\n{line}\nproperty_value: x y\n")
    (concept,) = read("obo", path)
    assert isinstance(concept, Concept)
    assert concept.names[1:] == (Name('other "name"', "en", "A", tty),)


def test_addresses_are_ids(tmp_path: Path) -> None:
    obo = "http://purl.obolibrary.org/obo"
    path = _write(
        tmp_path / "x.obo",
        f"[Term]\nid: {obo}/A_B_1\nname: a\nis_a: {obo}/HP_2\nrelationship: part_of {obo}/HP_3\n"
        f"alt_id: {obo}/A_9\n\n[Term]\nid: http://x.org/y_1\nname: b\n",
    )
    first, merged, second = read("obo", path)
    assert isinstance(first, Concept)
    assert (first.id, first.parents, first.relations[1].id) == ("A_B:1", ("HP:2",), "HP:3")
    assert (merged, second.id) == (Retired("A:9", "A_B:1", "merged"), "http://x.org/y_1")


@pytest.mark.parametrize(
    "successor", ["A:2", '"A:2" xsd:string', "http://purl.obolibrary.org/obo/A_2"]
)
def test_terms_that_a_property_says_are_obsolete(tmp_path: Path, successor: str) -> None:
    path = _write(
        tmp_path / "x.obo",
        '[Term]\nid: A:1\nname: a\nproperty_value: owl:deprecated "true" xsd:boolean\n'
        f"property_value: IAO:0100001 {successor}\n\n"
        '[Term]\nid: A:2\nname: b\nproperty_value: owl:deprecated "false" xsd:boolean\n',
    )
    gone, live = read("obo", path)
    assert (gone, live.id, type(live)) == (Retired("A:1", "A:2", "obsolete"), "A:2", Concept)


def test_a_stanza_that_lacks_its_first_line_is_no_part_of_the_one_before(tmp_path: Path) -> None:
    bad: list[BadLine] = []
    text = "[Term]\nid: A:1\nname: a\nid: A:2\nname: b\nis_a: A:3\n[Term]\nid: A:4\nname: d\n"
    records = list(read("obo", _write(tmp_path / "x.obo", text), bad))
    assert [(record.id, record.parents) for record in records if isinstance(record, Concept)] == [
        ("A:1", ()), ("A:4", ()),
    ]  # fmt: skip
    assert [(line.line, line.problem) for line in bad] == [(4, "a second id 'A:2' in term 'A:1'")]


@pytest.mark.parametrize("xref", ["MESH:D 1", "PMID:1 and 2", 'X:\\:1 y "z"'])
def test_white_space_inside_a_cross_reference(tmp_path: Path, xref: str) -> None:
    bad: list[BadLine] = []
    path = _write(tmp_path / "x.obo", f"[Term]\nid: A:1\nname: a\nxref: {xref}\nxref: X:2\n")
    (concept,) = read("obo", path, bad)
    assert isinstance(concept, Concept) and concept.codes == {"X": ("2",)}
    assert [line.problem for line in bad] == [f"white space inside {xref!r}"]


@pytest.mark.parametrize("xref", ["12345", "MESH:", ":9", "GARD 7"])
def test_cross_references_without_a_vocabulary_are_counted(tmp_path: Path, xref: str) -> None:
    text = f"[Term]\nid: A:1\nname: a\nxref: {xref.replace(' ', chr(92) + ' ')}\nxref: X:2\n"
    term = f"\n[Term]\nid: A:2\nname: b\nproperty_value: skos:exactMatch {json.dumps(xref)}\n"
    with pytest.warns(UserWarning, match=f"W110.* 2 cross-references, such as '{xref}'"):
        one, other = read("obo", _write(tmp_path / "x.obo", text + term))
    assert isinstance(one, Concept) and one.codes == {"X": ("2",)}
    assert isinstance(other, Concept) and not other.codes


def test_comments_after_stanzas(tmp_path: Path) -> None:
    (concept,) = read("obo", _write(tmp_path / "x.obo", "[Term] ! first\nid: A:1\nname: a!b\n"))
    assert isinstance(concept, Concept)
    assert concept.name == "a!b"


def test_a_long_run_of_spaces_takes_no_quadratic_time(tmp_path: Path) -> None:
    text = f"[Term]\nid: A:1\nname: a{' ' * 300_000}b\nis_a: B:2{' ' * 300_000}! x\n"
    start = time.process_time()
    (concept,) = read("obo", _write(tmp_path / "x.obo", text))
    assert time.process_time() - start < 5  # a few 10^10 steps otherwise
    assert isinstance(concept, Concept)
    assert concept.parents == ("B:2",)
