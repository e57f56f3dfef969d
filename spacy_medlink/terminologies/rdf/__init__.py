"""Ontologies in OWL and thesauri in SKOS, from RDF/XML, Turtle or N-Triples."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...kb.code_systems import vocabulary_of
from ...kb.readers.fields import FieldError, identifier, sound, without_blank_names
from ...kb.readers.xrefs import (
    CrossReferences,
    Match,
    compact,
    maps_of,
    relation_of_match,
    source_of,
    vocabulary_in,
)
from ...kb.scratch import scratch
from ...kb.vocabularies import is_known, iso_639_1
from ...types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from .store import DEFINITION_NODE, DEFINITIONS, OBSOLETE, TABLES, Fact, Store, facts
from .triples import BASE

# Term types of names. The preferred name is of the first of these properties, all else equal.
_PREFERRED = ("skos:prefLabel", "rdfs:label", "ncit:P108")
_TERM_TYPES = {
    **dict.fromkeys(_PREFERRED, "PT"),
    "skos:altLabel": "SY", "efo:alternative_term": "SY", "ncit:P90": "SY",
    "obo:IAO_0000118": "SY",
    "skos:hiddenLabel": "HIDDEN",
    "oio:hasExactSynonym": "EXACT", "oio:hasBroadSynonym": "BROAD",
    "oio:hasNarrowSynonym": "NARROW", "oio:hasRelatedSynonym": "RELATED",
    "oio:hasSynonym": "RELATED",
}  # fmt: skip
_ABOVE = ("rdfs:subClassOf", "skos:broader", "owl:intersectionOf")
_RELATIONS = {
    "skos:related": "related", "iso:broaderPartitive": "part_of", "ext:broaderPartitive": "part_of",
}  # fmt: skip
_SAME = "owl:equivalentClass"
_TRUE = frozenset({"true", "1"})
_FORM = "xl:literalForm"
_HEAD = 10_000  # triples in which a version is looked for
_LAST_PART = re.compile(r".*[/#]")


def read(path: Path, bad_lines: BadLines = None, *, lang: str = "") -> Iterator[Record]:
    """Stream the classes of an ontology and the concepts of a thesaurus, others as retired ids.

    What is read: RDF Schema, OWL as the OBO Foundry, EFO, Orphanet and the NCI Thesaurus write it,
    and SKOS. The same ontology gives the same concepts as in OBO. An address of the foundry's form
    gives the id ("HP:0001250"); of others, the notation is the id if no other concept has it, else
    the address. Synonyms have their scope and type as term type, as in OBO; other names are "PT",
    "SY" or "HIDDEN". Restrictions become relations with the label of their property, with
    underscores ("part_of"). Of a definition (an equivalent class) and of an intersection, each part
    counts as a superclass does. What is deprecated, below "Obsolete Class", or replaced, is
    retired. Other anonymous classes, properties, individuals, imports, and classes that are only
    referred to are passed over. A warning counts cross-references without a vocabulary.

    path (Path): RDF/XML, Turtle or N-Triples, also `.gz`. Triples pass through a temporary file.
    lang (str): language of text without one, and of preferred name and definition if there are
        several; "" takes that of the ontology or its schemes, or else English.
    RAISES (MedlinkError): E105 for a bad concept, unless `bad_lines` collects it; always E105 where
        the file breaks its syntax; E160 for MeSH, whose XML says more; E614 without pyoxigraph.
    """
    with scratch(TABLES) as db:
        store = Store(db)
        store.load(path, bad_lines)
        graph = _Graph(store, path, lang)
        for line, records in sound(path, store.concepts(), graph.records, bad_lines):
            for record in records:
                yield without_blank_names(record, path, line, "a name", bad_lines)
        graph.xrefs.tell_left_out(path)


def release_of(path: Path) -> str:
    """Read the version of the ontology, if the beginning of the file has it, else return ""."""
    heads: dict[str, None] = {}
    versions: dict[str, dict[str, str]] = {}
    for subject, property, value, _, _ in islice(facts(path, []), _HEAD):
        if value in ("owl:Ontology", "skos:ConceptScheme"):
            heads[subject] = None
        elif property in ("owl:versionInfo", "owl:versionIRI"):
            versions.setdefault(property, {}).setdefault(subject, value)
    by_property = (versions.get(property, {}) for property in ("owl:versionInfo", "owl:versionIRI"))
    return next(
        (version_of[head] for version_of in by_property for head in heads if head in version_of), ""
    )


class _Graph:
    """Makes records of the facts of subjects."""

    def __init__(self, store: Store, path: Path, lang: str) -> None:
        self._store, self._path = store, path
        self._lang = lang or store.language() or "en"
        self.xrefs = CrossReferences()
        ontology = store.ontology().removeprefix(BASE)
        self._ontology = (
            ontology if "://" in ontology else ontology.rpartition(":")[2]
        )  # of "urn:x:hp"
        self._called: dict[str, str] = {}  # relations by the address of their property

    def records(self, address: str) -> list[Record]:
        """Make the concept of an address and its retired ids; none where nothing is said of it.

        RAISES (FieldError): for an id that cannot be one, and for a concept without a name.
        """
        stated, id = self._said(address), self._id(address)
        if address == OBSOLETE:
            return []
        if gone := self._retired(id, stated):
            return [gone]
        names, definition = self._names(address, stated), self._definition(stated)
        if not (names or definition):
            return []
        spelled = next((name.text for name in names if name.text), "")
        if not spelled:
            raise FieldError(f"the concept {id[:60]!a} without a name", "a label for it")
        source = self._source(id, stated)
        matches = [*self._mondo_matches(address, stated), *_matches(stated)]
        relations = tuple(dict.fromkeys(self._relations(stated, source)))
        concept = Concept(
            id=id,
            name=spelled,
            names=tuple(name._replace(source=source) for name in names),
            types=(*_of(stated, "oio:hasOBONamespace"), *_of(stated, "umls:tui")),
            definition=definition,
            codes=self.xrefs.codes_of(_xrefs(stated, source), matches),
            maps=maps_of(matches, source),
            parents=tuple(relation.id for relation in relations if relation.relation == ISA),
            relations=relations,
        )
        others = map(self._id, _of(stated, "oio:hasAlternativeId"))
        return [concept, *(Retired(other, id, "merged") for other in others)]

    def _said(self, subject: str) -> list[Fact]:
        """List the facts of a subject, with the labels of SKOS-XL as those of SKOS."""
        stated = []
        for fact in self._store.facts(subject):
            if fact.property.startswith("xl:"):
                name = fact.property.replace("xl:", "skos:")
                forms = self._store.facts(fact.value)
                stated += [form._replace(property=name) for form in forms if form.property == _FORM]
            else:
                stated.append(fact)
        return list(dict.fromkeys(stated))

    def _id(self, address: str) -> str:
        """Return the id of a concept by its address; an id stays as it is."""
        id = compact(address)
        if "://" in id:
            id = self._store.notation(address) or id.removeprefix(BASE).removeprefix("#")
        return identifier(id)

    def _retired(self, id: str, stated: list[Fact]) -> Retired | None:
        successors = _of(stated, "dct:isReplacedBy")
        gone = "owl:DeprecatedClass" in _of(stated, "rdf:type")
        gone = gone or OBSOLETE in _of(stated, "rdfs:subClassOf")
        if not (gone or _TRUE & {*map(str.lower, _of(stated, "owl:deprecated"))} or successors):
            return None
        reason = "replaced" if successors else "obsolete"
        successors = successors or _of(stated, "obo:IAO_0100001")
        return Retired(id, self._id(successors[0]) if successors else "", reason)

    def _source(self, id: str, stated: list[Fact]) -> str:
        """Return the source of a concept's names: its scheme, or else its ontology."""
        given = (*_of(stated, "skos:inScheme"), *_of(stated, "skos:topConceptOf"))
        schemes = map(vocabulary_of, given)
        if scheme := next(filter(None, schemes), "") or vocabulary_in(self._ontology):
            return scheme
        return source_of(self._ontology, id, self._path)

    def _names(self, address: str, stated: list[Fact]) -> list[Name]:
        """Make the names, preferred ones first, those of the wanted language before others."""
        kinds = {
            (remark.property, remark.target): _LAST_PART.sub("", remark.said)
            for remark in self._store.remarks(address)
            if remark.kind == "oio:hasSynonymType"
        }
        labels = sorted((fact for fact in stated if fact.property in _TERM_TYPES), key=self._rank)
        names = []
        for fact in labels:
            synonym_type = kinds.get(fact[:2], "")
            tty = f"{_TERM_TYPES[fact.property]} {synonym_type}".strip()
            obsolete = synonym_type in ("obsolete_synonym", "OBSOLETE")
            names.append(Name(fact.value.strip(), self._language(fact), "", tty, obsolete))
        return names

    def _rank(self, fact: Fact) -> tuple[bool, bool, int]:
        if fact.property not in _PREFERRED:
            return True, False, 0
        return False, self._is_foreign(fact), _PREFERRED.index(fact.property)

    def _definition(self, stated: list[Fact]) -> str:
        nodes = _of(stated, DEFINITION_NODE)
        inner = (fact for node in nodes for fact in self._store.facts(node))
        definitions = [fact for fact in stated if fact.property in DEFINITIONS]
        definitions += (fact for fact in inner if fact.property == "rdf:value")
        return min(definitions, key=self._is_foreign).value.strip() if definitions else ""

    def _language(self, fact: Fact) -> str:
        return iso_639_1(fact.lang) if fact.lang else self._lang

    def _is_foreign(self, fact: Fact) -> bool:
        return self._language(fact) != self._lang

    def _relations(self, stated: list[Fact], source: str) -> Iterator[Relation]:
        for property, value, _ in stated:
            if property in _RELATIONS:
                yield Relation(_RELATIONS[property], self._id(value), source)
            elif property in _ABOVE or (property == _SAME and value.startswith("_:")):
                yield from self._implied(value, source)

    def _implied(self, node: str, source: str) -> Iterator[Relation]:
        """Read what a class has to be: a named class, "some" of one, or all of several such."""
        waiting, seen = [node], set[str]()
        while waiting:
            node = waiting.pop()
            if not node.startswith("_:"):
                yield Relation(ISA, self._id(node), source)
                continue
            if node in seen:  # a list that leads back to itself
                continue
            seen.add(node)
            stated = self._store.facts(node)
            properties, fillers = _of(stated, "owl:onProperty"), _of(stated, "owl:someValuesFrom")
            if properties and fillers:
                yield Relation(self._relation(properties[0]), self._id(fillers[0]), source)
            for part in ("rdf:rest", "rdf:first", "owl:intersectionOf"):
                waiting += _of(stated, part)

    def _relation(self, property: str) -> str:
        """Return the name of a relation: the label of its property, else what its address says."""
        if property not in self._called:
            labels = sorted(
                (fact for fact in self._said(property) if fact.property in _PREFERRED),
                key=self._rank,
            )
            label = "_".join(labels[0].value.split()) if labels else ""
            called = label or _LAST_PART.sub("", compact(property))
            self._called[property] = ISA if called == "is_a" else called
        return self._called[property]

    def _mondo_matches(self, address: str, stated: list[Fact]) -> Iterator[Match]:
        """Read the qualifiers of cross-references, such as "MONDO:equivalentTo"."""
        words: dict[str, list[str]] = {}
        for remark in self._store.remarks(address):
            if remark.property == "oio:hasDbXref" and remark.said.startswith("MONDO:"):
                words.setdefault(remark.target, []).append(remark.said.partition(":")[2])
        for xref in _of(stated, "oio:hasDbXref"):
            if relation := relation_of_match(words.get(xref, [])):
                yield xref, relation


def _of(stated: list[Fact], property: str) -> tuple[str, ...]:
    return tuple(fact.value for fact in stated if fact.property == property)


def _xrefs(stated: list[Fact], source: str) -> list[str]:
    """List the codes that a concept has: cross-references, CUIs, and its own notation."""
    xrefs = []
    for property, value, lang in stated:
        if property == "oio:hasDbXref":
            xrefs.append(value)
        elif property in ("umls:cui", "ncit:P207"):
            xrefs.append(f"UMLS:{value}")
        elif property == "skos:notation":
            # Its datatype, or a prefix such as "ORPHA:", may say of which vocabulary it is.
            vocabulary = vocabulary_of(lang[1:]) if lang.startswith("^") else source
            is_whole = is_known(value.partition(":")[0])
            xrefs.append(value if is_whole else f"{vocabulary}:{value}")
    return xrefs


def _matches(stated: list[Fact]) -> Iterator[Match]:
    """Read the matches with other concepts, and the classes that are the same."""
    for property, value, _ in stated:
        space, _, word = property.partition(":")
        relation = relation_of_match([word]) if space in ("skos", "owl") else ""
        if relation and not value.startswith("_:"):
            yield compact(value), relation
