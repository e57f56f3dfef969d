"""Examples that are made of names: mentions of which it is known what they mean, without any text.

A sample of names, one a concept at most, plays the mentions, in several ways:

verbatim    as it is
synonym     with itself hidden, so that it must be found through another name of its concept
translated  with all names of its language hidden, so that another language must find it
mutated     written in another way (`mutations`)
narrower    with a word before it that other names begin with: the concept is the nearest there is
broader     without a word that means something: nothing is right
unknown     as it is or mutated, with its whole concept hidden: nothing is right
specific    the same, where what is above the concept counts as right; it weighs tiers, no more
nothing     phrases that no concept is right for (`phrases`)
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..kb import KnowledgeBase
from ..text.normalisation import key
from ..types import Concept
from .mutations import broader, is_modifier, mutated
from .phrases import phrases_of_nothing

VERBATIM, SYNONYM, TRANSLATED, MUTATED = "verbatim", "synonym", "translated", "mutated"
NARROWER, BROADER, UNKNOWN = "narrower", "broader", "unknown"
SPECIFIC, NOTHING = "specific", "nothing"
SAMPLE = 800  # concepts
_PHRASES, _PER_CONCEPT = 400, 5  # of nothing: at most, and for each concept that gives a name
_MODIFIERS, _COMMON = 60, 3  # words of a language, and names that each must begin
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


class _Drawn(NamedTuple):
    """A concept, and the place of one of its names."""

    concept: Concept
    place: int

    @property
    def text(self) -> str:
        return self.concept.names[self.place].text

    @property
    def lang(self) -> str:
        return self.concept.names[self.place].lang


def name_examples(
    kb: KnowledgeBase, sample: int = SAMPLE, phrases: int = _PHRASES
) -> list[NameExample]:
    """Make examples of the names of a knowledge base, the same ones every time.

    sample (int): concepts that give a name. phrases (int): of nothing.
    """
    generator = np.random.default_rng(_SEED)
    drawn = list(_draw(kb, sample, generator))
    modifiers = _modifiers(drawn)
    found = list[NameExample]()
    for one in drawn:
        found += _of_name(kb, one)
        found += _rewritten(kb, one, modifiers.get(one.lang, ()), generator)
    if not drawn:
        return found
    nothing = phrases_of_nothing(
        [one.text for one in drawn],
        {one.lang for one in drawn},
        lambda text: bool(kb.find(text)),
        min(phrases, _PER_CONCEPT * len(drawn)),
        generator,
    )
    return [*found, *(NameExample(NOTHING, text) for text in nothing)]


def _of_name(kb: KnowledgeBase, one: _Drawn) -> Iterator[NameExample]:
    """Make the examples of a name as it is."""
    concept, text = one.concept, one.text
    right, every = frozenset([concept.row]), _rows(concept)
    rows, own = list(enumerate(concept.names, start=concept.first_name)), _words(text)
    same = frozenset(row for row, name in rows if _words(name.text) == own)
    spoken = same | {row for row, name in rows if name.lang == one.lang}
    yield NameExample(VERBATIM, text, right, frozenset(), concept.row)
    if same < every:
        yield NameExample(SYNONYM, text, right, same, concept.row)
    if spoken < every:
        yield NameExample(TRANSLATED, text, right, spoken, concept.row)
    yield NameExample(UNKNOWN, text, frozenset(), every, concept.row)
    above = frozenset(kb.row_of(id) for id in concept.parents if id in kb)
    if above:
        yield NameExample(SPECIFIC, text, above, every, concept.row)


def _rewritten(
    kb: KnowledgeBase, one: _Drawn, modifiers: Sequence[str], generator: Generator
) -> Iterator[NameExample]:
    """Make the examples of a name that is written in another way, none of them a name itself."""
    row = one.concept.row
    right, every, nothing = frozenset([row]), _rows(one.concept), frozenset[int]()
    other = mutated(one.text, generator, one.lang or "en")
    if other and not kb.find(other):
        yield NameExample(MUTATED, other, right, nothing, row)
        yield NameExample(UNKNOWN, other, nothing, every, row)
    shorter = broader(one.text, generator)
    if key(shorter) and not kb.find(shorter):
        yield NameExample(BROADER, shorter, nothing, nothing, row)
    if modifiers:
        longer = f"{modifiers[int(generator.integers(len(modifiers)))]} {one.text}"
        if not kb.find(longer):
            yield NameExample(NARROWER, longer, right, nothing, row)


def _words(text: str) -> list[str]:
    """Sort the words of a key: the same words in another order are the same name."""
    return sorted(key(text).split())


def _rows(concept: Concept) -> frozenset[int]:
    return frozenset(range(concept.first_name, concept.first_name + len(concept.names)))


def _modifiers(drawn: Sequence[_Drawn]) -> Mapping[str, list[str]]:
    """List, by language, the words that most often begin names of several words."""
    begun: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in drawn:
        for name in one.concept.names:
            first, _, rest = name.text.casefold().partition(" ")
            if rest and is_modifier(first):
                begun[name.lang][first] += 1
    return {
        lang: sorted(
            (word for word, count in counts.items() if count >= _COMMON),
            key=lambda word: (-counts[word], word),
        )[:_MODIFIERS]
        for lang, counts in begun.items()
    }


def _draw(kb: KnowledgeBase, sample: int, generator: Generator) -> Iterator[_Drawn]:
    """Draw names, one of a concept at most.

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
        own = _Drawn(concept, name - concept.first_name)
        if key(own.text):
            drawn.add(row)
            yield own
