"""The facts of an RDF file that say something of concepts, in a scratch database.

Triples of one subject may stand anywhere in the file, and what is said of a synonym stands in a
node of its own. The database brings them together, and memory stays bounded.
"""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors
from ...kb.readers.fields import FieldError, identifier
from ...kb.readers.lines import report
from ...kb.vocabularies import iso_639_1
from ...types import BadLines
from .triples import triples

_NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xl": "http://www.w3.org/2008/05/skos-xl#",
    "dct": "http://purl.org/dc/terms/",
    "oio": "http://www.geneontology.org/formats/oboInOwl#",
    "obo": "http://purl.obolibrary.org/obo/",
    "efo": "http://www.ebi.ac.uk/efo/",
    "ncit": "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#",
    "umls": "http://bioportal.bioontology.org/ontologies/umls/",  # of BioPortal's Turtle
    "dc": "http://purl.org/dc/elements/1.1/",
    "iso": "http://purl.org/iso25964/skos-thes#",  # ISO 25964
    "ext": "http://www.w3.org/2004/02/skos/extensions#",
}
_MESH = "http://id.nlm.nih.gov/mesh/vocab#"
# Properties by what their values are. All others are passed over.
_TEXTS = """
rdfs:label skos:prefLabel skos:altLabel skos:hiddenLabel skos:notation rdf:value
xl:literalForm owl:deprecated owl:versionInfo oio:hasExactSynonym oio:hasRelatedSynonym
oio:hasBroadSynonym oio:hasNarrowSynonym oio:hasSynonym oio:hasOBONamespace
obo:IAO_0000118 efo:alternative_term ncit:P90 ncit:P108 ncit:P207 umls:cui umls:tui
"""
DEFINITIONS = ("obo:IAO_0000115", "skos:definition", "efo:definition", "ncit:P97")
DEFINITION_NODE = "node of a definition"
_NODES = """
rdf:type rdf:first rdf:rest rdfs:subClassOf owl:onProperty owl:someValuesFrom owl:equivalentClass
owl:intersectionOf owl:annotatedSource owl:annotatedProperty owl:versionIRI skos:broader
skos:narrower skos:broaderGeneric skos:narrowerGeneric iso:broaderGeneric iso:narrowerGeneric
iso:broaderInstantial iso:narrowerInstantial iso:broaderPartitive iso:narrowerPartitive
ext:broaderGeneric ext:narrowerGeneric ext:broaderInstantive ext:narrowerInstantive
ext:broaderPartitive ext:narrowerPartitive
skos:related skos:inScheme skos:topConceptOf xl:prefLabel xl:altLabel xl:hiddenLabel
"""
_EITHER = """
oio:hasDbXref oio:hasAlternativeId oio:hasSynonymType oio:source obo:IAO_0100001 dct:isReplacedBy
dct:language dc:language
owl:annotatedTarget skos:exactMatch skos:closeMatch skos:broadMatch skos:narrowMatch
skos:relatedMatch
"""
# Only these may lead to a blank node, whose name is made up anew whenever the file is read.
_ANONYMOUS = frozenset(
    "rdfs:subClassOf owl:equivalentClass owl:intersectionOf rdf:first rdf:rest"
    " xl:prefLabel xl:altLabel xl:hiddenLabel".split()
).union(DEFINITIONS)
_TYPES = "owl:Class owl:DeprecatedClass rdfs:Class skos:Concept owl:Ontology skos:ConceptScheme"
OBSOLETE = _NAMESPACES["oio"] + "ObsoleteClass"
_NOTHING = frozenset({_NAMESPACES["owl"] + "Thing", _NAMESPACES["rdf"] + "nil"})


def _addresses(names: str) -> dict[str, str]:
    pairs = ((name, *name.partition(":")[::2]) for name in names.split())
    return {_NAMESPACES[prefix] + local: name for name, prefix, local in pairs}


# The name of each property, and whether it takes text and nodes.
_PROPERTIES = {
    **{address: (name, True, False) for address, name in _addresses(_TEXTS).items()},
    **{address: (name, False, True) for address, name in _addresses(_NODES).items()},
    **{
        address: (name, True, True)
        for address, name in _addresses(_EITHER + " ".join(DEFINITIONS)).items()
    },
}
# Properties whose values are ids, addresses or codes.
_IDS = {*_NODES.split(), *_EITHER.split(), "skos:notation", "ncit:P207", "umls:cui"} - {
    "owl:annotatedTarget", "oio:hasSynonymType", "oio:source"
}  # fmt: skip
_KNOWN = {**_addresses(_TYPES), **{address: name for address, (name, *_) in _PROPERTIES.items()}}

