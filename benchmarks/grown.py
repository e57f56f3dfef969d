"""Concepts whose names are made of pieces of those of another knowledge base, any number of them.

Words are as frequent in them as in real names, which those of `benchmarks.invented` are not,
so that an encoder has something to tell apart.
"""

import random
from collections.abc import Iterator
from itertools import islice

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Concept, Name

_LONG = 5  # letters of words that new words are made of
_NEW_WORDS = 0.2  # of made names, how many have one
_NAMES_A_CONCEPT = 4


def grown_concepts(
    base: KnowledgeBase, names: int, year: int = 0, changed: float = 0.01
) -> Iterator[Concept]:
    """Yield the concepts of a KB, then concepts of made names with its types, `names` in all.

    year (int): of the release. changed (float): share of the made names that change in a year.
    """
    yield from base
    types = [own for own in base.iter_types() if own]
    made = islice(made_names(base, seed=3), max(0, names - base.n_names))
    others, choice = made_names(base, seed=4 + year), random.Random(5)
    for row, own in enumerate(iter(lambda: list(islice(made, _NAMES_A_CONCEPT)), [])):
        if choice.random() < _NAMES_A_CONCEPT * changed:
            own[-1] = next(others)
        texts = tuple(Name(text) for text in dict.fromkeys(own))
        concept_types = choice.choice(types) if types else ()
        yield Concept(f"M{row:07}", texts[0].text, texts, concept_types)


def made_names(base: KnowledgeBase, seed: int) -> Iterator[str]:
    """Make names of pieces of those of a KB without end, some with a word of pieces of words."""
    rng = random.Random(seed)
    several = [words for words in (name.split() for name in base.iter_texts()) if len(words) > 1]
    long = [word for words in several for word in words if len(word) > _LONG]
    while True:
        begin, end = rng.choice(several), rng.choice(several)
        words = begin[: rng.randrange(1, len(begin) + 1)] + end[rng.randrange(1, len(end)) :]
        if rng.random() < _NEW_WORDS:
            first, second = rng.choice(long), rng.choice(long)
            cut = rng.randrange(2, len(first)), rng.randrange(2, len(second))
            words[rng.randrange(len(words))] = first[: cut[0]] + second[cut[1] :]
        yield " ".join(words)
