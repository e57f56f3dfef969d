"""Random terminologies, and what writes them as files: with what no reader may lose or falsify."""

from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, SKOS, BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from spacy_medlink.types import ISA, CodeMap, Concept, Name, Record, Relation, Retired

OBO = Namespace("http://purl.obolibrary.org/obo/")
OIO = Namespace("http://www.geneontology.org/formats/oboInOwl#")
LOCAL = Namespace("http://example.org/terms/")
DCT = Namespace("http://purl.org/dc/terms/")
NAMESPACE = "some_terms"
# How sources spell vocabularies, and what these are.
VOCABULARIES = {
    "MSH": "MESH", "MESH": "MESH", "UMLS_CUI": "UMLS", "SNOMEDCT_US_2025_09_01": "SNOMEDCT_US",
    "SCTID": "SNOMEDCT_US", "NCI2009_04D": "NCIT", "ORDO": "ORPHA", "Fyler": "Fyler",
    "DOID": "DOID", "icd11.foundation": "icd11.foundation",
}  # fmt: skip
# SKOS's words, from the concept to the code, and ours.
MATCHES = {
    "exactMatch": "exact", "broadMatch": "broader", "narrowMatch": "narrower",
    "closeMatch": "related", "relatedMatch": "related",
}  # fmt: skip
SCOPES = ("EXACT", "BROAD", "NARROW", "RELATED")
# Properties: id, shorthand, and what they are called.
PROPERTIES = {"BFO:0000050": "part of", "RO:0001025": "located in", "TT:0000001": ""}


class Synonym(NamedTuple):
    """Another name: its scope, and its type or ""."""

    text: str
    scope: str
    kind: str


class Term(NamedTuple):
    """A term; `codes` are (vocabulary, code, word of SKOS or "" for a cross-reference)."""

    id: str
    name: str
    synonyms: list[Synonym]
    others: list[str]
    definition: str
    codes: list[tuple[str, str, str]]
    parents: list[str]
    genus: str
    related: list[tuple[str, str]]
    merged: list[str]
    retired: str | None


# Marks that mean something in some format, and letters of several bytes.
_TEXT = st.text("ab Z09,.;:'\"\\!{}[]()<>=&#@|-_/äß漢😀", min_size=1, max_size=12)
texts = _TEXT.map(str.strip).filter(bool)
_CODES = st.text("ABC0123456789", min_size=1, max_size=6)
_IDS = [f"TT:{number:07}" for number in range(10, 22)]


@st.composite
def terminologies(draw: st.DrawFn) -> list[Term]:
    """Draw terms that refer to each other, and to ids of others."""
    ids = draw(st.lists(st.sampled_from(_IDS), min_size=1, max_size=5, unique=True))
    return [_term(draw, id) for id in ids]


def _term(draw: st.DrawFn, id: str) -> Term:
    others = [one for one in _IDS if one != id]
    some = st.lists(st.sampled_from(others), max_size=2, unique=True)
    kinds = st.sampled_from(["", "layperson", "abbreviation"])
    synonyms = st.builds(Synonym, texts, st.sampled_from(SCOPES), kinds)
    codes = st.tuples(
        st.sampled_from(sorted(VOCABULARIES)), _CODES, st.sampled_from(["", *MATCHES])
    )
    related = st.tuples(st.sampled_from(sorted(PROPERTIES)), st.sampled_from(others))
    return Term(
        id,
        draw(texts),
        draw(st.lists(synonyms, max_size=3, unique_by=lambda one: one.text)),
        draw(st.lists(texts, max_size=1)),
        draw(st.just("") | texts),
        draw(st.lists(codes, max_size=4, unique=True)),
        draw(some),
        draw(st.sampled_from(["", *others])),
        draw(st.lists(related, max_size=2, unique=True)),
        [f"OLD:{id[3:]}"] if draw(st.booleans()) else [],
        draw(st.none() | st.sampled_from(["", *others])) if draw(st.booleans()) else None,
    )


