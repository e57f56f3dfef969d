"""Code systems: the canonical address of each vocabulary, as FHIR has it, and codes within it."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from ..types import Concept
from .rekey import scheme_of
from .vocabularies import VOCABULARIES, canonical

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
    own = {vocabulary: tuple(values) for vocabulary, values in codes.items()}
    return scheme_of(Concept(id, "", codes=own))


def curie(id: str, codes: Mapping[str, Sequence[str]]) -> str:
    """Write the id of a concept with its vocabulary: "HP:0001945", "MESH:D003920"."""
    return id if ":" in id else f"{vocabulary_of_id(id, codes)}:{id}"


def codings(id: str, codes: Mapping[str, Sequence[str]]) -> list[Coded]:
    """List the codings of a concept: its id first, then its codes by vocabulary, each once."""
    own = coded(vocabulary_of_id(id, codes), id)
    others = (coded(vocabulary, code) for vocabulary in sorted(codes) for code in codes[vocabulary])
    return list(dict.fromkeys([own, *others]))
