"""Cross-references to other vocabularies, spelled as users ask for them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from ...errors import Warnings
from ...types import CodeMap
from ...util.telling import tell
from ..code_systems import system_of, vocabulary_of
from ..vocabularies import VOCABULARIES, by_shape, by_vocabulary, canonical

Match = tuple[str, str]
"""A cross-reference and its relation to the concept, as in `CodeMap.relation`."""

# What a code is to a concept, by the words of Mondo and of SKOS, which say it the other way round:
# "subClassOf" and "broadMatch" lead to what is broader.
_MATCHES = {
    "equivalentTo": "exact", "subClassOf": "broader", "superClassOf": "narrower",
    "mondoIsNarrowerThanSource": "broader", "mondoIsBroaderThanSource": "narrower",
    "relatedTo": "related", "exactMatch": "exact", "broadMatch": "broader",
    "narrowMatch": "narrower", "closeMatch": "related", "relatedMatch": "related",
    "equivalentClass": "exact", "sameAs": "exact", "crossSpeciesExactMatch": "related",
    "crossSpeciesBroadMatch": "related", "crossSpeciesNarrowMatch": "related",
}  # fmt: skip
_FILE = re.compile(
    r"(?:_[a-z]{2}_[\d.]+)?\.(?:obo|owl|json|ofn|omn|ttl|rdf|xml)$"
)  # ORDO_en_4.5.owl
# Addresses that end with an id, "HP_0001250": of the foundry, and of two that write them likewise.
_ID = re.compile(
    r"https?://(?:purl\.obolibrary\.org/obo|www\.orpha\.net/ORDO|www\.ebi\.ac\.uk/efo)/"
    r"(?P<prefix>[A-Za-z][\w.\-]*)_(?P<local>[^\W_][^\s_/#?]*)"
)
_CODE = re.compile(r"(?P<base>https?://.+)[/#:](?P<code>[^\s/#:?]+)")
_OF_CODES = {row.codes: row.name for row in VOCABULARIES.values() if row.codes}
_SCHEME = re.compile(r"https?://(?:www\.)?")
# Registries, whose addresses have the vocabulary before the code.
_REGISTRY = re.compile(
    r"https?://(?:purl\.bioontology\.org/ontology|identifiers\.org|bioregistry\.io)/(?P<name>[^/]+)"
)


def code_of(xref: str) -> tuple[str, str] | None:
    """Split a cross-reference into (vocabulary, code); None when it names no vocabulary.

    xref (str): such as "SCTID:73211009", or a web address, whose vocabulary is "URL" unless it is
        that of a code or of an ontology's term.
    """
    if xref[:4].lower() == "url:":
        xref = xref[4:]
    if xref.startswith(("http://", "https://")):
        xref = compact(xref)
        if "://" in xref:
            return "URL", xref
    vocabulary, _, code = xref.partition(":")
    vocabulary, code = vocabulary.strip(), code.strip()
    return (canonical(vocabulary), code) if vocabulary and code else None


def code_by_shape(id: str) -> tuple[str, str] | None:
    """Split an id into (vocabulary, code) by its prefix, or by its shape if it has none."""
    if ":" in id:
        return code_of(id)
    vocabulary = by_shape(id)
    return (vocabulary, id) if vocabulary else None


def compact(address: str) -> str:
    """Shorten the address of an ontology's term or of a code to its usual id ("HP:0001250").

    Not every address with "_" in it is one: "http://example.org/Heart_disease" is words.
    """
    if term := _ID.fullmatch(address):
        return f"{term['prefix']}:{term['local']}"
    coded = _CODE.fullmatch(address)
    vocabulary = vocabulary_in(coded["base"]) if coded else ""
    return f"{vocabulary}:{coded['code']}" if coded and vocabulary else address


@lru_cache(1000)
def vocabulary_in(base: str) -> str:
    """Return the vocabulary of an address that is cut before the code; "" for an unknown one."""
    if registry := _REGISTRY.fullmatch(base):
        return canonical(registry["name"])
    vocabulary = vocabulary_of(base)
    same = system_of(vocabulary) == base
    return _OF_CODES.get(_SCHEME.sub("", base)) or (vocabulary if same else "")


def source_of(ontology: str, id: str, path: Path) -> str:
    """Return the source of an ontology's names: its own id, whatever the name of the file.

    ontology (str): its id, such as "hp", "hp/hp-base.owl" or a web address; "" for none.
    id (str): id of a term, whose prefix is used if the ontology has no id. path (Path): path of the
        file, whose name is used if there is no prefix either.
    """
    ontology_id = _FILE.sub("", ontology.strip().rstrip("/"))
    if ontology_id.startswith(("http://", "https://")):
        # In the foundry's addresses the ontology follows /obo/; other addresses end with it.
        ontology_id = ontology_id.partition("/obo/")[2] or ontology_id.rpartition("/")[2]
    prefix, colon, local = id.partition(":")
    named = ontology_id.partition("/")[0] or (
        prefix if colon and not local.startswith("//") else ""
    )
    return (named or path.name.split(".")[0]).upper()


def relation_of_match(words: Iterable[str]) -> str:
    """Return the relation of a code to a concept from the source's words; "" if they give none."""
    return next((_MATCHES[word] for word in words if word in _MATCHES), "")


def maps_of(matches: Iterable[Match], source: str) -> tuple[CodeMap, ...]:
    """Make maps of matches; cross-references without a vocabulary are left out."""
    pairs = ((code_of(xref), relation) for xref, relation in matches)
    return tuple(CodeMap(*code, relation, source) for code, relation in pairs if code)


class CrossReferences:
    """Sorts the cross-references of a file by vocabulary, and counts those that name none."""

    def __init__(self) -> None:
        self._left_out, self._example = 0, ""

    def codes_of(
        self, xrefs: Iterable[str], matches: Sequence[Match]
    ) -> dict[str, tuple[str, ...]]:
        """Sort those of a concept, and its matches: exact ones first and each code once."""
        exact = (xref for xref, relation in matches if relation == "exact")
        everything = dict.fromkeys((*exact, *xrefs, *(xref for xref, _ in matches)))
        codes = []
        for xref in everything:
            if code := code_of(xref):
                codes.append(code)
            else:
                self._left_out += 1
                self._example = self._example or xref
        return by_vocabulary(codes)

    def tell_left_out(self, path: Path) -> None:
        """Warn of cross-references that name no vocabulary."""
        if self._left_out:
            count, example = self._left_out, self._example[:60]
            tell(Warnings.bare_xrefs.format(path=path, count=count, example=example))