def expected(terms: list[Term]) -> list[Record]:
    """Make the records that every reader of an ontology must give."""
    records: list[Record] = []
    for term in terms:
        if term.retired is not None:
            records.append(Retired(term.id, term.retired, "obsolete"))
            continue
        records.append(_concept(term))
        records += [Retired(id, term.id, "merged") for id in term.merged]
    return records


def _concept(term: Term) -> Concept:
    names = [Name(term.name, "en", "TT", "PT")]
    names += [
        Name(synonym.text, "en", "TT", f"{synonym.scope} {synonym.kind}".strip())
        for synonym in term.synonyms
    ]
    names += [Name(text, "en", "TT", "SY") for text in term.others]
    codes: dict[str, tuple[str, ...]] = {}
    for spelled, code, _ in term.codes:
        codes[VOCABULARIES[spelled]] = (*codes.get(VOCABULARIES[spelled], ()), code)
    parents = [*term.parents, *filter(None, [term.genus])]
    words = {id: "_".join(name.split()) or id for id, name in PROPERTIES.items()}
    relations = [(ISA, id) for id in parents] + [(words[id], other) for id, other in term.related]
    return Concept(
        term.id, term.name, tuple(names), (NAMESPACE,), term.definition, codes, tuple(parents),
        tuple(Relation(*relation, "TT") for relation in relations),
        tuple(
            CodeMap(VOCABULARIES[spelled], code, MATCHES[word], "TT")
            for spelled, code, word in term.codes if word
        ),
    )  # fmt: skip


def facts(records: list[Record]) -> list[object]:
    """Make records comparable: order and repetitions say nothing, but the first name does."""
    found: list[object] = []
    for one in records:
        if isinstance(one, Retired):
            found.append(tuple(one))
            continue
        codes = sorted((name, code) for name, own in one.codes.items() for code in set(own))
        found.append(
            (one.id, one.name, one.definition, sorted(set(one.names)), sorted(one.types), codes,
             sorted(set(one.maps)), sorted(set(one.parents)), sorted(set(one.relations)))
        )  # fmt: skip
    return sorted(found, key=repr)


# OBO

# What needs a backslash in front.
_QUOTED, _UNQUOTED = '"\\', "!{}\\"


def _escaped(text: str, marks: str) -> str:
    return "".join(f"\\{mark}" if mark in marks else mark for mark in text)


@st.composite
def obo_files(draw: st.DrawFn, terms: list[Term]) -> str:
    """Write terms as OBO, with whatever may stand behind a value."""
    behind = st.sampled_from(
        ["", ' {source="X:1 ! {y}", z="\\"q\\""}', ' ! 5" {a} said', ' {a="b"} ! c']
    )
    skos = st.sampled_from(["skos:", "", "http://www.w3.org/2004/02/skos/core#"])
    is_quoted = st.booleans()
    lines = ["format-version: 1.4", f"default-namespace: {NAMESPACE}{draw(behind)}", "ontology: tt"]

    def say(line: str) -> None:
        lines.append(line + draw(behind))

    for term in terms:
        lines += ["", "[Term]"]
        say(f"id: {term.id}")
        say(f"name: {_escaped(term.name, _UNQUOTED)}")
        if term.definition:
            say(f'def: "{_escaped(term.definition, _QUOTED)}" [X:1 "said"]')
        for one in term.synonyms:
            text = _escaped(one.text, _QUOTED)
            say(f'synonym: "{text}" {f"{one.scope} {one.kind}".strip()} [X:1, Y:2 "a ! b"]')
        for text in term.others:
            say(f'property_value: IAO:0000118 "{_escaped(text, _QUOTED)}" xsd:string')
        for vocabulary, code, word in term.codes:
            value = (
                f'"{vocabulary}:{code}" xsd:string' if draw(is_quoted) else f"{vocabulary}:{code}"
            )
            if word:
                say(f"property_value: {draw(skos)}{word} {value}")
            else:
                say(f"xref: {vocabulary}:{code}" + draw(st.sampled_from(["", ' "its name"'])))
        for id in term.parents:
            say(f"is_a: {id}" if draw(is_quoted) else f"relationship: is_a {id}")
        if term.genus:
            say(f"intersection_of: {term.genus}")
        for property, id in term.related:
            say(f"{'intersection_of' if term.genus else 'relationship'}: {property} {id}")
        for id in term.merged:
            say(f"alt_id: {id}")
        if term.retired is not None:
            say("is_obsolete: true")
            if term.retired:
                say(f"replaced_by: {term.retired}")
    for id, name in PROPERTIES.items():
        lines += ["", "[Typedef]", f"id: {id}", *([f"name: {name}"] if name else [])]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + end


