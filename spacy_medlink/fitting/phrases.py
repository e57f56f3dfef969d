"""Phrases of nothing: texts that no concept of a knowledge base is right for.

Words that are none, short forms that it does not have, everyday phrases, and words of its names put
together anew.
"""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from numpy.random import Generator

from ..text.normalisation import key

EVERYDAY = Path(__file__).with_name("everyday.json")
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiouy"
_CAPITALS = "ABCDEFGHILMNOPRSTUVC"  # as often as they begin words, about
_TRIES = 10


def everyday(languages: Collection[str]) -> list[str]:
    """List the everyday phrases of some languages; of English where there are none of theirs."""
    phrases: dict[str, list[str]] = json.loads(EVERYDAY.read_text(encoding="utf-8"))
    own = sorted({lang[:2] for lang in languages} & set(phrases)) or ["en"]
    return [text for lang in own for text in phrases[lang]]


def nonsense(generator: Generator) -> str:
    """Make up one or two words."""
    return " ".join(_word(generator) for _ in range(int(generator.integers(1, 3))))


def short_form(generator: Generator) -> str:
    """Make up a short upper-case form."""
    return "".join(generator.choice(list(_CAPITALS), int(generator.integers(2, 6))).tolist())


def recombined(texts: Sequence[str], generator: Generator) -> str:
    """Put the beginning of one name before the end of another; "" where they are too short."""
    first, second = (texts[int(one)].split() for one in generator.integers(len(texts), size=2))
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
    """Draw phrases of all four kinds, as many of each, none of them a name.

    texts (Sequence[str]): names. languages (Collection[str]): of the names.
    is_name (Callable[[str], bool]): whether the knowledge base has a text as a name.
    count (int): wanted; fewer where names or everyday phrases are too few.
    """
    common = everyday(languages)
    common = [common[place] for place in generator.permutation(len(common)).tolist()]
    makers: list[Callable[[], str]] = [
        lambda: common.pop() if common else "",
        lambda: nonsense(generator),
        lambda: short_form(generator),
        lambda: recombined(texts, generator),
    ]
    found: dict[str, None] = {}
    for make in makers:
        wanted = len(found) + count // len(makers)
        for _ in range(_TRIES * count):
            if len(found) >= wanted:
                break
            text = make()
            if key(text) and not is_name(text):
                found[text] = None
    return list(found)


def _word(generator: Generator) -> str:
    letters = []
    for _ in range(int(generator.integers(2, 5))):
        letters.append(str(generator.choice(list(_CONSONANTS))))
        letters.append(str(generator.choice(list(_VOWELS))))
        if generator.random() < 0.3:
            letters.append(str(generator.choice(list(_CONSONANTS))))
    return "".join(letters)
