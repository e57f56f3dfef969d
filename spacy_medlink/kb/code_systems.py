"""Addresses: of code systems, as FHIR has them, and of the pages of concepts, for people."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from ..types import Concept
from .rekey import scheme_of
from .vocabularies import VOCABULARIES, by_shape, canonical

_OF_ADDRESS = {row.address: row.name for row in VOCABULARIES.values() if row.address}
_WITH_PREFIX = frozenset({"HP", "MONDO", "DOID", "UBERON", "GO", "CHEBI", "CL", "MP"})
_LOCAL = "urn:spacy-medlink:vocabulary:"  # for vocabularies without an address
_ICD = re.compile(r"^ICD-(\d+)-?")


class Coded(NamedTuple):
    """A code and the address of its code system."""

    system: str
    code: str


def system_of(vocabulary: str) -> str:
    """Return the address of a vocabulary; a URN with the vocabulary's name where FHIR has none."""
    row = VOCABULARIES.get(canonical(vocabulary))
    return row.address if row and row.address else _LOCAL + quote(vocabulary, safe="")


def vocabulary_of(system: str) -> str:
    """Return the vocabulary of a code system's address, or the last part of an unknown address."""
    last = re.split(r"[/:#]", system.rstrip("/"))[-1].upper()
    return _OF_ADDRESS.get(system) or _ICD.sub(r"ICD\1", last)


def coded(vocabulary: str, code: str) -> Coded:
    """Write a code as its code system does: OBO codes with the prefix, others without."""
    name = canonical(vocabulary)
    for prefix in (name, vocabulary):
        code = code.removeprefix(f"{prefix}:")
    return Coded(system_of(vocabulary), f"{name}:{code}" if name in _WITH_PREFIX else code)


def vocabulary_of_id(id: str, codes: Mapping[str, Sequence[str]]) -> str:
    """Return the vocabulary of a concept's id, as far as the id and the codes tell."""
    by_vocabulary = {vocabulary: tuple(values) for vocabulary, values in codes.items()}
    return scheme_of(Concept(id, "", codes=by_vocabulary))


def curie(id: str, codes: Mapping[str, Sequence[str]]) -> str:
    """Write the id of a concept with its vocabulary: "HP:0001945", "MESH:D003920"."""
    return id if ":" in id else f"{vocabulary_of_id(id, codes)}:{id}"


def codings(id: str, codes: Mapping[str, Sequence[str]]) -> list[Coded]:
    """List the codings of a concept: its id first, then its codes by vocabulary, each once."""
    coded_id = coded(vocabulary_of_id(id, codes), id)
    others = (coded(vocabulary, code) for vocabulary in sorted(codes) for code in codes[vocabulary])
    return list(dict.fromkeys([coded_id, *others]))


def concept_url(id: str, codes: Mapping[str, Sequence[str]] | None = None) -> str:
    """Find the web page of a concept.

    The vocabulary is that of the id's prefix ("HP:0001250"), else that of the codes which include
    the id, else that of the id's shape. An id without a page gets the page of one of its codes.

    codes (Optional[Mapping[str, Sequence[str]]]): the concept's codes by vocabulary.
    RETURNS (str): "" when no page is known.
    """
    codes = codes or {}
    prefix, colon, local = id.partition(":")
    if colon and (url := _page(prefix, local)):
        return url
    for vocabulary, values in codes.items():
        if id in values and (url := _page(vocabulary, id)):
            return url
    if vocabulary := by_shape(id):
        return _page(vocabulary, id)
    pages = (
        _page(name, values[0])
        for vocabulary in VOCABULARIES
        for name, values in codes.items()
        if values and canonical(name) == vocabulary
    )
    return next(pages, "")


class ConceptPages:
    """The pages of concepts, for displaCy's option `kb_url_template`.

    codes_of (Callable[[str], Mapping[str, Sequence[str]]]): the codes of an id by vocabulary, none
        for an unknown id.
    """

    def __init__(self, codes_of: Callable[[str], Mapping[str, Sequence[str]]]) -> None:
        self._codes_of = codes_of

    def format(self, id: str) -> str:
        """Return the address of a concept's page, escaped for HTML; "#" without a page."""
        return escape(concept_url(id, self._codes_of(id))) or "#"


def _page(vocabulary: str, code: str) -> str:
    name = canonical(vocabulary)
    page = VOCABULARIES[name].page if name in VOCABULARIES else ""
    return page.format(code=quote(code.removeprefix(f"{name}:"), safe=".-"))
