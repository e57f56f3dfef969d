"""Which code of a concept is meant, where it has several in one vocabulary."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..text.normalisation import key
from .knowledge_base import KnowledgeBase

KeysOfCode = Callable[[str, str], frozenset[str]]
"""Of a vocabulary and a code: the keys (`text.key`) of the code's own names, as far as known."""


class ChosenCode(NamedTuple):
    """The code that was chosen.

    code (Optional[str]): None where the concept has none in the vocabulary.
    among (Tuple[str, ...]): all codes that it was chosen from, itself first, where no name told
        them apart; () where the choice is clear.
    """

    code: str | None
    among: tuple[str, ...] = ()


class CodeChooser:
    """Chooses one code of a concept.

    Of several codes in a vocabulary it takes the first that one of these rules tells from the
    others: the code is the concept's id; the name that matched is among the code's own names; the
    concept's preferred name is; fewest concepts of the knowledge base share the code; the
    terminology lists it first (readers list exact maps before others).

    The names of a code are those of the concept whose id it is, of the concepts that have no other
    code in the vocabulary, and what `known` adds.

    kb (KnowledgeBase): of the concepts.
    known (Optional[KeysOfCode]): names of codes from elsewhere.
    """

    def __init__(self, kb: KnowledgeBase, known: KeysOfCode | None = None) -> None:
        self._kb, self._known = kb, known

    def choose(
        self, row: int, codes: Mapping[str, tuple[str, ...]], vocabulary: str, name: str
    ) -> ChosenCode:
        """Choose the code of a concept.

        row (int): the concept. codes: all of it, by vocabulary. name (str): that matched.
        """
        own = codes.get(vocabulary, ())
        if len(own) < 2:
            return ChosenCode(own[0] if own else None)
        id, preferred, _ = self._kb.brief_at(row)
        if id in own:
            return ChosenCode(id)
        keys = {code: self._keys(vocabulary, code, row) for code in own}
        for text in (name, preferred):
            named = [code for code in own if key(text) in keys[code]]
            if len(named) == 1:
                return ChosenCode(named[0])
        sharing = self._kb.shared_codes(vocabulary)
        ordered = sorted(own, key=lambda code: len(sharing.get(code, ())))  # stable
        return ChosenCode(ordered[0], tuple(ordered))

    def _keys(self, vocabulary: str, code: str, but: int) -> frozenset[str]:
        """Collect the keys of a code's names, without what the concept `but` calls itself."""
        concepts = [self._kb[id] for id in (code, f"{vocabulary}:{code}") if id in self._kb]
        for row in self._kb.shared_codes(vocabulary).get(code, ()):
            concept = self._kb.concept_at(row)
            if concept.codes.get(vocabulary) == (code,):
                concepts.append(concept)
        names = (name.text for one in concepts if one.row != but for name in one.names)
        elsewhere = self._known(vocabulary, code) if self._known is not None else frozenset()
        return frozenset(map(key, names)) | elsewhere
