"""Mutations: other spellings of a name, for examples of mentions that are no name.

The concept stays the same, so a mutation drops or adds only words that do not change the meaning:
"carcinoma of lung" may lose "of", but "chronic bronchitis" may not lose "chronic". Without such a
word the meaning would be broader (`broader`).
"""

import re
from collections.abc import Callable

from numpy.random import Generator

from ..text.normalisation import key

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST_FOR_TYPO = 5  # letters; a typo may turn a shorter word into another word
_WORD = re.compile(r"[^\W\d_]+")
_OF = re.compile(r"^(\S.*?) (?:of(?: the)?|de(?: la)?|del|der|des|du) (\S.*)$", re.IGNORECASE)
_FUNCTION_WORDS = frozenset(
    "of the a an in with and to by due or de la el del los las y con en le les des du et avec"
    " der die das dem den des von vom mit und bei im am zum zur au aux à un una une al por para"
    " dans sur o ou or oder".split()
)
_GENERAL_WORDS = frozenset(
    "disease disorder syndrome condition unspecified nos abnormality finding enfermedad trastorno"
    " síndrome maladie trouble syndrome krankheit störung syndrom".split()
)
_ADDED = {
    "en": (("the", "her", "known", "severe", "suspected", "recent", "some", "marked"),
           ("symptoms", "nos", "today", "in a patient", "at present")),
    "es": (("la", "su", "posible", "conocida", "leve"), ("actual", "en un paciente", "severa")),
    "de": (("die", "bekannte", "schwere", "leichte"), ("des Patienten", "aktuell")),
    "fr": (("la", "sa", "possible", "probable"), ("actuelle", "sévère", "chez un patient")),
}  # fmt: skip
_ENDINGS = (
    ("sis", "ses"), ("oma", "omata"), ("us", "i"), ("um", "a"), ("itis", "itides"), ("a", "ae"),
    ("y", "ic"), ("ia", "ic"), ("s", ""),
)  # fmt: skip


def mutated(text: str, generator: Generator, lang: str = "en") -> str:
    """Write a name in another way.

    text (str): a name. lang (str): of the words that may be added; English where unknown.
    RETURNS (str): a text with another key; "" where no mutation of the name has another key.
    """
    ways = generator.permutation(len(_WAYS)).tolist()
    for way in ways:
        made = " ".join(_WAYS[way](text, generator, lang).split())
        if made and key(made) != key(text):
            return made
    return ""


def broader(text: str, generator: Generator) -> str:
    """Drop a word that has a meaning; "" for a name with fewer than two such words."""
    words = text.split()
    telling = [at for at, word in enumerate(words) if not _says_little(word)]
    if len(telling) < 2:
        return ""
    at = telling[int(generator.integers(len(telling)))]
    return " ".join(words[:at] + words[at + 1 :]).strip(" ,")


def is_modifier(word: str) -> bool:
    """Tell whether a word may narrow the next words: it has only letters, and a meaning."""
    return word.isalpha() and not _says_little(word)


def _says_little(word: str) -> bool:
    return word.casefold().strip(",") in _FUNCTION_WORDS | _GENERAL_WORDS


def with_slip(text: str, generator: Generator, lang: str = "en") -> str:
    """Drop, double, swap or replace a letter within a word; "" where all words are short."""
    words = [match for match in _WORD.finditer(text) if len(match.group()) >= _LEAST_FOR_TYPO]
    if not words:
        return ""
    word = words[int(generator.integers(len(words)))]
    at = int(generator.integers(word.start() + 1, word.end() - 1))
    before, letter, after = text[:at], text[at], text[at + 1 :]
    other = _LETTERS[int(generator.integers(len(_LETTERS)))]
    changes = ("", letter * 2, f"{after[:1]}{letter}", other)
    change = int(generator.integers(len(changes)))
    return f"{before}{changes[change]}{after[1:] if change == 2 else after}"


def _without_word(text: str, generator: Generator, lang: str) -> str:
    """Drop a word without much meaning."""
    words = text.split()
    droppable = [
        at for at, word in enumerate(words)
        if word.casefold().strip(",") in _FUNCTION_WORDS
        or (word.casefold() in _GENERAL_WORDS and len(words) > 2)
    ]  # fmt: skip
    if len(words) < 2 or not droppable:
        return ""
    at = droppable[int(generator.integers(len(droppable)))]
    return " ".join(words[:at] + words[at + 1 :])


def _with_word(text: str, generator: Generator, lang: str) -> str:
    """Add a word that does not change the meaning, before or after."""
    before, after = _ADDED.get(lang, _ADDED["en"])
    at = int(generator.integers(len(before) + len(after)))
    if at < len(before):
        return f"{before[at]} {text}"
    return f"{text} {after[at - len(before)]}"


def _inflected(text: str, generator: Generator, lang: str) -> str:
    """Change the ending of the last word, as plurals and adjectives do."""
    for ending, other in _ENDINGS:
        if text.endswith(ending) and len(text) > len(ending) + 2:
            return text[: -len(ending)] + other
    return f"{text}s"


def _reordered(text: str, generator: Generator, lang: str) -> str:
    """Change the order of words, such as "lung carcinoma" for "carcinoma of lung"."""
    if ", " in text:
        return " ".join(reversed(text.split(", ")))
    if match := _OF.match(text):
        return f"{match.group(2)} {match.group(1)}"
    first, _, rest = text.rpartition(" ")
    return f"{rest} of {first}" if first and lang == "en" else f"{rest}, {first}" if first else ""


def _joined(text: str, generator: Generator, lang: str) -> str:
    """Write two words as one, or a compound as two."""
    gaps = [match.start() for match in re.finditer(r"(?<=\w)[ -](?=\w)", text)]
    if not gaps:
        return ""
    at = gaps[int(generator.integers(len(gaps)))]
    return text[:at] + text[at + 1 :]


_WAYS: tuple[Callable[[str, Generator, str], str], ...] = (
    with_slip, _without_word, _with_word, _inflected, _reordered, _joined,
)  # fmt: skip
