"""Normalisation of names and mentions, and the hashes by which the exact tier finds them.

A *key* is what two strings must share to match in the exact tier: lower case, without accents,
punctuation, possessive and plural endings, in American spelling. Keys compose: the key of a phrase
is the keys of its tokens joined by spaces (but for a semantic tag, which names alone have). So
`medical_mentions` tries every n-gram of a text cheaply.
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import xxhash

from ..types import Hashes1d
from .spelling import IN_FULL, respelled

SEPARATORS = (
    "\\s\x00-\\*,-/:-@\\[-`{-\xa9\xab-\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u02b9-\u02bf\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u200a\u2010-\u2029\u202f-\u205f"
    "\u20a0-\u20cf\u2117-\u2122\u2190-\u23ff\u2500-\u2bff\u3000-\u303f\ufe0f\ufe50-\ufe6b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""The characters that separate words, as the inside of a class of a regular expression.

White space, punctuation and signs but for "+"; ranges, because \\w would tear Thai and Hindi vowel
signs."""
INVISIBLE = "\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
"""Characters that nobody sees, as the inside of a class: soft hyphens, zero-width spaces."""
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""The scripts that are written without spaces, as the inside of a class."""
APOSTROPHES = "'`\xb4\u02b9\u02bc\u2018\u2019\u201b\u2032\uff07"
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
"""A character written as in HTML: "&#246;", "&amp;"."""

_SEPARATORS = re.compile(f"[{SEPARATORS}]+")
_POSSESSIVE = re.compile(rf"[{APOSTROPHES}]s(?!\w)")
# What a letter carries, and what nobody sees; joined to its letter before anything else is asked.
_ACCENTS = re.compile(f"[\u0300-\u036f{INVISIBLE}]")
# Letters with a stroke and the like, which no decomposition of Unicode takes apart.
_LETTERS = str.maketrans(
    dict(zip("łđħıŧðŀƒŋø", "ldhitdlfno", strict=True)) | {"þ": "th", "æ": "ae", "œ": "oe"}
)
_UMLAUT = re.compile("(?<=[aouAOU])\u0308")
_MARK = "\ue000"  # stands for the e that an umlaut may be written with, until words are folded
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
        "sigma sigma tau upsilon phi chi psi omega".split(),
        strict=True,
    )
)
# A Greek letter that stands alone is a word; in Greek text, letters stand together.
_GREEK_WORD = re.compile("(?<![α-ω])[α-ω](?![α-ω])")
_BETA = re.compile(r"(?<!\w)ß(?!\w)")  # typed for want of a Greek letter
_TRADE = re.compile("[\u2117-\u2122]")  # decomposition would make letters of these signs
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_PLAIN_SIGNS = str.maketrans(
    dict.fromkeys(APOSTROPHES, "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ł": "l", "ı": "i"}
)
# A raised number behind a word is a footnote; behind a letter or two it is part of a formula.
_FOOTNOTE = re.compile("(?<=[^\\W_]{3})[\xb9\xb2\xb3\u2070\u2074-\u2079]+")
# Where a word goes on without a space: a number behind five letters or before four, as in
# "metformin500mg", but not in "BRCA1" and "2nd"; and each letter of a script without spaces.
_CUT = re.compile(
    rf"(?<=[^\W\d_]{{5}})(?=\d)|(?<=\d)(?=[^\W\d_]{{4}})|(?<=[{UNSPACED}])(?=\w)|(?<=\w)(?=[{UNSPACED}])"
)
_NUMBER = re.compile(r"\d")
_DIGRAPHS = re.compile("([au])e+|(o)e+(?!u)")  # not in "coeur"
# For "headaches" and "earaches", not for "beaches" and "approaches".
_ACHES = re.compile("(^|[^eot])aches$")
# One form for singular and plural of Latin and Greek words: metastasis and metastases, thrombus and
# thrombi, carcinoma and carcinomata, septum and septa. Many words that are no plurals end so, too,
# and get another last letter on both sides.
_LATIN = [
    (re.compile(r"(?<=[aeioy])sis$"), "se"),
    (re.compile(r"omata$"), "oma"),
    (re.compile(r"(?<=[b-df-hj-np-tv-z])i$"), "us"),
    (re.compile(r"um$"), "a"),
]
# What SNOMED CT writes behind its full names, of problems and of what is done.
_TAG = re.compile(
    r"(?<=\S)\s*\((?:disorder|finding|procedure|situation|event|regime/therapy|"
    r"morphologic abnormality)\)\s*$",
    re.IGNORECASE,
)
_DISORDER = re.compile(r"(?<![\w/])d/o(?![\w/])")
_PIECE, _MARKS = 1024, 64  # characters decomposed at once, and marks that may follow them
_SHORT = 5
_CASED = 1 << 31


def normalise(text: str) -> str:
    """Fold case, accents, compatibility forms, Greek letters, HTML entities and punctuation.

    text (str): any string.
    RETURNS (str): tokens joined by single spaces; "" when nothing but punctuation is there.
    """
    return _normalised(text, umlauts=False)


def _normalised(text: str, umlauts: bool) -> str:
    """Normalise. umlauts (bool): mark the letters that had an umlaut."""
    if "&" in text:
        text = without_entities(text)
    if not text.isascii():
        text = _TRADE.sub(" ", _BETA.sub("β", _FOOTNOTE.sub(" ", text))).replace(_MARK, " ")
        text = text.replace("´", "'")  # NFKD would make it a space and an accent
        text = _decomposed(text)
        if umlauts:
            text = _UMLAUT.sub(_MARK, text).replace("ø", "o" + _MARK).replace("Ø", "o" + _MARK)
        text = _ACCENTS.sub("", text).casefold().translate(_LETTERS)
        text = _GREEK_WORD.sub(lambda letter: f" {_GREEK[letter[0]]} ", text)
    else:
        text = text.lower()
    if "s" in text:
        text = _POSSESSIVE.sub("", text)
    if "d/o" in text:
        text = _DISORDER.sub("disorder", text)
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
    """Fold a word that is spelled in several ways: plural, British, with an umlaut, in short.

    An umlaut is written with an e, without, or not at all: Sjögren, Sjoegren and Sjogren.
    """
    if token in IN_FULL:
        return IN_FULL[token]  # before its plural is folded: "mets"
    bare = token.replace(_MARK, "")
    written = token.replace(_MARK, "e") if len(bare) > _SHORT - 1 else bare
    token = respelled(written if _singular(bare) == bare else _singular(written))
    return _DIGRAPHS.sub(r"\1\2", token) if len(token) > _SHORT - 1 and "e" in token else token


def _singular(token: str) -> str:
    # Only endings whose removal cannot change a word into another common one; other languages are
    # left to the n-gram and dense tiers.
    if len(token) >= _SHORT and token.isascii():
        for pattern, singular in _LATIN:
            if pattern.search(token):
                return pattern.sub(singular, token)
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
    """Make the key of the exact tier: words in the singular, as American, however they are written.

    Folds what does not change the meaning: see `normalise`; also umlauts and their spellings with
    an e, the space between a word and a number ("COVID19", "COVID-19"), and a semantic tag
    ("Dyspraxia (disorder)").

    text (str): a name, a mention, or one piece of it.
    RETURNS (str): the key, "" when the text has none.
    """
    plain = _normalised(without_tag(text) if ")" in text[-2:] else text, umlauts=True)
    if _NUMBER.search(plain) or not plain.isascii():
        plain = _CUT.sub(" ", plain)
    # Numbers and codes have neither plurals nor spellings, and would fill the cache.
    words = plain.split(" ")
    for index, word in enumerate(words):
        if word.isalpha() or word[-1:] == "s" or _MARK in word:
            words[index] = _folded(word)
    return " ".join(words)


def without_tag(name: str) -> str:
    """Take the semantic tag from a name: "Dyspraxia (disorder)"."""
    return _TAG.sub("", name) if ")" in name[-2:] else name


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


def without_entities(text: str) -> str:
    """Decode what is written as in HTML: "Sj&#246;gren"."""
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def plainly_written(text: str) -> str:
    """Write a text with the plainest signs, so that only what a reader sees as another differs.

    Entities of HTML, invisible characters, compatibility forms, kinds of hyphens, apostrophes and
    spaces, ligatures and Greek letters go; letter case, accents and punctuation stay.
    """
    if "&" in text:
        text = without_entities(text)
    if text.isascii():
        return text
    text = _TRADE.sub("", _BETA.sub("β", _FOOTNOTE.sub("", text)))
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_PLAIN_SIGNS)
    return " ".join(_GREEK_WORD.sub(lambda letter: _GREEK[letter[0]], text).split())


def surface_check(text: str) -> int:
    """Make 32 bits that tell an identical string: 31 bits of hash, top bit set for short forms."""
    value = xxhash.xxh32_intdigest(text.encode("utf-8", "surrogatepass")) & ~_CASED
    return value | _CASED if is_short_form(text) else value