# OWL and SKOS


def address(id: str) -> URIRef:
    """Write an id as the foundry's address."""
    return OBO[id.replace(":", "_")]


def owl_graph(terms: list[Term]) -> Graph:
    """Write terms as an ontology."""
    graph = Graph()
    graph.add((OBO["tt.owl"], RDF.type, OWL.Ontology))
    for term in terms:
        about = address(term.id)
        say = _saying(graph, about)
        say(RDF.type, OWL.Class)
        say(RDFS.label, Literal(term.name))
        say(OIO.hasOBONamespace, Literal(NAMESPACE))
        if term.definition:
            say(OBO.IAO_0000115, Literal(term.definition))
        for synonym in term.synonyms:
            _say_synonym(graph, about, synonym)
        for text in term.others:
            say(OBO.IAO_0000118, Literal(text))
        for vocabulary, code, word in term.codes:
            say(SKOS[word] if word else OIO.hasDbXref, Literal(f"{vocabulary}:{code}"))
        for parent in term.parents:
            say(RDFS.subClassOf, address(parent))
        parts = [_restriction(graph, *one) for one in term.related]
        if term.genus:
            node, members = BNode(), BNode()
            Collection(graph, members, [address(term.genus), *parts])
            graph.add((node, OWL.intersectionOf, members))
            say(OWL.equivalentClass, node)
        for part in parts if not term.genus else ():
            say(RDFS.subClassOf, part)
        for id in term.merged:
            say(OIO.hasAlternativeId, Literal(id))
        if term.retired is not None:
            say(OWL.deprecated, Literal(True))
            if term.retired:
                say(OBO.IAO_0100001, address(term.retired))
    for id, name in PROPERTIES.items():
        if name:
            graph.add((address(id), RDFS.label, Literal(name)))
    return graph


def _saying(graph: Graph, about: URIRef) -> Callable[[URIRef, Node], object]:
    return lambda property, value: graph.add((about, property, value))


def _say_synonym(graph: Graph, about: URIRef, synonym: Synonym) -> None:
    property = OIO[f"has{synonym.scope.title()}Synonym"]
    graph.add((about, property, Literal(synonym.text)))
    if synonym.kind:
        axiom = BNode()
        for said, value in (
            (RDF.type, OWL.Axiom), (OWL.annotatedSource, about), (OWL.annotatedProperty, property),
            (OWL.annotatedTarget, Literal(synonym.text)), (OIO.hasSynonymType, OIO[synonym.kind]),
        ):  # fmt: skip
            graph.add((axiom, said, value))


def _restriction(graph: Graph, property: str, id: str) -> BNode:
    node = BNode()
    graph.add((node, RDF.type, OWL.Restriction))
    graph.add((node, OWL.onProperty, address(property)))
    graph.add((node, OWL.someValuesFrom, address(id)))
    return node


# Of a synonym's scope: its property in SKOS and its language.
LABELS = {
    "EXACT": ("altLabel", "en"), "BROAD": ("altLabel", "de"), "NARROW": ("hiddenLabel", "pt"),
    "RELATED": ("prefLabel", "fr"),
}  # fmt: skip
TERM_TYPES = {"altLabel": "SY", "hiddenLabel": "HIDDEN", "prefLabel": "PT"}
BASES = {"MESH": "http://id.nlm.nih.gov/mesh/", "SNOMEDCT_US": "http://snomed.info/id/"}