TABLES = """
CREATE TABLE fact (subject TEXT, property TEXT, value TEXT, lang TEXT, line INTEGER);
CREATE TABLE concept (subject TEXT PRIMARY KEY, place INTEGER, line INTEGER) WITHOUT ROWID;
CREATE TABLE notation (subject TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
CREATE TABLE axiom (subject TEXT PRIMARY KEY, source TEXT, property TEXT, target TEXT)
    WITHOUT ROWID;
CREATE TABLE remark (subject TEXT, property TEXT, target TEXT, kind TEXT, said TEXT);
"""
# A concept need not say that it is one: SKOS infers it from a preferred label, RDF Schema from a
# class above it. What has a type of its own must also stand below something.
_GATHER = """
CREATE INDEX fact_subject ON fact (subject);
INSERT INTO concept SELECT subject, min(rowid), line FROM fact WHERE property = 'rdf:type'
    AND value NOT IN ('owl:Ontology', 'skos:ConceptScheme', '') AND substr(subject, 1, 2) != '_:'
    GROUP BY subject;
WITH typed AS
    (SELECT subject, max(value) AS type FROM fact WHERE property = 'rdf:type' GROUP BY subject),
    below AS (SELECT subject FROM fact WHERE property IN ('skos:broader', 'skos:topConceptOf'))
    INSERT INTO concept SELECT subject, min(fact.rowid), line FROM fact
    LEFT JOIN typed USING (subject)
    WHERE property IN ('skos:prefLabel', 'xl:prefLabel', 'rdfs:subClassOf')
    AND substr(subject, 1, 2) != '_:' AND (type IS NULL OR (type = '' AND subject IN below))
    GROUP BY subject;
INSERT INTO notation SELECT subject, min(value) FROM fact JOIN concept USING (subject)
    WHERE property = 'skos:notation' AND (lang = '' OR 1 =
    (SELECT count(DISTINCT lang) FROM fact WHERE property = 'skos:notation'))
    GROUP BY subject HAVING count(DISTINCT value) = 1;
DELETE FROM notation WHERE text IN
    (SELECT text FROM notation GROUP BY text HAVING count(*) > 1);
INSERT INTO axiom SELECT subject,
    max(CASE property WHEN 'owl:annotatedSource' THEN value END),
    max(CASE property WHEN 'owl:annotatedProperty' THEN value END),
    max(CASE property WHEN 'owl:annotatedTarget' THEN value END)
    FROM fact WHERE subject IN
    (SELECT subject FROM fact WHERE property IN ('oio:hasSynonymType', 'oio:source'))
    GROUP BY subject;
INSERT INTO remark SELECT source, axiom.property, target, fact.property, value
    FROM fact JOIN axiom USING (subject)
    WHERE fact.property IN ('oio:hasSynonymType', 'oio:source') ORDER BY fact.rowid;
CREATE INDEX remark_subject ON remark (subject);
"""


class Fact(NamedTuple):
    """What a subject has: a property such as "skos:altLabel", its value, and the language of it.

    Blank nodes begin with "_:". Types and annotated properties are named as properties are. The
    "language" of a notation is "^" and its datatype, if it has one of its own.
    """

    property: str
    value: str
    lang: str = ""


class Remark(NamedTuple):
    """What is said about a fact: the fact's property and value, then a property and its value."""

    property: str
    target: str
    kind: str
    said: str


