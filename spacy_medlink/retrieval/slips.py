"""Slips: the name that a misspelt text means."""

from itertools import chain, islice, pairwise, product

from rapidfuzz.distance import Prefix

from ..text.normalisation import hash_keys, key
from ..text.written_forms import is_ordinary
from .exact import ExactIndex
from .vocabulary import LEAST, is_inflected

_LONGEST, _MOST_WAYS = 8, 1024  # words of a text; ways to spell it
_SILENT = "pkhgw"  # at the beginning of a word: "neumonia"
# Letters beside each other on the keys, in the row and across, and letters that sound alike.
_ALIKE = frozenset(
    frozenset(pair)
    for pair in chain(
        *map(
            pairwise,
            ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qawsedrftgyhujikolp", "azsxdcfvgbhnjmk"),
        ),
        product("aeiouy", repeat=2),
        ("cs", "cx", "sz", "ck", "kq", "bp", "dt", "fv", "gj", "lr"),
    )
)


def without_slips(exact: ExactIndex, text: str, lang: str) -> str:
    """Give the name that a text is but for a letter in some words; "" for several, or none.

    exact (ExactIndex): of the names. lang (str): of the text.
    """
    # Words as they are written: their keys fold ends, and a slip may have changed the end.
    words = [word if word.isalpha() else key(word) for word in text.lower().split()]
    if not 0 < len(words) <= _LONGEST:
        return ""
    near_words = exact.vocabulary.near(words)
    if not any(near_words):
        return ""
    spellings = [
        [other for other in near if _is_slip(word, other)] or [word]
        for word, near in zip(words, near_words, strict=True)
    ]
    ways = {key(" ".join(way)) for way in islice(product(*spellings), _MOST_WAYS)}
    others = sorted(ways - {key(text)})
    positions = exact.find(hash_keys(others)).tolist() if others else []
    named = [
        exact.names_at(position)[rows[0][0]]
        for position, way in zip(positions, others, strict=True)
        if position >= 0 and (rows := exact.rows_of(position, way))
    ]
    if len(named) != 1 or (len(words) == 1 and _is_another(words[0], named[0].lower(), lang)):
        return ""
    return named[0]


def _is_another(word: str, name: str, lang: str) -> bool:
    """Tell whether a word that stands alone is one of its own: ordinary, short, or inflected."""
    return is_ordinary(word, lang) or len(name) <= LEAST or is_inflected(word, name)


def _is_slip(word: str, other: str) -> bool:
    """Tell whether a pen or a finger may slip from a word to one that differs in one letter.

    A letter is lost or added behind the first one, swapped with the next one, or like another by
    its key or its sound. "tacrine" is no slip for "taurine", and "asystolic" none for "systolic".
    """
    place = Prefix.similarity(word, other)
    if len(word) != len(other):
        return place > 0 or (len(word) < len(other) and other[0] in _SILENT)
    letters, wanted = word[place : place + 2], other[place : place + 2]
    return letters == wanted[::-1] or (place > 0 and frozenset((letters[0], wanted[0])) in _ALIKE)
