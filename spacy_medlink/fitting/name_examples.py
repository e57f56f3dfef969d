"""Examples made of names: mentions with known concepts, without any text.

A sample of names, at most one a concept, replaces mentions, in several ways:

verbatim    unchanged
synonym     itself hidden, so that it must be found through another name of its concept
translated  all names of its language hidden, so that another language must find it
mutated     written in another way (`mutations`)
slip        with one wrong letter
narrower    with another names' first word before it: the concept is the nearest one
broader     without a word that has a meaning: nothing is right
unknown     unchanged or mutated, with its whole concept hidden: nothing is right
nothing     invented words, short forms that the knowledge base lacks, everyday phrases, and
            recombined words of its names: no concept is right
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..kb import KnowledgeBase
from ..text.normalisation import key
from ..types import Concept
from .mutations import broader, is_modifier, mutated, with_slip

VERBATIM, SYNONYM, TRANSLATED, MUTATED = "verbatim", "synonym", "translated", "mutated"
SLIP, NARROWER, BROADER, UNKNOWN = "slip", "narrower", "broader", "unknown"
NOTHING = "nothing"
SAMPLE = 800  # concepts
_PHRASES, _PER_CONCEPT = 400, 5  # phrases of nothing: at most, and for each concept drawn
_MODIFIERS, _COMMON = 60, 3  # first words of a language, and least names that begin with each
_SEED = 1
EVERYDAY = Path(__file__).with_name("everyday.json")
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiouy"
_CAPITALS = "ABCDEFGHILMNOPRSTUVC"  # roughly as frequent as at the beginning of words
_TRIES = 10


class NameExample(NamedTuple):
    """A text to link.

    right (FrozenSet[int]): rows of the right concepts; empty for NIL.
    hidden (FrozenSet[int]): name rows to leave out. concept (int): row of the concept whose name
        it was made of, -1 for a phrase of nothing.
    """

    kind: str
    text: str
    right: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()
    concept: int = -1


class _Drawn(NamedTuple):
    """A concept, and the position of one of its names."""

    concept: Concept
    position: int

    @property
    def text(self) -> str:
        return self.concept.names[self.position].text

    @property
    def lang(self) -> str:
        return self.concept.names[self.position].lang


def name_examples(
    kb: KnowledgeBase, sample: int = SAMPLE, phrases: int = _PHRASES
) -> list[NameExample]:
    """Make examples of the names of a knowledge base, always the same ones.

    sample (int): concepts to draw a name of. phrases (int): phrases of nothing.
    """
    generator = np.random.default_rng(_SEED)
    drawn = list(_draw(kb, sample, generator))
    modifiers, of_slips = _modifiers(drawn), np.random.default_rng(_SEED)
    examples = list[NameExample]()
    for name in drawn:
        examples += _of_name(name)
        examples += _rewritten(kb, name, modifiers.get(name.lang, ()), generator)
        slipped = with_slip(name.text, of_slips)
        if key(slipped) and not kb.find(slipped):
            row = name.concept.row
            examples.append(NameExample(SLIP, slipped, frozenset([row]), concept=row))
    if not drawn:
        return examples
    nothing = phrases_of_nothing(
        [name.text for name in drawn],
        {name.lang for name in drawn},
        lambda text: bool(kb.find(text)),
        min(phrases, _PER_CONCEPT * len(drawn)),
        generator,
    )
    return [*examples, *(NameExample(NOTHING, text) for text in nothing)]


def _of_name(drawn: _Drawn) -> Iterator[NameExample]:
    """Make the examples of an unchanged name."""
    concept, text = drawn.concept, drawn.text
    right, every = frozenset([concept.row]), _rows(concept)
    rows, words = list(enumerate(concept.names, start=concept.first_name)), _words(text)
    same = frozenset(row for row, name in rows if _words(name.text) == words)
    spoken = same | {row for row, name in rows if name.lang == drawn.lang}
    yield NameExample(VERBATIM, text, right, frozenset(), concept.row)
    if same < every:
        yield NameExample(SYNONYM, text, right, same, concept.row)
    if spoken < every:
        yield NameExample(TRANSLATED, text, right, spoken, concept.row)
    yield NameExample(UNKNOWN, text, frozenset(), every, concept.row)


def _rewritten(
    kb: KnowledgeBase, drawn: _Drawn, modifiers: Sequence[str], generator: Generator
) -> Iterator[NameExample]:
    """Make the examples of a changed name; none of them is a name itself."""
    row = drawn.concept.row
    right, every, nothing = frozenset([row]), _rows(drawn.concept), frozenset[int]()
    other = mutated(drawn.text, generator, drawn.lang or "en")
    if other and not kb.find(other):
        yield NameExample(MUTATED, other, right, nothing, row)
        yield NameExample(UNKNOWN, other, nothing, every, row)
    shorter = broader(drawn.text, generator)
    if key(shorter) and not kb.find(shorter):
        yield NameExample(BROADER, shorter, nothing, nothing, row)
    if modifiers:
        longer = f"{modifiers[int(generator.integers(len(modifiers)))]} {drawn.text}"
        if not kb.find(longer):
            yield NameExample(NARROWER, longer, right, nothing, row)


def _words(text: str) -> list[str]:
    """Sort the words of a key, so that names with the same words are equal."""
    return sorted(key(text).split())


def _rows(concept: Concept) -> frozenset[int]:
    return frozenset(range(concept.first_name, concept.first_name + len(concept.names)))


def _modifiers(drawn: Sequence[_Drawn]) -> Mapping[str, list[str]]:
    """List, by language, the words that most often begin a name of several words."""
    begun: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for name_drawn in drawn:
        for name in name_drawn.concept.names:
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
    """Draw names, at most one of a concept.

    Concepts with many names are drawn more often, because they are mentioned more often.
    """
    # A list of many million numbers would be the peak of a build's memory.
    concepts = kb.name_concepts()
    order = np.arange(kb.n_names, dtype=np.uint32)
    generator.shuffle(order)
    drawn: set[int] = set()
    for name in map(int, order):
        row = int(concepts[name])
        if len(drawn) == sample:
            break
        if row in drawn:
            continue
        concept = kb.concept_at(row)
        name_drawn = _Drawn(concept, name - concept.first_name)
        if key(name_drawn.text):
            drawn.add(row)
            yield name_drawn


def everyday(languages: Collection[str]) -> list[str]:
    """List the everyday phrases of some languages; English ones where there are none."""
    phrases: dict[str, list[str]] = json.loads(EVERYDAY.read_text(encoding="utf-8"))
    spoken = sorted({lang[:2] for lang in languages} & set(phrases)) or ["en"]
    return [text for lang in spoken for text in phrases[lang]]


def nonsense(generator: Generator) -> str:
    """Make up one or two words."""
    return " ".join(_word(generator) for _ in range(int(generator.integers(1, 3))))


def short_form(generator: Generator) -> str:
    """Make up a short upper-case form."""
    return "".join(generator.choice(list(_CAPITALS), int(generator.integers(2, 6))).tolist())


def recombined(texts: Sequence[str], generator: Generator) -> str:
    """Join the beginning of one name and the end of another; "" where they are too short."""
    first, second = (texts[int(at)].split() for at in generator.integers(len(texts), size=2))
    if not first or len(second) < 2:
        return ""
    return " ".join([*first[: max(1, len(first) // 2)], *second[len(second) // 2 :]])


def phrases_of_nothing(
    texts: Sequence[str],
    languages: Collection[str],
    is_name: Callable[[str], bool],
    count: int,
    generator: Generator,
) -> list[str]:
    """Draw phrases of all four kinds in equal numbers; none of them is a name.

    texts (Sequence[str]): names. languages (Collection[str]): of the names.
    is_name (Callable[[str], bool]): whether the knowledge base has a text as a name.
    count (int): phrases wanted; fewer where names or everyday phrases are too few.
    """
    common = everyday(languages)
    common = [common[at] for at in generator.permutation(len(common)).tolist()]
    makers: list[Callable[[], str]] = [
        lambda: common.pop() if common else "",
        lambda: nonsense(generator),
        lambda: short_form(generator),
        lambda: recombined(texts, generator),
    ]
    chosen: dict[str, None] = {}
    for make in makers:
        wanted = len(chosen) + count // len(makers)
        for _ in range(_TRIES * count):
            if len(chosen) >= wanted:
                break
            text = make()
            if key(text) and not is_name(text):
                chosen[text] = None
    return list(chosen)


def _word(generator: Generator) -> str:
    letters = []
    for _ in range(int(generator.integers(2, 5))):
        letters.append(str(generator.choice(list(_CONSONANTS))))
        letters.append(str(generator.choice(list(_VOWELS))))
        if generator.random() < 0.3:
            letters.append(str(generator.choice(list(_CONSONANTS))))
    return "".join(letters)