class Store:
    """The facts of a file, by subject.

    db (Connection): an empty database with TABLES.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def load(self, path: Path, bad_lines: BadLines) -> None:
        """Read a file.

        RAISES (MedlinkError): as `triples`, and E105 for a value with a NUL.
        """
        self._db.execute("BEGIN")
        rows = facts(path, bad_lines)
        self._db.executemany("INSERT INTO fact VALUES (?,?,?,?,?)", rows)
        self._db.execute("COMMIT")
        self._db.executescript(_GATHER)

    def concepts(self) -> Iterator[tuple[int, str]]:
        """Iterate over the addresses of the concepts, behind their lines, in their order."""
        return self._db.execute("SELECT line, subject FROM concept ORDER BY place")

    def facts(self, subject: str) -> list[Fact]:
        """List what is said of a subject, in the order of the file."""
        query = "SELECT property, value, lang FROM fact WHERE subject = ? ORDER BY rowid"
        return [Fact(*row) for row in dict.fromkeys(self._db.execute(query, (subject,)))]

    def remarks(self, subject: str) -> list[Remark]:
        """List what is said about the facts of a subject."""
        query = "SELECT property, target, kind, said FROM remark WHERE subject = ? ORDER BY rowid"
        return [Remark(*row) for row in self._db.execute(query, (subject,))]

    def notation(self, subject: str) -> str:
        """Return the notation of a concept that no other concept has; "" without one."""
        query = "SELECT text FROM notation WHERE subject = ?"
        row = self._db.execute(query, (subject,)).fetchone()
        return row[0] if row else ""

    def language(self) -> str:
        """Return the one language that the ontology or its schemes have; "" for none or several."""
        query = (
            "SELECT min(value) FROM fact WHERE property IN ('dct:language', 'dc:language')"
            " AND subject IN (SELECT subject FROM fact WHERE property = 'rdf:type' AND value IN"
            " ('owl:Ontology', 'skos:ConceptScheme')) HAVING count(DISTINCT value) = 1"
        )
        row = self._db.execute(query).fetchone()
        language = iso_639_1(re.split("[/#]", row[0])[-1]) if row else ""
        return language if len(language) < 4 else ""

    def ontology(self) -> str:
        """Return the address of the ontology, "" without one."""
        query = (
            "SELECT subject FROM fact WHERE property = 'rdf:type' AND value = 'owl:Ontology'"
            " AND substr(subject, 1, 2) != '_:' ORDER BY rowid LIMIT 1"
        )
        row = self._db.execute(query).fetchone()
        return row[0] if row else ""


def facts(path: Path, bad_lines: BadLines) -> Iterator[tuple[str, str, str, str, int]]:
    """Stream (subject, property, value, language, line) of the triples that say what is asked for.

    RAISES (MedlinkError): as `triples`; E105 for a NUL or a value that cannot be an id, unless
        `bad_lines` collects it.
    """
    for line, subject, predicate, value, lang in triples(path, _PROPERTIES):
        property = _PROPERTIES[predicate][0]
        if not _is_asked_for(predicate, value, lang):
            continue
        if "\0" in value:
            report(path, line, f"NUL in {value[:60]!a}", "Unicode text", bad_lines)
        elif property in ("rdf:type", "owl:annotatedProperty"):
            if value.startswith(_MESH):
                raise _mesh(path)
            if (name := _KNOWN.get(value, "")) or not subject.startswith("_:"):
                yield subject, property, name, "", line
        elif ":narrower" in property:
            yield value, _upward(property.replace("narrower", "broader")), subject, "", line
        elif lang is None and property in DEFINITIONS:
            yield subject, DEFINITION_NODE, value, "", line
        elif value not in _NOTHING:
            try:
                if property in _IDS:
                    identifier(value, f"value of {property}")
            except FieldError as error:
                report(path, line, error.problem, error.expected, bad_lines)
                continue
            is_language = property == "skos:notation" or not (lang or "").startswith("^")
            yield subject, _upward(property), value, lang if lang and is_language else "", line


def _is_asked_for(predicate: str, value: str, lang: str | None) -> bool:
    """Tell whether a property takes a text, or a node, which may have no name for some only."""
    property, takes_text, takes_node = _PROPERTIES[predicate]
    if lang is not None:
        return takes_text
    return takes_node and (property in _ANONYMOUS or not value.startswith("_:"))


def _upward(property: str) -> str:
    """Name the property of SKOS that a finer one stands for; a part is no kind of the whole."""
    finer = ("broaderGeneric", "broaderInstantial", "broaderInstantive")
    return "skos:broader" if property.partition(":")[2] in finer else property


def _mesh(path: Path) -> Exception:
    return Errors.wrong_file(
        path=path, what="an ontology or a thesaurus", problem="it is MeSH in RDF",
        expected="the XML of the same release, descYYYY.xml and suppYYYY.xml, with `--from mesh`",
    )  # fmt: skip
