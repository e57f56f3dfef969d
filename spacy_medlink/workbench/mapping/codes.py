"""Concepts that share a code with a term, and what they are to it."""

from collections.abc import Iterable

from ...kb import KnowledgeBase
from ...kb.readers.xrefs import code_of
from ...kb.rekey import scheme_of
from ...kb.resolve import IdResolver
from ...types import CodeMap
from .words import BROADER, EXACT, RELATED

NARROWER = "narrower"
_INVERSE = {BROADER: NARROWER, NARROWER: BROADER}


class SharedCodes:
    """Finds the concepts of a knowledge base by the codes of terms."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._resolver = kb, IdResolver(kb)

    def rows_of(self, codes: Iterable[CodeMap]) -> dict[int, str]:
        """Find the concepts that share a code with a term, and their relations to the term."""
        relations: dict[int, str] = {}
        for code in codes:
            wanted = code_of(f"{code.vocabulary}:{code.code}")
            if wanted is None or wanted[0] == "URL":
                continue
            for row in sorted(self._resolver.rows(":".join(wanted))):
                relation = self._relation(row, *wanted)
                if relation is not None and relations.get(row) != EXACT:
                    relations[row] = _between(code.relation, relation) or relations.get(row, "")
        return relations

    def _relation(self, row: int, vocabulary: str, code: str) -> str | None:
        """Find the relation of a code to a concept; None where only another vocabulary has it."""
        id = self._kb.brief_at(row)[0]
        relations = {
            code_map.relation
            for code_map in self._kb.maps(id)
            if code_map.code == code and code_of(f"{code_map.vocabulary}:x") == (vocabulary, "x")
        }
        own_code = code_of(id) or code_of(f"{scheme_of(self._kb[id])}:{id}")
        if EXACT in relations or (vocabulary, code) == own_code:
            return EXACT
        if self._kb.resolve(f"{vocabulary}:{code}") == id:  # a retired id that this id replaces
            return ""
        return min(relations - {""}, default="") if relations else None


def _between(to_term: str, to_concept: str) -> str:
    """Get the relation of a concept to a term, by their code's relations; "" where not known."""
    if to_concept == EXACT:
        return to_term
    if to_term == EXACT:
        return _INVERSE.get(to_concept, to_concept)
    return RELATED if to_term and to_concept else ""
