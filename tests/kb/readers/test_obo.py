"""What fuzzing and reading OBO 1.4 closely found; facts of the whole HPO are tested elsewhere."""

import json
import time
from pathlib import Path

import pytest

from spacy_medlink.kb.readers.obo import release_of
from spacy_medlink.types import CodeMap, Concept, Name, Relation, Retired
from tests.kb import samples
from tests.kb.reading import FormatFile

TERM = "[Term]\nid: A:1\nname: a\n"


@pytest.fixture
def obo(tmp_path: Path) -> FormatFile:
    return FormatFile("obo", tmp_path / "x.obo")


def test_terms(obo: FormatFile) -> None:
    assert obo.records(samples.OBO) == [
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
    assert release_of(obo.path) == "releases/2024-01-01"


@pytest.mark.parametrize("header", ["ontology: hp", "ontology: hp.obo ! HPO", ""])
def test_names_come_from_the_ontology_not_from_the_file(obo: FormatFile, header: str) -> None:
    """A download may be called anything; what filters and ties name must not change with it."""
    concepts = obo.concepts(f"{header}\n{samples.OBO}")
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
def test_bad_lines(obo: FormatFile, text: str, line: int) -> None:
    assert line in dict(obo.bad(text)[1])


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
def test_a_quotation_mark_that_is_not_escaped_is_a_bad_line(obo: FormatFile, line: str) -> None:
    """Otherwise what is behind it would be lost."""
    records, bad = obo.bad(f"{TERM}{line}\n")
    assert records == [Concept("A:1", "a", (Name("a", "en", "A", "PT"),))]
    assert [(at, "quotation mark" in problem) for at, problem in bad] == [(4, True)]


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
def test_what_may_stand_behind_a_quoted_text(obo: FormatFile, line: str) -> None:
    assert obo.concept(f"{TERM}{line}\n").names[1].text == "3,3',3\"-acid"


@pytest.mark.parametrize(
    "behind", ["", ' {comment="c"}', ' {a="b", c="d ! {e}"}', " {cardinality=1} ! x", " ! a {b}"]
)
def test_qualifiers_and_comments_are_no_part_of_a_value(obo: FormatFile, behind: str) -> None:
    lines = (
        "id: A:1", "name: plain {N-2} acid", "namespace: human", "alt_id: A:2",
        "is_a: B:1", "relationship: part_of B:2", "xref: MESH:D1",
    )  # fmt: skip
    text = "".join(f"{line}{behind}\n" for line in lines)
    assert obo.records(f"ontology: a{behind}\n\n[Term]\n{text}") == [
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
    obo: FormatFile, property: str, word: str, relation: str, value: str, code: tuple[str, str]
) -> None:
    concept = obo.concept(f"{TERM}property_value: {property.format(word)} {value}\n")
    assert concept.maps == (CodeMap(*code, relation, "A"),)
    assert concept.codes == {code[0]: (code[1],)}


def test_equivalent_terms_are_exact_codes(obo: FormatFile) -> None:
    concept = obo.concept(f"{TERM}equivalent_to: DOID:7 ! b\n")
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
def test_cross_references(obo: FormatFile, line: str, codes: dict[str, tuple[str, ...]]) -> None:
    assert obo.concept(f"{TERM}xref: {line}\n").codes == codes


def test_relations_have_the_names_of_their_typedefs(obo: FormatFile) -> None:
    concept = obo.concept(
        '[Typedef]\nid: BFO:0000051\nname: has part {x="y"}\n\n'
        "[Term]\nid: A:1\nname: a\nrelationship: BFO:0000050 B:1\nrelationship: part_of B:2\n"
        "relationship: BFO:0000051 B:3\nrelationship: RO:1 B:4 ! c\nrelationship: is_a B:5\n"
        "relationship: OBO_REL:is_a B:6\nis_a: B:5\nintersection_of: B:7\n"
        "intersection_of: part_of B:8\n\n"
        "[Typedef]\nid: part_of ! below\nxref: BFO:0000050 ! BFO's\nname: part of\n\n"
        "[Typedef]\nid: RO:1\n\n[Typedef]\nid: OBO_REL:is_a\nname: is a\n"
    )
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
def test_relations_that_need_not_hold(obo: FormatFile, qualifiers: str, holds: bool) -> None:
    for tag in ("relationship", "intersection_of"):
        concept = obo.concept(f"{TERM}{tag}: has_part B:1 {qualifiers}\n")
        assert bool(concept.relations) == holds


def test_terms_that_are_only_referred_to_are_passed_over(obo: FormatFile) -> None:
    assert obo.records(
        "[Term]\nid: A:1\n\n[Term]\nid: A:2\nis_a: A:1\nxref: MESH:D1\n\n"
        '[Term]\nid: A:3\nsynonym: "c" NARROW []\ndef: "d" []\n\n'
        "[Term]\nid: oboInOwl:ObsoleteClass\nname: Obsolete Class\n\n"
        "[Term]\nid: A:4\nname: old\nis_a: oboInOwl:ObsoleteClass ! Obsolete Class\n\n"
        "[Term]\nid: A:5\nname: old\n"
        "is_a: http://www.geneontology.org/formats/oboInOwl#ObsoleteClass\n"
    ) == [
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
def test_names_in_properties(obo: FormatFile, property: str, tty: str) -> None:
    line = f'property_value: {property} "other \\"name\\"" xsd:string'
    concept = obo.concept(f"{TERM}{line}\nproperty_value: x y\n")
    assert concept.names[1:] == (Name('other "name"', "en", "A", tty),)


def test_addresses_are_ids(obo: FormatFile) -> None:
    purl = "http://purl.obolibrary.org/obo"
    first, merged, second = obo.records(
        f"[Term]\nid: {purl}/A_B_1\nname: a\nis_a: {purl}/HP_2\nrelationship: part_of {purl}/HP_3"
        f"\nalt_id: {purl}/A_9\n\n[Term]\nid: http://x.org/y_1\nname: b\n"
    )
    assert isinstance(first, Concept)
    assert (first.id, first.parents, first.relations[1].id) == ("A_B:1", ("HP:2",), "HP:3")
    assert (merged, second.id) == (Retired("A:9", "A_B:1", "merged"), "http://x.org/y_1")


@pytest.mark.parametrize(
    "successor", ["A:2", '"A:2" xsd:string', "http://purl.obolibrary.org/obo/A_2"]
)
def test_terms_that_a_property_says_are_obsolete(obo: FormatFile, successor: str) -> None:
    gone, live = obo.records(
        f'{TERM}property_value: owl:deprecated "true" xsd:boolean\n'
        f"property_value: IAO:0100001 {successor}\n\n"
        '[Term]\nid: A:2\nname: b\nproperty_value: owl:deprecated "false" xsd:boolean\n'
    )
    assert (gone, live.id, type(live)) == (Retired("A:1", "A:2", "obsolete"), "A:2", Concept)


def test_a_stanza_that_lacks_its_first_line_is_no_part_of_the_one_before(obo: FormatFile) -> None:
    text = f"{TERM}id: A:2\nname: b\nis_a: A:3\n[Term]\nid: A:4\nname: d\n"
    records, bad = obo.bad(text)
    assert [(record.id, record.parents) for record in records if isinstance(record, Concept)] == [
        ("A:1", ()), ("A:4", ()),
    ]  # fmt: skip
    assert bad == [(4, "a second id 'A:2' in term 'A:1'")]


@pytest.mark.parametrize("xref", ["MESH:D 1", "PMID:1 and 2", 'X:\\:1 y "z"'])
def test_white_space_inside_a_cross_reference(obo: FormatFile, xref: str) -> None:
    (concept,), bad = obo.bad(f"{TERM}xref: {xref}\nxref: X:2\n")
    assert isinstance(concept, Concept) and concept.codes == {"X": ("2",)}
    assert bad == [(4, f"white space inside {xref!r}")]


@pytest.mark.parametrize("xref", ["12345", "MESH:", ":9", "GARD 7"])
def test_cross_references_without_a_vocabulary_are_counted(obo: FormatFile, xref: str) -> None:
    text = f"{TERM}xref: {xref.replace(' ', chr(92) + ' ')}\nxref: X:2\n"
    term = f"\n[Term]\nid: A:2\nname: b\nproperty_value: skos:exactMatch {json.dumps(xref)}\n"
    with pytest.warns(UserWarning, match=f"W110.* 2 cross-references, such as '{xref}'"):
        first, second = obo.concepts(text + term)
    assert (first.codes, second.codes) == ({"X": ("2",)}, {})


def test_comments_after_stanzas(obo: FormatFile) -> None:
    assert obo.concept("[Term] ! first\nid: A:1\nname: a!b\n").name == "a!b"


def test_a_long_run_of_spaces_takes_no_quadratic_time(obo: FormatFile) -> None:
    text = f"[Term]\nid: A:1\nname: a{' ' * 300_000}b\nis_a: B:2{' ' * 300_000}! x\n"
    start = time.process_time()
    assert obo.concept(text).parents == ("B:2",)
    assert time.process_time() - start < 5  # a few 10^10 steps otherwise
