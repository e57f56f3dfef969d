"""The language of the pipeline: its names, its common words, and the words of its headings."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..retrieval.mask import Mask
from ..text.normalisation import key
from ..text.word_lists import lines_of, primary_tag, words_of

if TYPE_CHECKING:
    from ..retrieval.facets import Facets

_ANY = frozenset(["", "xx", "mul", "und", "zxx"])  # of names in no language, or in several


def native_names(facets: "Facets", lang: str) -> Mask | None:
    """Find the names in a language, and the names without a language.

    lang (str): of the pipeline.
    RETURNS (Optional[Mask]): None where all may be found: if the language is "xx", or has no name.
        In the latter case the terminology's languages are wrong, or the user wants others.
    """
    langs = [primary_tag(tag) for tag in facets.langs]
    if primary_tag(lang) in _ANY or primary_tag(lang) not in langs:
        return None
    passing = np.array([tag in _ANY or tag == primary_tag(lang) for tag in langs])
    return None if passing.all() else Mask.of(passing[facets.lang])


@lru_cache
def common_words(lang: str) -> frozenset[str]:
    """Read the keys of words that are common in general language; none for most languages."""
    return frozenset(map(key, words_of("common", lang)))


def words_alone(lang: str) -> frozenset[str]:
    """Read the keys of words that alone are no mention; none for most languages."""
    return common_words(lang) | frozenset(map(key, words_of("alone", lang)))


@lru_cache
def heading_words(lang: str) -> frozenset[str]:
    """Read the keys of the words that headings of sections are made of; none for most languages."""
    return frozenset(part for word in words_of("headings", lang) for part in key(word).split())


@lru_cache
def words_beside() -> dict[str, frozenset[str]]:
    """Read the groups of words that show what stands beside them: titles, roles, streets."""
    groups = (line.partition(": ") for line in lines_of("beside", "en"))
    return {group: frozenset(words.split()) for group, _, words in groups}
