"""A knowledge base of any size, made of pieces of the names of another one, and its next release.

    python -m benchmarks.grown_kb KB OUT --names 15000000

OUT holds `0.kb` and `1.kb` then. Words are as frequent in them as in KB, which those of invented
names (benchmarks.synthetic) are not, so that an encoder has something to tell apart.
"""

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from spacy_medlink.util.progress import show_progress

_LONG = 5  # letters of words that new words are made of
_NEW_WORDS = 0.2  # of made names, how many have one
_NAMES_A_CONCEPT = 4


def grown_concepts(base: KnowledgeBase, names: int, year: int, changed: float) -> Iterator[Concept]:
    """Yield the concepts of a KB, then concepts of made names with its types, `names` in all.

    year (int): of the release. changed (float): share of the made concepts that have another name
        each year.
    """
    yield from base
    types = [own for own in base.iter_types() if own]
    made = islice(grown(base, names), base.n_names, None)
    others = made_names(base, seed=4 + year)
    choice = random.Random(5)
    for number, own in enumerate(iter(lambda: list(islice(made, _NAMES_A_CONCEPT)), [])):
        if choice.random() < changed:
            own[-1] = next(others)
        texts = tuple(Name(text) for text in dict.fromkeys(own))
        its_types = choice.choice(types) if types else ()
        yield Concept(f"M{number:07}", texts[0].text, texts, its_types)


def grown(base: KnowledgeBase, count: int) -> Iterator[str]:
    """Yield the names of a KB, then names made of pieces of them, `count` in all."""
    yield from islice(base.iter_texts(), count)
    yield from islice(made_names(base, seed=3), max(0, count - base.n_names))


def made_names(base: KnowledgeBase, seed: int) -> Iterator[str]:
    """Make names of pieces of those of a KB without end, some with a word of pieces of words."""
    rng = random.Random(seed)
    several = [words for words in (name.split() for name in base.iter_texts()) if len(words) > 1]
    long = [word for words in several for word in words if len(word) > _LONG]
    while True:
        one, other = rng.choice(several), rng.choice(several)
        words = one[: rng.randrange(1, len(one) + 1)] + other[rng.randrange(1, len(other)) :]
        if rng.random() < _NEW_WORDS:
            first, second = rng.choice(long), rng.choice(long)
            cut = rng.randrange(2, len(first)), rng.randrange(2, len(second))
            words[rng.randrange(len(words))] = first[: cut[0]] + second[cut[1] :]
        yield " ".join(words)


def main(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="A knowledge base.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory of the grown ones.")],
    names: Annotated[int, typer.Option(help="Names in all.")] = 15_000_000,
    changed: Annotated[float, typer.Option(help="Share of names that change in a year.")] = 0.01,
) -> None:
    """Grow a knowledge base, and its next release."""
    out.mkdir(parents=True, exist_ok=True)
    base = KnowledgeBase(kb)
    for year in (0, 1):
        file = out / f"{year}.kb"
        found = grown_concepts(base, names, year, _NAMES_A_CONCEPT * changed)
        build_kb(file, show_progress(found, None, file.name))


if __name__ == "__main__":
    typer.run(main)
