"""Normalisation of names and mentions, and the hashes by which the exact tier finds them.

A *key* is what two strings must share to match in the exact tier: lower case, without accents,
punctuation, possessive and plural endings, in American spelling. Keys compose: the key of a phrase
is the keys of its tokens joined by spaces, which lets `medical_mentions` try every n-gram of a text
cheaply.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import xxhash

from ..types import Hashes1d
from .spelling import american

# Everything that separates tokens: white space, ASCII punctuation but for "+", Latin-1 signs,
# general and CJK punctuation. Written as ranges because \w would tear Thai and Hindi vowel signs.
_SEPARATORS = re.compile(
    "[\\s\x00-\\*,-/:-@\\[-`{-\xbf\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\ufe0f]+"
)
# Also without a word before it, since many tokenizers cut it off.
_POSSESSIVE = re.compile(r"['’`]s(?!\w)")
# Among them soft hyphens and byte-order marks, which are invisible.
_ACCENTS = re.compile("[\u0300-\u036f\xad\ufeff]")
# For "headaches" and "earaches", not for "beaches" and "approaches".
_ACHES = re.compile("(^|[^eot])aches$")
_PIECE, _MARKS = 1024, 64  # characters decomposed at once, and marks that may follow them
_SHORT = 5
_CASED = 1 << 31


def normalise(text: str) -> str:
    """Fold case, accents, compatibility forms and punctuation.

    text (str): any string.
    RETURNS (str): tokens joined by single spaces; "" when nothing but punctuation is there.
    """
    if not text.isascii():
        text = text.replace("´", "'")  # NFKD would make it a space and an accent
        text = _ACCENTS.sub("", _decomposed(text)).casefold()
    else:
        text = text.lower()
    if "'" in text or "’" in text or "`" in text:
        text = _POSSESSIVE.sub("", text)
    if "+" in text:  # a token of its own, as tokenizers have it: "HER2+" is not "HER2"
        text = text.replace("+", " + ")
    return _SEPARATORS.sub(" ", text).strip()


def _decomposed(text: str) -> str:
    """Decompose as NFKD does, in a time that grows with the text.

    Combining marks are brought into their order by insertion, which takes quadratic time where a
    letter has thousands. Text is cut before letters; a letter with _MARKS marks more than a piece
    has room for, which no language writes, is cut too.
    """
    if len(text) <= _PIECE:
        return unicodedata.normalize("NFKD", text)
    pieces, start = [], 0
    while start < len(text):
        end = start + _PIECE
        most = end + _MARKS
        while end < min(most, len(text)) and unicodedata.combining(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFKD", text[start:end]))
        start = end
    return "".join(pieces)


@lru_cache(maxsize=65536)
def _folded(token: str) -> str:
    return american(_singular(token))


def _singular(token: str) -> str:
    # Only endings whose removal cannot change a word into another common one; Latin plurals and
    # other languages are left to the n-gram and dense tiers.
    if len(token) < 4 or token[-1] != "s" or not token.isascii():
        return token
    if token.endswith("ies") and len(token) > 4:
        return token[:-3] + "y"
    if token.endswith(("sses", "xes", "ches", "shes")) and not _ACHES.search(token):
        return token[:-2]
    if token.endswith(("ss", "us", "is")):
        return token
    return token[:-1]


def key(text: str) -> str:
    """Make the key of the exact tier: `normalise`, then each token in the singular and as American.

    text (str): a name, a mention, or one token of it.
    RETURNS (str): the key, "" when the text has none.
    """
    tokens = normalise(text).split(" ")
    # Numbers and codes have neither plurals nor spellings, and would fill the cache.
    return " ".join([_folded(one) if one.isalpha() or one[-1:] == "s" else one for one in tokens])


def upright(name: str) -> str:
    """Turn a name that is written for an index: "Epilepsy, Generalized, Idiopathic" of MeSH."""
    return " ".join(reversed(name.split(", "))) if ", " in name else name


def hash_key(key: str) -> int:
    """Hash a key (64 bit, unsigned, the same on every machine and in every version)."""
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))


def hash_keys(keys: Iterable[str]) -> Hashes1d:
    """Hash many keys: (n,) uint64."""
    keys = list(keys)
    try:  # without a Python call for each, which takes twice as long
        hashes = map(xxhash.xxh3_64_intdigest, map(str.encode, keys))
        return np.fromiter(hashes, dtype=np.uint64, count=len(keys))
    except UnicodeEncodeError:  # there is half of a surrogate pair
        return np.fromiter(map(hash_key, keys), dtype=np.uint64, count=len(keys))


def is_short_form(text: str) -> bool:
    """Tell whether a name is a short upper-case one, which only an equally cased mention matches.

    Without this rule "all" would be acute lymphoblastic leukaemia and "aids" AIDS.
    """
    return len(text) <= _SHORT and text.isupper()


def surface_check(text: str) -> int:
    """Make 32 bits that tell an identical string: 31 bits of hash, top bit set for short forms."""
    value = xxhash.xxh32_intdigest(text.encode("utf-8", "surrogatepass")) & ~_CASED
    return value | _CASED if is_short_form(text) else value
