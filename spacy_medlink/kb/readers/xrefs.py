"""Cross-references to other vocabularies, spelled as users ask for them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...types import CodeMap

# Spellings of vocabularies in ontologies; others stay as they are.
_VOCABULARIES = {
    "ICD-10": "ICD10", "ICD10": "ICD10", "ICD10WHO": "ICD10", "ICD10CM": "ICD10CM",
    "ICD-10-CM": "ICD10CM", "ICD9": "ICD9", "ICD9CM": "ICD9CM", "ICD-O": "ICDO", "ICDO": "ICDO",
    "SNOMEDCT_US": "SNOMEDCT_US", "SNOMEDCT": "SNOMEDCT_US", "SCTID": "SNOMEDCT_US",
    "SNOMED": "SNOMEDCT_US", "SNOMEDCT_US_2015_03_01": "SNOMEDCT_US",
    "MSH": "MESH", "MeSH": "MESH", "MESH": "MESH", "mesh": "MESH",
    "UMLS": "UMLS", "UMLS_CUI": "UMLS", "MEDDRA": "MEDDRA", "MedDRA": "MEDDRA",
    "NCIT": "NCIT", "NCI": "NCIT", "Orphanet": "ORPHA", "ORPHA": "ORPHA",
    "OMIM": "OMIM", "MIM": "OMIM",
}  # fmt: skip
Match = tuple[str, str]
"""A cross-reference and its relation to the concept, as in `CodeMap.relation`."""

# Ids that tell their vocabulary by their shape.
_SHAPES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6}|[CD]\d{9}"), "MESH"),
    (re.compile(r"\d{6}"), "OMIM"),
)
# What a code is to a concept, by the words of Mondo and of SKOS, which say it the other way round:
# "subClassOf" and "broadMatch" lead to what is broader.
_MATCHES = {
    "equivalentTo": "exact", "subClassOf": "broader", "superClassOf": "narrower",
    "mondoIsNarrowerThanSource": "broader", "mondoIsBroaderThanSource": "narrower",
    "relatedTo": "related", "exactMatch": "exact", "broadMatch": "broader",
    "narrowMatch": "narrower", "closeMatch": "related", "relatedMatch": "related",
}  # fmt: skip
_FILE = re.compile(r"\.(?:obo|owl|json|ofn|omn|ttl|rdf|xml)$")
_IRI = re.compile(r"https?://.*[/#](?P<prefix>[A-Za-z][A-Za-z0-9]*)_(?P<local>[\w.\-]+)")


def code_of(xref: str) -> tuple[str, str] | None:
    """Split a cross-reference into (vocabulary, code); None when it names no vocabulary.

    xref (str): such as "SCTID:73211009", or a web address, whose vocabulary is "URL".
    """
    if xref.startswith(("http://", "https://")):
        return "URL", xref
    vocabulary, _, code = xref.partition(":")
    vocabulary, code = vocabulary.strip(), code.strip()
    return (_VOCABULARIES.get(vocabulary, vocabulary), code) if vocabulary and code else None


def code_by_shape(id: str) -> tuple[str, str] | None:
    """Split an id into (vocabulary, code) by its prefix, or by its shape if it has none."""
    if ":" in id:
        return code_of(id)
    vocabulary = next((name for shape, name in _SHAPES if shape.fullmatch(id)), None)
    return (vocabulary, id) if vocabulary else None


def compact(iri: str) -> str:
    """Shorten the IRI of an ontology term to its usual id ("HP:0001250"), if it has that form."""
    match = _IRI.fullmatch(iri)
    return f"{match['prefix']}:{match['local']}" if match else iri


def source_of(ontology: str, id: str, path: Path) -> str:
    """Return the source of an ontology's names: its own id, whatever the name of the file.

    ontology (str): its id, such as "hp", "hp/hp-base.owl" or a web address; "" for none.
    id (str): id of a term, whose prefix is used if the ontology has no id. path (Path): path of the
        file, whose name is used if there is no prefix either.
    """
    own = _FILE.sub("", ontology.strip().rstrip("/"))
    if own.startswith(("http://", "https://")):
        # In the foundry's addresses the ontology follows /obo/; other addresses end with it.
        own = own.partition("/obo/")[2] or own.rpartition("/")[2]
    prefix, colon, local = id.partition(":")
    named = own.partition("/")[0] or (prefix if colon and not local.startswith("//") else "")
    return (named or path.name.split(".")[0]).upper()


def relation_of_match(words: Iterable[str]) -> str:
    """Return the relation of a code to a concept from the source's words; "" if they give none."""
    return next((_MATCHES[word] for word in words if word in _MATCHES), "")


def skos_match(word: str, target: str) -> list[Match]:
    """Read a property of a concept as matches; [] unless its target has a known vocabulary."""
    relation, xref = relation_of_match([word]), compact(target)
    return [(xref, relation)] if relation and (code_of(xref) or ("URL",))[0] != "URL" else []


def maps_of(matches: Iterable[Match], source: str) -> tuple[CodeMap, ...]:
    """Make maps of matches; cross-references without a vocabulary are left out."""
    pairs = ((code_of(xref), relation) for xref, relation in matches)
    return tuple(CodeMap(*code, relation, source) for code, relation in pairs if code)


def codes_of(xrefs: Iterable[str], matches: Sequence[Match]) -> dict[str, tuple[str, ...]]:
    """Sort cross-references and matches by vocabulary, exact ones first."""
    exact = [xref for xref, relation in matches if relation == "exact"]
    return collect([*exact, *xrefs, *(xref for xref, _ in matches)])


def collect(xrefs: list[str]) -> dict[str, tuple[str, ...]]:
    """Sort cross-references by vocabulary, each code once; those without one are left out."""
    codes: dict[str, dict[str, None]] = {}
    for xref in xrefs:
        found = code_of(xref)
        if found:
            codes.setdefault(found[0], {})[found[1]] = None
    return {vocabulary: tuple(values) for vocabulary, values in codes.items()}