def skos_graph(terms: list[Term]) -> Graph:
    """Write terms as a thesaurus, whose notations are the ids; a term's genus is not written."""
    graph = Graph()
    graph.add((LOCAL.TT, RDF.type, SKOS.ConceptScheme))
    for number, term in enumerate(terms):
        about = _local(term.id)
        say = _saying(graph, about)
        say(RDF.type, SKOS.Concept)
        say(SKOS.inScheme, LOCAL.TT)
        say(SKOS.notation, Literal(term.id))
        say(SKOS.prefLabel, Literal(term.name, lang="en"))
        for one in term.synonyms:
            kind, lang = LABELS[one.scope]
            say(SKOS[kind], Literal(one.text, lang=lang))
        if term.definition:
            say(SKOS.definition, Literal(term.definition, lang="en-GB"))
        for parent in term.parents:
            if number % 2:
                say(SKOS.broader, _local(parent))
            else:
                graph.add((_local(parent), SKOS.narrower, about))
        for _, other in term.related:
            say(SKOS.related, _local(other))
        for spelled, code, word in term.codes:
            if word:
                say(SKOS[word], _code_address(VOCABULARIES[spelled], code))
        if term.retired is not None:
            say(OWL.deprecated, Literal(True))
            if term.retired:
                say(DCT.isReplacedBy, _local(term.retired))
    return graph


def expected_of_skos(terms: list[Term]) -> list[Record]:
    """Make the records that the thesaurus must give."""
    known = {term.id for term in terms}

    def id_of(id: str) -> str:
        return id if id in known else str(_local(id))

    return [_concept_of_skos(term, id_of) for term in terms]


def _concept_of_skos(term: Term, id_of: Callable[[str], str]) -> Record:
    if term.retired is not None:
        reason = "replaced" if term.retired else "obsolete"
        return Retired(term.id, term.retired and id_of(term.retired), reason)
    labels = ((synonym.text, *LABELS[synonym.scope]) for synonym in term.synonyms)
    matches = [
        (*_code(VOCABULARIES[spelled], code), MATCHES[word])
        for spelled, code, word in term.codes if word
    ]  # fmt: skip
    codes = {"TT": (term.id,)}
    for vocabulary, code, _ in matches:
        codes[vocabulary] = (*codes.get(vocabulary, ()), code)
    return Concept(
        term.id,
        term.name,
        (
            Name(term.name, "en", "TT", "PT"),
            *(Name(text, lang, "TT", TERM_TYPES[kind]) for text, kind, lang in labels),
        ),
        definition=term.definition,
        codes=codes,
        parents=tuple(map(id_of, term.parents)),
        relations=(
            *(Relation(ISA, id_of(id), "TT") for id in term.parents),
            *(Relation("related", id_of(id), "TT") for _, id in term.related),
        ),
        maps=tuple(CodeMap(*match, "TT") for match in matches),
    )


def _local(id: str) -> URIRef:
    return LOCAL[f"term_{id[3:]}"]  # which has the form of an id, and is none


def _code_address(vocabulary: str, code: str) -> URIRef:
    if vocabulary == "DOID":
        return OBO[f"DOID_{code}"]
    return URIRef(BASES.get(vocabulary, f"http://example.org/{vocabulary}/") + code)


def _code(vocabulary: str, code: str) -> tuple[str, str]:
    if vocabulary == "DOID" or vocabulary in BASES:
        return vocabulary, code
    return "URL", str(_code_address(vocabulary, code))


# Their endings, and how rdflib calls the syntaxes.
RDF_SYNTAXES = {"owl": "xml", "rdf": "xml", "ttl": "turtle", "nt": "nt"}
