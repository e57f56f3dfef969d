"""Invented medical words and names in twenty languages.

A word is a stem that every language spells in its own script and ends in its own way, as real
medical words do. A name is up to five pieces, each looked up in a list:

    modifiers + head + joint + site + suffix      "acute velandritis of the tromidum, grade 3"

No two choices of pieces give the same string (stems of heads, sites and modifiers are disjoint), so
a name can be known by numbers alone. Nothing here comes from a terminology.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from benchmarks.synthetic_common import Bits, Ints, bits, draw, scatter

HEADS = 1 << 13
SITES = 1 << 13
MODIFIERS = 1 << 9
PREFIXES = 1 << 10  # entry PREFIXES is the empty prefix
SUFFIXES = 1 << 10  # entry SUFFIXES is the empty suffix
CORE_BITS = 26  # a head and a site
COMPOUND = 5  # the joint that glues the head's stem to the site
JOINTS = 6

CONSONANTS = "b d f g l m n p r s t v z h c th ph st tr br cl dr gl pr".split()
VOWELS = "aeiou"
MIDDLES = "l r n m v d b g s t ndr rt mb lg rn nt st xt rv gn tr br st ld rm".split()[:24]
CYRILLIC = str.maketrans("abcdefghilmnoprstuvxz", "абцдефгхилмнопрстувкз")
GREEK = str.maketrans(
    {a: b for a, b in zip("acdefghilmnoprstxz", "ακδεφγχιλμνοπρστξζ", strict=True)}
    | {"b": "μπ", "u": "ου", "v": "β"}
)
UNSPACED = ("han", "kana")


@dataclass(frozen=True)
class Language:
    """A language of the names.

    lat (str): code in MRCONSO. code (str): ISO 639-1 code. weight (int): its share of names.
    script (str): latin, cyrillic, greek, han, kana or hangul. letters (str): pairs of letters, of
        which the second replaces the first. of, of_the, with_ (str): particles.
    heads, sites, modifiers (str): word endings, each list by spaces.
    """

    lat: str
    code: str
    weight: int
    script: str
    letters: str
    of: str
    of_the: str
    with_: str
    heads: str
    sites: str
    modifiers: str
