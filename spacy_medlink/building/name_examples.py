"""Examples that are made of names: mentions of which it is known what they mean, without any text.

A sample of names, one a concept at most, plays the mentions, in several ways:

verbatim    as it is
synonym     with itself hidden, so that it must be found through another name of its concept
translated  with all names of its language hidden, so that another language must find it
mutated     written in another way (`mutations`)
unknown     as it is or mutated, with its whole concept hidden: nothing is right
specific    the same, where what is above the concept counts as right; it weighs tiers, no more
nothing     phrases that no concept is right for (`phrases`)
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..kb import KnowledgeBase
from ..retrieval.exact import ExactIndex
from ..text import hash_keys, key
from ..types import Concept
from .mutations import mutated
from .phrases import phrases_of_nothing

VERBATIM, SYNONYM, TRANSLATED, MUTATED = "verbatim", "synonym", "translated", "mutated"
UNKNOWN, SPECIFIC, NOTHING = "unknown", "specific", "nothing"
KINDS = (VERBATIM, SYNONYM, TRANSLATED, MUTATED, UNKNOWN, SPECIFIC, NOTHING)
_SAMPLE = 800  # concepts
_PHRASES = 400  # of nothing
_SEED = 1


class NameExample(NamedTuple):
    """A text to link.

    right (FrozenSet[int]): concept rows that are right; none where NIL is.
    hidden (FrozenSet[int]): name rows that are not there. concept (int): row of the concept whose
        name it was made of, -1 for a phrase of nothing.
    """

    kind: str
    text: str
    right: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()
    concept: int = -1


def name_examples(
    kb: KnowledgeBase, exact: ExactIndex, sample: int = _SAMPLE, phrases: int = _PHRASES
) -> list[NameExample]:
    """Make examples of the names of a knowledge base, the same ones every time.

    exact (ExactIndex): of its names: a mutation or a phrase must not be a name.
    sample (int): concepts that give a name. phrases (int): of nothing.
    """
    generator = np.random.default_rng(_SEED)

    def is_name(text: str) -> bool:
        return bool(exact.find(hash_keys([key(text)]))[0] >= 0)

    found, texts, languages = list[NameExample](), list[str](), set[str]()
    for concept, place in _drawn(kb, sample, generator):
        name = concept.names[place]
        texts.append(name.text)
        languages.add(name.lang)
        other = mutated(name.text, generator, name.lang or "en")
        if is_name(other):
            other = ""
        found += _of_name(kb, concept, place, other)
    nothing = phrases_of_nothing(texts, languages, is_name, phrases, generator) if texts else []
    return [*found, *(NameExample(NOTHING, text) for text in nothing)]


def _of_name(
    kb: KnowledgeBase, concept: Concept, place: int, other: str
) -> Iterator[NameExample]:
    """Make the examples of one name of a concept. other (str): its mutation, "" for none."""
    name, row = concept.names[place], concept.row
    right = frozenset([row])
    own = key(name.text)
    every = range(concept.first_name, concept.first_name + len(concept.names))
    same = {r for r, one in zip(every, concept.names, strict=True) if key(one.text) == own}
    spoken = same | {r for r, one in zip(every, concept.names, strict=True) if one.lang == name.lang}
    yield NameExample(VERBATIM, name.text, right, frozenset(), row)
    if len(same) < len(every):
        yield NameExample(SYNONYM, name.text, right, frozenset(same), row)
    if len(spoken) < len(every):
        yield NameExample(TRANSLATED, name.text, right, frozenset(spoken), row)
    yield NameExample(UNKNOWN, name.text, frozenset(), frozenset(every), row)
    if other:
        yield NameExample(MUTATED, other, right, frozenset(), row)
        yield NameExample(UNKNOWN, other, frozenset(), frozenset(every), row)
    above = frozenset(kb.row_of(id) for id in concept.parents if id in kb)
    if above:
        yield NameExample(SPECIFIC, name.text, above, frozenset(every), row)


def _drawn(
    kb: KnowledgeBase, sample: int, generator: Generator
) -> Iterator[tuple[Concept, int]]:
    """Draw names, one of a concept at most: the concept, and the place of the name.

    Concepts of many names are drawn more often, as they are mentioned more often.
    """
    concepts = kb.name_concepts()
    drawn: set[int] = set()
    for name in generator.permutation(kb.n_names).tolist():
        row = int(concepts[name])
        if len(drawn) == sample:
            break
        if row in drawn:
            continue
        concept = kb.concept_at(row)
        place = name - concept.first_name
        if key(concept.names[place].text):
            drawn.add(row)
            yield concept, place
