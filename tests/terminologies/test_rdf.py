"""OWL and SKOS: what is read of them, and what is refused before it does harm."""

import gzip
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyoxigraph
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import get_reader, read, xml_records
from spacy_medlink.terminologies.rdf import release_of
from spacy_medlink.types import BadLine, CodeMap, Concept, Name, Record, Relation, Retired
from tests.kb import samples

PREFIXES = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix iso: <http://purl.org/iso25964/skos-thes#> .
@prefix : <http://example.org/sweet/> .
"""
HEAD = PREFIXES.count("\n")
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
    '    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"\n'
    '    xmlns:owl="http://www.w3.org/2002/07/owl#">\n'
    '<owl:Class rdf:about="http://example.org/sweet/a"><rdfs:label>%s</rdfs:label></owl:Class>\n'
    "</rdf:RDF>\n"
)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def _turtle(tmp_path: Path, text: str, **options: str) -> list[Record]:
    path = _write(tmp_path / "x.ttl", PREFIXES + text)
    return list(get_reader("owl")(path, None, **options))


def _concept(tmp_path: Path, text: str, **options: str) -> Concept:
    (concept,) = _turtle(tmp_path, text, **options)
    assert isinstance(concept, Concept)
    return concept


def test_the_same_as_from_obo(tmp_path):
    obo, owl = _write(tmp_path / "hp.obo", samples.OBO), _write(tmp_path / "hp.owl", samples.OWL)
    assert list(read("owl", owl)) == list(read("obo", obo))
    assert release_of(owl) == "2024-01-01"


def test_relations_and_matches_are_the_same_as_from_obo(tmp_path):
    obo = _write(
        tmp_path / "x.obo",
        "ontology: x\n\n[Term]\nid: X:1\nname: sweet foot\n"
        'xref: UMLS:C1 {source="MONDO:equivalentTo"}\nxref: SCTID:2 {source="MONDO:relatedTo"}\n'
        "xref: MESH:D1\nproperty_value: skos:broadMatch DOID:7\n"
        "is_a: X:2\nrelationship: part_of X:3 ! foot\nrelationship: X:9 X:4\n\n"
        "[Term]\nid: X:2\nname: sweet disease\n\n[Typedef]\nid: part_of\nname: part of\n",
    )
    owl = _turtle(
        tmp_path,
        """
        [] a owl:Axiom ; oio:source "MONDO:equivalentTo" ; owl:annotatedSource obo:X_1 ;
            owl:annotatedProperty oio:hasDbXref ; owl:annotatedTarget "UMLS:C1" .
        obo:x.owl a owl:Ontology .
        obo:X_1 a owl:Class ; rdfs:label "sweet foot" ;
            oio:hasDbXref "UMLS:C1", "SCTID:2", "MESH:D1" ; skos:broadMatch obo:DOID_7 ;
            rdfs:subClassOf obo:X_2 ,
                [ a owl:Restriction ; owl:onProperty obo:P ; owl:someValuesFrom obo:X_3 ] ,
                [ a owl:Restriction ; owl:onProperty obo:X_9 ; owl:someValuesFrom obo:X_4 ] .
        obo:X_2 a owl:Class ; rdfs:label "sweet disease" .
        obo:P rdfs:label "part of" .
        [] a owl:Axiom ; oio:source "MONDO:relatedTo" ; owl:annotatedSource obo:X_1 ;
            owl:annotatedProperty oio:hasDbXref ; owl:annotatedTarget "SCTID:2" .
        """,
    )
    assert owl == list(read("obo", obo))
    assert isinstance(owl[0], Concept)
    assert Relation("part_of", "X:3", "X") in owl[0].relations
    assert CodeMap("UMLS", "C1", "exact", "X") in owl[0].maps


@pytest.mark.parametrize("name", ["hp.ttl", "hp.nt", "hp.rdf", "hp", "hp.owl.gz", "hp.nt.gz"])
def test_syntaxes_say_the_same(tmp_path, name):
    expected = list(read("owl", _write(tmp_path / "a.owl", samples.OWL)))
    text = samples.OWL.encode()
    if name.startswith(("hp.ttl", "hp.nt")):
        form = pyoxigraph.RdfFormat.from_extension(name.split(".")[1])
        found = pyoxigraph.parse(text, pyoxigraph.RdfFormat.RDF_XML)
        text = pyoxigraph.serialize([one.triple for one in found], format=form) or b""
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert list(read("owl", path)) == expected


def test_thesaurus(tmp_path):
    path = _write(tmp_path / "sweet.ttl", samples.SKOS)
    three = "http://example.org/sweet/three"
    assert list(read("skos", path)) == [
        Concept(
            "D", "Disease",
            (Name("Disease", "en", "SWEET", "PT"), Name("Krankheit", "de", "SWEET", "PT")),
            codes={"SWEET": ("D",)},
        ),
        Concept(
            "D1", "Sweet disease",
            (
                Name("Sweet disease", "en", "SWEET", "PT"),
                Name("Zuckersache", "de", "SWEET", "SY"), Name("SD", "en", "SWEET", "SY"),
                Name("Sweat disease", "en", "SWEET", "HIDDEN"),
                Name("Honey disease", "en", "SWEET", "SY"),
            ),
            definition="The blood is sweet.",
            codes={
                "SNOMEDCT_US": ("73211009",), "SWEET": ("D1",), "MONDO": ("0000001",),
                "URL": ("http://dbpedia.org/resource/Heart_disease",),
            },
            parents=("D",),
            relations=(Relation("isa", "D", "SWEET"), Relation("related", three, "SWEET")),
            maps=(
                CodeMap("SNOMEDCT_US", "73211009", "exact", "SWEET"),
                CodeMap("MONDO", "0000001", "broader", "SWEET"),
                CodeMap("URL", "http://dbpedia.org/resource/Heart_disease", "related", "SWEET"),
            ),
        ),
        Concept(three, "Foot", (Name("Foot", "en", "SWEET", "PT"),)),
        Retired("http://example.org/sweet/four", "D1", "replaced"),
        Retired("http://example.org/sweet/five", "", "obsolete"),
    ]  # fmt: skip
    assert release_of(path) == "2026"


def test_the_language_that_is_asked_for_comes_first(tmp_path):
    text = ':a a skos:Concept ; skos:prefLabel "Fever"@en, "Fieber" ; skos:altLabel "Hitze"@de-CH .'
    concept = _concept(tmp_path, text, lang="de")
    assert concept.name == "Fieber"
    assert [name.lang for name in concept.names] == ["de", "en", "de"]


@pytest.mark.parametrize("property", ["inScheme", "topConceptOf"])
def test_a_concept_is_of_its_scheme(tmp_path, property):
    text = (
        f'<http://x.org/1> a skos:Concept ; skos:prefLabel "a" ; skos:{property} <http://x.org/s> .'
    )
    assert [name.source for name in _concept(tmp_path, text).names] == ["S"]


ORPHANET = "<http://www.orpha.net/ORDO/Orphanet_586>"


@pytest.mark.parametrize(
    "text, field, expected",
    [
        (f'{ORPHANET} a owl:Class ; rdfs:label "x" ; skos:notation "ORPHA:586" .',
         "codes", {"ORPHA": ("586",)}),
        (':1 a skos:Concept ; skos:prefLabel "x" ; skos:definition [ rdf:value "y" ] .',
         "definition", "y"),
        (':1 a skos:Concept ; skos:prefLabel "x" ; skos:definition :d . :d rdf:value "y" .',
         "definition", "y"),
        (':1 a skos:Concept ; skos:prefLabel "x" ; iso:broaderGeneric :2 .',
         "parents", ("http://example.org/sweet/2",)),
        (':1 a skos:Concept ; skos:prefLabel "x" . :2 skos:narrowerGeneric :1 .',
         "parents", ("http://example.org/sweet/2",)),
        (':1 a skos:Concept ; skos:prefLabel "x" ; iso:broaderPartitive :2 .',
         "relations", (Relation("part_of", "http://example.org/sweet/2", "X"),)),
        (':1 skos:prefLabel "x" . :list a skos:Collection ; skos:prefLabel "no concept" .',
         "name", "x"),
        (':1 a :Disease ; skos:prefLabel "x" ; skos:broader :2 .', "name", "x"),
        (':1 rdfs:label "x" ; rdfs:subClassOf :2 .', "name", "x"),
        (':1 a skos:Concept ; skos:prefLabel "x" ; skos:notation "E11"^^:ICD-10, "7"^^:SNOMEDCT .',
         "codes", {"ICD10": ("E11",), "SNOMEDCT_US": ("7",)}),
        (':1 a skos:Concept ; skos:prefLabel "x" ; skos:notation "E11"^^:ICD-10 .', "id", "E11"),
    ],
)  # fmt: skip
def test_what_publishers_write(tmp_path, text, field, expected):
    assert getattr(_concept(tmp_path, text), field) == expected


@pytest.mark.parametrize(
    "language, lang, names",
    [
        ('dct:language "de"', "", ["de", "fr"]),
        ("dct:language <http://publications.europa.eu/resource/authority/language/DEU>", "",
         ["de", "fr"]),
        ('dct:language "de", "fr"', "", ["en", "fr"]),
        ('dct:language "de"', "es", ["es", "fr"]),
    ],
)  # fmt: skip
def test_the_language_of_the_scheme(tmp_path, language, lang, names):
    text = (
        f':s a skos:ConceptScheme ; {language} . :1 a skos:Concept ; skos:prefLabel "x", "y"@fr .'
    )
    options = {"lang": lang} if lang else {}
    assert sorted(name.lang for name in _concept(tmp_path, text, **options).names) == sorted(names)


def test_mesh_has_an_xml_that_says_more(tmp_path):
    with pytest.raises(MedlinkError, match=r"E160.*MeSH in RDF.*--from mesh"):
        _turtle(tmp_path, ":1 a <http://id.nlm.nih.gov/mesh/vocab#TopicalDescriptor> .")


def test_a_shared_notation_is_no_id(tmp_path):
    records = _turtle(
        tmp_path,
        ':a a skos:Concept ; skos:notation "1" ; skos:prefLabel "a" .'
        ':b a skos:Concept ; skos:notation "1" ; skos:prefLabel "b" ; skos:broader :c .'
        ':c a skos:Concept ; skos:notation "2", "3" ; skos:prefLabel "c" .',
    )
    assert [record.id for record in records] == [f"http://example.org/sweet/{one}" for one in "abc"]
    assert isinstance(records[2], Concept) and records[2].codes == {"X": ("2", "3")}


def test_the_nci_thesaurus(tmp_path):
    base = "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl"
    concept = _concept(
        tmp_path,
        f'<{base}> a owl:Ontology . <{base}#C1> a owl:Class ; rdfs:label "Gout" ;'
        f'<{base}#P90> "Gouty Arthritis" ; <{base}#P97> "Crystals." ; <{base}#P207> "C0018099" .',
    )
    assert (concept.id, concept.definition) == ("NCIT:C1", "Crystals.")
    assert concept.names == (
        Name("Gout", "en", "NCIT", "PT"), Name("Gouty Arthritis", "en", "NCIT", "SY"),
    )  # fmt: skip
    assert concept.codes == {"UMLS": ("C0018099",)}


def test_bioportal(tmp_path):
    umls = "http://bioportal.bioontology.org/ontologies/umls/"
    icd = "http://purl.bioontology.org/ontology/ICD10CM"
    concept = _concept(
        tmp_path,
        f'<{icd}/E11.9> a owl:Class ; skos:prefLabel "Diabetes"@en ; skos:notation "E11.9" ;'
        f'rdfs:subClassOf <{icd}/E11> ; <{umls}cui> "C1" ; <{umls}tui> "T047" .',
    )
    assert (concept.id, concept.parents, concept.types) == (
        "ICD10CM:E11.9", ("ICD10CM:E11",), ("T047",),
    )  # fmt: skip
    assert concept.codes == {"ICD10CM": ("E11.9",), "UMLS": ("C1",)}
    assert concept.names[0].source == "ICD10CM"


@pytest.mark.parametrize(
    ("address", "id"),
    [
        ("http://purl.obolibrary.org/obo/HP_0000118", "HP:0000118"),
        ("http://www.orpha.net/ORDO/Orphanet_558", "Orphanet:558"),
        ("http://www.ebi.ac.uk/efo/EFO_0000400", "EFO:0000400"),
        ("http://id.nlm.nih.gov/mesh/D003920", "MESH:D003920"),
        ("http://purl.obolibrary.org/obo/NCBITaxon_Union_0000000", "NCBITaxon_Union:0000000"),
        ("http://example.org/x#Heart_disease", "http://example.org/x#Heart_disease"),
        ("http://example.org/obo/HP_0000118", "http://example.org/obo/HP_0000118"),
        ("http://example.org/c_123", "http://example.org/c_123"),
        ("http://example.org/with a blank", "http://example.org/with a blank"),
        ("#Fever", "Fever"),
        ("Fever", "Fever"),
    ],
)
def test_ids(tmp_path, address, id):
    assert _concept(tmp_path, f'<{address}> a owl:Class ; rdfs:label "x" .').id == id


@pytest.mark.parametrize(
    ("ontology", "source"),
    [
        ("obo:hp.owl", "HP"), ("<urn:example:pain>", "PAIN"), ("<pain.owl>", "PAIN"),
        ("<http://www.ebi.ac.uk/efo/efo.owl>", "EFO"), ("<>", "X"), ("[]", "X"),
    ],
)  # fmt: skip
def test_names_come_from_the_ontology(tmp_path, ontology, source):
    text = f'{ontology} a owl:Ontology . :a a owl:Class ; rdfs:label "a" .'
    assert _concept(tmp_path, text).names[0].source == source


def test_what_is_passed_over(tmp_path):
    concept = _concept(
        tmp_path,
        """
        :o a owl:Ontology ; owl:imports <https://example.org/never/fetched.owl> .
        :p a owl:ObjectProperty ; rdfs:label "property" .
        :i a owl:NamedIndividual, :a ; rdfs:label "individual" .
        :referred a owl:Class .
        [] a owl:Class ; rdfs:label "anonymous" .
        :a a owl:Class ; rdfs:label "a", <http://example.org/no/text>, "a" ;
            rdfs:subClassOf owl:Thing , "text" , [ owl:unionOf ( :b :c ) ] ,
                [ owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom :b ] ,
                [ owl:onProperty :p ; owl:someValuesFrom [ owl:unionOf ( :b :c ) ] ] ,
                [ owl:onProperty :p ; owl:allValuesFrom :b ] ;
            owl:equivalentClass [ owl:unionOf ( :b :c ) ] ;
            skos:exactMatch [] ; skos:broader [] ; skos:related [] ; oio:hasDbXref [] ;
            oio:hasAlternativeId [] ; skos:definition [ rdfs:label "a node" ] ;
            rdfs:comment "text" .
        """,
    )
    assert concept == Concept("http://example.org/sweet/a", "a", (Name("a", "en", "O", "PT"),))


@pytest.mark.parametrize("property", ["rdfs:subClassOf", "owl:equivalentClass"])
def test_the_parts_of_an_intersection(tmp_path, property):
    """Each part of it is above the class, also where parts are intersections again."""
    concept = _concept(
        tmp_path,
        f"""
        obo:x.owl a owl:Ontology .
        obo:X_1 a owl:Class ; rdfs:label "a" ; rdfs:subClassOf obo:X_2 ; {property} [
            owl:intersectionOf ( obo:X_2 obo:X_3
                [ owl:onProperty obo:P ; owl:someValuesFrom obo:X_4 ]
                [ owl:intersectionOf ( obo:X_5 [ owl:unionOf ( obo:X_6 obo:X_7 ) ] ) ] ) ] .
        obo:P rdfs:label "part of" .
        """,
    )
    assert concept.parents == ("X:2", "X:3", "X:5")
    assert set(concept.relations) == {
        *(Relation("isa", f"X:{number}", "X") for number in (2, 3, 5)),
        Relation("part_of", "X:4", "X"),
    }


def test_a_class_that_is_an_intersection_itself(tmp_path):
    text = 'obo:X_1 a owl:Class ; rdfs:label "a" ; owl:intersectionOf ( obo:X_2 obo:X_3 ) .'
    assert _concept(tmp_path, text).parents == ("X:2", "X:3")


def test_a_list_that_leads_back_to_itself_ends(tmp_path):
    text = """
        obo:X_1 a owl:Class ; rdfs:label "a" ; rdfs:subClassOf [ owl:intersectionOf _:l ] .
        _:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> obo:X_2 ;
            <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l ."""
    assert _concept(tmp_path, text).parents == ("X:2",)


def test_a_class_that_is_the_same_is_an_exact_code(tmp_path):
    text = 'obo:X_1 a owl:Class ; rdfs:label "a" ; owl:equivalentClass obo:DOID_7 .'
    concept = _concept(tmp_path, text)
    assert concept.maps == (CodeMap("DOID", "7", "exact", "X"),)
    assert concept.parents == ()


def test_obsolete_classes_have_a_class_of_their_own(tmp_path):
    records = _turtle(
        tmp_path,
        'oio:ObsoleteClass a owl:Class ; rdfs:label "Obsolete Class" .'
        'obo:X_1 a owl:Class ; rdfs:label "old" ; rdfs:subClassOf oio:ObsoleteClass .'
        'obo:X_2 a owl:Class ; rdfs:label "a" .',
    )
    assert records[0] == Retired("X:1", "", "obsolete")
    assert [record.id for record in records] == ["X:1", "X:2"]


def test_alternative_terms(tmp_path):
    text = 'obo:X_1 a owl:Class ; rdfs:label "a" ; obo:IAO_0000118 "b"@de ; oio:hasSynonym "c" .'
    assert _concept(tmp_path, text).names[1:] == (
        Name("b", "de", "X", "SY"), Name("c", "en", "X", "RELATED"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "syntax", "command"),
    [
        ("x.ofn", "", "functional", "robot convert"),
        ("x.omn", "Class: a", "Manchester", "robot convert"),
        ("x.jsonld", "{}", "JSON-LD", "rdfpipe"),
        ("x.jsonld.gz", "{}", "JSON-LD", "rdfpipe"),
        ("x.owl", "# c\n\nPrefix(:=<http://x/>)", "functional", "robot convert"),
        ("x.owl", "Ontology (<http://x>)", "functional", "robot convert"),
        ("x.owl", "Prefix: : <http://x/>\nOntology: <http://x>", "Manchester", "robot convert"),
        ("x.owl", '\ufeff{"@context": {}}', "JSON-LD", "rdfpipe"),
        ("x.ttl", '[\n{"@id": "http://x"}]', "JSON-LD", "rdfpipe"),
        ("x.json", '{"meta": {}, "graphs" : [{"nodes": []}]}', "OBO graph", "OBO or OWL"),
        ("x.owl", "format-version: 1.2\n\n[Term]\nid: A:1\n", "OBO", "--from obo"),
        ("x.owl", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML", "robot convert"),
        ("x.owx", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML", "robot convert"),
    ],
)
def test_other_syntaxes_are_refused_by_name(tmp_path, name, text, syntax, command):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    with pytest.raises(MedlinkError, match=f"E105.*{name}, line 1: .*{syntax}.*{command}"):
        list(get_reader("owl")(path, []))


@pytest.mark.parametrize(
    ("text", "reason", "successor"),
    [
        ("owl:deprecated true", "obsolete", ""),
        ('owl:deprecated "true" ; obo:IAO_0100001 obo:HP_2', "obsolete", "HP:2"),
        ('owl:deprecated 1 ; obo:IAO_0100001 "HP:2"', "obsolete", "HP:2"),
        ('owl:deprecated "True"', "obsolete", ""),
        ("a owl:DeprecatedClass", "obsolete", ""),
        ("<http://purl.org/dc/terms/isReplacedBy> obo:HP_2", "replaced", "HP:2"),
    ],
)
def test_retired(tmp_path, text, reason, successor):
    (record,) = _turtle(tmp_path, f'obo:HP_1 a owl:Class ; rdfs:label "x" ; {text} .')
    assert record == Retired("HP:1", successor, reason)


def test_deprecated_false_is_in_use(tmp_path):
    text = "owl:deprecated false ; obo:IAO_0100001 obo:HP_2"
    assert _concept(tmp_path, f'obo:HP_1 a owl:Class ; rdfs:label "x" ; {text} .').id == "HP:1"


@pytest.mark.parametrize(
    ("text", "problem", "records"),
    [
        (':a a owl:Class ; rdfs:label "" ; skos:definition "d" .', "without a name", 0),
        (':a a owl:Class ; rdfs:label "" .', "without a name", 0),
        (':a a owl:Class ; skos:definition "d" .', "without a name", 0),
        (':a a owl:Class ; rdfs:label "a", " " .', "an empty name", 1),
        (':a a owl:Class ; rdfs:label "a", "b\\u0000" .', "NUL", 1),
        ('<http://x/\u200b> a owl:Class ; rdfs:label "a" .', "invisible character", 0),
        (':a a owl:Class ; rdfs:label "a" ; rdfs:subClassOf <http://x/\u200b> .', "invisible", 1),
        (':a a owl:Class ; rdfs:label "a" ; oio:hasDbXref "" .', "an empty value of", 1),
        (':a a owl:Class ; rdfs:label "a" ; skos:exactMatch "MESH:\u200b" .', "invisible", 1),
        (':a a owl:Class ; rdfs:label "a" ; skos:notation " " .', "an empty value of", 1),
    ],
)
def test_bad_concepts(tmp_path, text, problem, records):
    path = _write(tmp_path / "x.ttl", f'{PREFIXES}:z a owl:Class ; rdfs:label "z" .\n{text}\n')
    with pytest.raises(MedlinkError, match=f"E105.*x.ttl, line {HEAD + 2}: .*{problem}"):
        list(read("owl", path))
    bad: list[BadLine] = []
    assert len(list(read("owl", path, bad))) == 1 + records
    assert [(bad_line.line, problem in bad_line.problem) for bad_line in bad] == [(HEAD + 2, True)]


NT = '<http://x/a> <http://x/p> "x" .\n'


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.nt", NT + "<http://x/a> x\n" + NT, 2),
        ("x.nt", NT + NT[:-5], 2),
        ("x.ttl", NT + '<http://x/a> <http://x/p> "x\n', 2),
        ("x.ttl", NT + ":a a :b .", 2),
        ("x.owl", "Ontology(<http://x>\n)", 1),
        ("x.owl", (RDF % "x")[:-10], 5),
        ("x.owl", (RDF % "x").replace("</owl:Class>", ""), 5),
        ("x.owl", (RDF % "&undeclared;"), 4),
        ("x.owl", (RDF % "x").replace("rdf:about", "rdf:aboutEach"), 4),
        ("x.owl", '<?xml version="1.0" encoding="latin1"?>' + (RDF % "x"), 1),
        ("x.owl", "<!--" + " " * 1_200_000 + "-->" + (RDF % "x"), 1),
        ("x.ttl", '<http://x/a> <http://x/p> "' + "x" * 20_000_000, 1),
    ],
)
def test_what_breaks_the_syntax_cannot_be_skipped(tmp_path, name, text, line):
    path = _write(tmp_path / name, text)
    for bad in (None, []):
        with pytest.raises(MedlinkError, match=rf"E105.*{name}, line {line}: "):
            list(read("owl", path, bad))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
        ("<html >\n</html>", "a web page"),
    ],
)
def test_another_kind_of_file_is_named(tmp_path, text, problem):
    path = _write(tmp_path / "x.owl", text)
    for bad in (None, []):
        with pytest.raises(MedlinkError, match=rf"E160.*x\.owl.*{problem}"):
            list(read("owl", path, bad))


@pytest.mark.skipif(not shutil.which("iconv"), reason="the remedy is a command of iconv")
@pytest.mark.parametrize(
    ("name", "encoding", "declared"),
    [
        ("x.owl", "iso-8859-1", "ISO-8859-1"), ("x.owl", "latin-1", "latin1"),
        ("x.owl", "latin-1", "UTF-8"), ("x.owl", "latin-1", ""), ("x.owl.gz", "latin-1", ""),
        ("x.owl", "cp1252", "windows-1252"), ("x.owl", "iso-8859-2", "ISO-8859-2"),
        ("x.owl", "utf-16", "UTF-16"), ("x.owl", "utf-16", ""), ("x.ttl", "latin-1", ""),
    ],
)  # fmt: skip
def test_other_encodings_come_with_the_command_that_converts_them(
    tmp_path, name, encoding, declared
):
    turtle = PREFIXES + ':a a owl:Class ; rdfs:label "é" .'
    text = turtle if name == "x.ttl" else RDF % "é"
    head = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    data = (head + text).encode(encoding)
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(MedlinkError, match=r"E105.*iconv -f \S+ -t UTF-8") as refused:
        list(read("owl", path))
    command = str(refused.value).split("`")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    (concept,) = read("owl", tmp_path / command.rpartition(" ")[2])
    assert isinstance(concept, Concept) and "é" in concept.name


def test_cross_references_without_a_vocabulary_are_counted(tmp_path):
    with pytest.warns(UserWarning, match=r"W110.* 2 cross-references, such as '12345'"):
        concept = _concept(
            tmp_path,
            'obo:X_1 a owl:Class ; rdfs:label "a" ; oio:hasDbXref "12345", "MESH:", "X:2" .',
        )
    assert concept.codes == {"X": ("2",)}


LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcde", "bcdef", strict=True))


@pytest.mark.parametrize(
    "declared",
    [
        f'[<!ENTITY a "{"ha" * 5}">{LAUGHS}]',
        f'[<!-- <!ENTITY f "ha"> --><!ENTITY a "{"ha" * 5}">]',  # which pyoxigraph would read
        '[<!ENTITY f SYSTEM "file:///etc/passwd">]',
        '[<!ENTITY % f "x"> %f;]',
        f'[<!ENTITY f "{"ha" * 200}">]',
        'SYSTEM "https://example.org/never/fetched.dtd" [<!ENTITY f "x">]',
    ],
)
def test_entities_that_could_hide_much_are_refused(tmp_path, declared):
    for text in (RDF % "&f;", RDF % "x", "\n" * 70_000 + RDF % "&f;"):
        path = _write(tmp_path / "x.owl", f"<!DOCTYPE rdf:RDF {declared}>\n{text}")
        with pytest.raises(MedlinkError, match=r"E105.*line 1: the DOCTYPE"):
            list(read("owl", path, []))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("&f;" * 40_000, "entities over and over"),
        ("&f;<!-- </a> -->" * 40_000, "entities over and over"),
        (f'</rdfs:label><rdfs:label xml:lang="{"a" * 200_000}">', "a tag or comment of over"),
        (f"<!--{'a' * 200_000}-->", "a tag or comment of over"),
        ("<rdfs:seeAlso><rdf:Description>" * 600, "elements within elements"),
    ],
)
def test_what_unpacks_without_end_is_refused(tmp_path, monkeypatch, text, problem):
    """Entities may make 67 times as much; a tag without end is read again with every block."""
    monkeypatch.setattr(xml_records, "LONGEST_TAG", 1 << 16)
    declared = f'<!DOCTYPE rdf:RDF [<!ENTITY f "{"h" * 200}">]>'
    with pytest.raises(MedlinkError, match=rf"E105.*{problem}"):
        list(read("owl", _write(tmp_path / "x.owl", declared + RDF % text), []))


def test_short_entities_are_usual(tmp_path):
    start = '<?xml version="1.0"?>\n<!-- <!DOCTYPE x> -->\n<?x y?>\n'
    declared = '<!DOCTYPE rdf:RDF [\n<!ENTITY a "http://example.org/a#" >\n<!ENTITY b "x">\n]>\n'
    (concept,) = read("owl", _write(tmp_path / "x.owl", start + declared + RDF % "&a;1 &b; &lt;"))
    assert isinstance(concept, Concept)
    assert concept.name == "http://example.org/a#1 x <"


def test_an_unfinished_comment_takes_no_exponential_time(tmp_path):
    start = "<!-- x -->" * 20_000 + "<!DOCTYPE rdf:RDF [<!ELEMENT x ANY>]>"
    with pytest.raises(MedlinkError, match="the DOCTYPE"):
        list(read("owl", _write(tmp_path / "x.owl", start + RDF % "x")))


def test_a_document_in_one_line(tmp_path):
    """Lines and characters of several bytes lie across the ends of what is read at once."""
    classes = "".join(
        f'<owl:Class rdf:about="http://example.org/{n}"><rdfs:label>{"é😀" * n}</rdfs:label>'
        "</owl:Class>"
        for n in range(1, 400)
    )
    text = (RDF % "x").replace("\n", " ").replace("</rdf:RDF>", classes + "</rdf:RDF>")
    for shift in range(4):
        records = list(read("owl", _write(tmp_path / "x.owl", " " * shift + text)))
        assert [len(record.name) for record in records if isinstance(record, Concept)] == [
            1, *range(2, 800, 2),
        ]  # fmt: skip


def test_memory_is_bounded(tmp_path):
    path = tmp_path / "x.nt"
    thing = "<http://example.org/%d> <http://www.w3.org/%s> %s .\n"
    words = '"a name that repeats %d"'
    with path.open("w") as file:
        for n in range(3_000):
            kind = "<http://www.w3.org/2002/07/owl#Class>"
            file.write(thing % (n, "1999/02/22-rdf-syntax-ns#type", kind))
            file.write(thing % (n, "2000/01/rdf-schema#label", words % n))
            for other in range(3):
                file.write(thing % (n, "2004/02/skos/core#altLabel", words % other))
    tracemalloc.start()
    try:
        count = sum(
            len(record.names) for record in read("owl", path) if isinstance(record, Concept)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 12_000
    assert path.stat().st_size > 1_500_000
    assert peak < 500_000


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    reader = get_reader("owl")  # which needs it only when it reads
    path = _write(tmp_path / "hp.owl", samples.OWL)
    with pytest.raises(MedlinkError, match=r"E614.*pip install .*'\.\[rdf\]'"):
        list(reader(path, None))
