"""Choosing one code of a concept that has several codes in one vocabulary."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..text.normalisation import key
from .knowledge_base import KnowledgeBase

KeysOfCode = Callable[[str, str], frozenset[str]]
"""(vocabulary, code) -> keys (`text.key`) of the code's own names, as far as known."""


class ChosenCode(NamedTuple):
    """The code that was chosen.

    code (Optional[str]): None where the concept has none in the vocabulary.
    among (Tuple[str, ...]): all codes that were equally good, the chosen one first, where no name
        told them apart; () where the choice is clear.
    """

    code: str | None
    among: tuple[str, ...] = ()


class CodeChooser:
    """Chooses one code of a concept.

    Among several codes in a vocabulary, these rules choose, the first that applies: the code is the
    concept's id; the name that matched is one of the code's own names; the concept's preferred name
    is one of them; the fewest concepts of the knowledge base share the code; the terminology lists
    the code first (readers list exact maps before others).

    The names of a code are the names of the concept whose id it is, the names of concepts without
    another code in the vocabulary, and those that `known` adds.

    kb (KnowledgeBase): the knowledge base of the concepts.
    known (Optional[KeysOfCode]): names of codes from elsewhere.
    """

    def __init__(self, kb: KnowledgeBase, known: KeysOfCode | None = None) -> None:
        self._kb, self._known = kb, known

    def choose(
        self, row: int, codes: Mapping[str, tuple[str, ...]], vocabulary: str, name: str
    ) -> ChosenCode:
        """Choose the code of a concept.

        row (int): the concept. codes: all its codes, by vocabulary. name (str): the matched name.
        """
        candidates = codes.get(vocabulary, ())
        if len(candidates) < 2:
            return ChosenCode(candidates[0] if candidates else None)
        id, preferred, _ = self._kb.brief_at(row)
        if id in candidates:
            return ChosenCode(id)
        keys = {code: self._keys(vocabulary, code, row) for code in candidates}
        for text in (name, preferred):
            named = [code for code in candidates if key(text) in keys[code]]
            if len(named) == 1:
                return ChosenCode(named[0])
        sharing = self._kb.shared_codes(vocabulary)
        ordered = sorted(candidates, key=lambda code: len(sharing.get(code, ())))  # stable
        return ChosenCode(ordered[0], tuple(ordered))

    def _keys(self, vocabulary: str, code: str, but: int) -> frozenset[str]:
        """Collect the keys of a code's names, without the names of the concept `but`."""
        concepts = [self._kb[id] for id in (code, f"{vocabulary}:{code}") if id in self._kb]
        for row in self._kb.shared_codes(vocabulary).get(code, ()):
            concept = self._kb.concept_at(row)
            if concept.codes.get(vocabulary) == (code,):
                concepts.append(concept)
        names = (name.text for concept in concepts if concept.row != but for name in concept.names)
        elsewhere = self._known(vocabulary, code) if self._known is not None else frozenset()
        return frozenset(map(key, names)) | elsewhere
