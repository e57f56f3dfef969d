"""Names that are nearly a text: what a reader meant who misspelled it."""

import heapq
import string
from collections.abc import Iterator
from typing import NamedTuple

from ..text.normalisation import key
from ..types import Concept
from .knowledge_base import KnowledgeBase

_SCANNED = 1_000_000  # names that are compared one by one, in about two seconds
_LIKE = 80.0  # of 100, the least similarity (insertions and deletions by length)
_LONGEST = 200  # characters of a text that may be a misspelled name


class Near(NamedTuple):
    """A concept with its name that is most like a text."""

    concept: Concept
    name: str


def near_names(kb: KnowledgeBase, text: str, limit: int = 20) -> list[Near]:
    """Find names that differ from a text in a few letters, the most similar first.

    In a large knowledge base, where comparing all names would take too long, only names that are
    one edit away are found: a letter more, less or other, or two that changed places.

    limit (int): at most so many concepts.
    """
    text = text.strip()
    if not 3 <= len(text) <= _LONGEST:
        return []
    best: dict[str, Near] = {}  # by concept
    for one in _scan(kb, text, limit) if kb.n_names <= _SCANNED else _look_up(kb, text):
        best.setdefault(one.concept.id, one)
    return list(best.values())[:limit]


def one_edit_away(text: str) -> set[str]:
    """List the texts that are one edit away from a text, in its own and in Latin letters."""
    letters = {*string.ascii_lowercase, *text, " "}
    halves = [(text[:place], text[place:]) for place in range(len(text) + 1)]
    return {
        *(left + right[1:] for left, right in halves if right),
        *(left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1),
        *(left + letter + right[1:] for left, right in halves if right for letter in letters),
        *(left + letter + right for left, right in halves for letter in letters),
    } - {text}


def _scan(kb: KnowledgeBase, text: str, limit: int) -> Iterator[Near]:
    from rapidfuzz import fuzz, process, utils

    like = process.extract_iter(
        text, kb.iter_texts(), scorer=fuzz.ratio, processor=utils.default_process,
        score_cutoff=_LIKE,
    )  # fmt: skip
    # A concept may have several such names: more than wanted, in proportion.
    best = heapq.nsmallest(
        10 * limit, ((-score, len(name), row, name) for name, score, row in like)
    )
    concepts = kb.name_concepts() if best else ()
    return (Near(kb.concept_at(int(concepts[row])), name) for _, _, row, name in best)


def _look_up(kb: KnowledgeBase, text: str) -> Iterator[Near]:
    for variant in sorted(one_edit_away(key(text))):
        for concept in kb.find(variant):
            names = [name.text for name in concept.names if key(name.text) == variant]
            yield Near(concept, names[0] if names else concept.name)
