"""NameRows: finds the rows of concepts and names that another linker proposes."""

from collections.abc import Iterable

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Candidate


class NameRows:
    """The row of each name of each concept.

    kb (KnowledgeBase): read once, and held in memory.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.concepts: list[tuple[str, tuple[str, ...]]] = []
        self._concept: dict[str, int] = {}
        self._first: dict[tuple[str, str], int] = {}
        for concept in kb:
            texts = tuple(dict.fromkeys(name.text for name in concept.names))
            self.concepts.append((concept.id, texts))
            self._concept[concept.id] = concept.row
            for row, name in enumerate(concept.names, start=concept.first_name):
                self._first.setdefault((concept.id, name.text), row)

    def candidate(self, id: str, name: str, score: float) -> Candidate:
        """Make a candidate of a concept and its matched name."""
        return Candidate(self._concept[id], self._first[id, name], score, {})


def best_first(candidates: Iterable[Candidate], k: int) -> list[Candidate]:
    """Keep the k best candidates by score, then by the row of the concept."""
    return sorted(candidates, key=lambda one: (-one.score, one.row))[:k]


def names_of(candidates: Iterable[Candidate], k: int) -> list[tuple[int, float]]:
    """List the k best matched names: (name row, score), best first."""
    best: dict[int, float] = {}
    for one in candidates:
        best[one.name_row] = max(one.score, best.get(one.name_row, one.score))
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k]
