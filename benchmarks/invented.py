"""Names of invented concepts, made of invented words; the number of a name determines it.

A name has up to five pieces: prefix, head, joint, site, suffix. An example is
"acute velandritis of the tromidum, sarbal". Names of a concept share head and site.
"""

from functools import cache
from random import Random
from typing import Literal, NamedTuple

_CORE, _NAME, _REDRAWN_NAME = range(3)  # streams of draws
_WORDS, _MODIFIERS = 1 << 13, 1 << 10  # heads and sites of a language; its modifiers
_ONSETS = "b c d f g l m n p r s t v z h c th ph st tr br cl dr gl pr".split()
_MIDDLES = "l r n m v d b g s t ndr rt mb lg rn nt st xt rv gn tr br ld rm".split()
_LATIN, _KANA = "abcdefghilmnoprstuvxz", "アイウエオカキクケコサシスセソタチツテトナ"


class Language(NamedTuple):
    """How names are made in a language.

    weight (int): its share of names, in hundredths. joints (List[str]): between head and site.
    heads, sites, modifiers (str): endings of words.
    """

    weight: int
    joints: list[str]
    heads: str
    sites: str
    modifiers: str


# Heads go with semantic types (`umls.TYPES`), so English has as many endings as there are types.
LANGUAGES = {
    "ENG": Language(
        70, [" of ", " of the ", " with ", ", ", "-", " "],
        "itis oma osis algia uria ectomy azole ase", "um us a is on", "al ic ous ar oid",
    ),
    "SPA": Language(
        20, [" de ", " de la ", " con ", ", ", "-", " "],
        "itis oma osis algia uria ectomía azol asa", "o a io us", "al ico ario oso",
    ),
    "JPN": Language(
        10, ["の", "における", "を伴う"], "炎 腫 症 痛 尿 術 薬 酵素", "部 骨 腺", "性 型"
    ),
}  # fmt: skip
_WEIGHTS = [language.weight for language in LANGUAGES.values()]


def draws_of(seed: int, stream: int, thing: int) -> Random:
    """Get the random numbers that decide one thing, so that they can be drawn again."""
    return Random((seed << 48) + (stream << 40) + thing)


def head_of(seed: int, concept: int) -> int:
    """Draw the number of the word that names the kind of a concept."""
    return draws_of(seed, _CORE, concept).randrange(_WORDS)


def invent_name(
    seed: int, number: int, concept: int, is_first: bool, is_redrawn: bool = False
) -> tuple[str, str]:
    """Invent a name of a concept. RETURNS: its language and the name.

    is_first (bool): the first name of a concept is English. is_redrawn (bool): the text that a
        later release has in its place.
    """
    draws = draws_of(seed, _REDRAWN_NAME if is_redrawn else _NAME, number)
    # Some synonyms have words of their own.
    has_own_words = not is_first and draws.random() < 1 / 5
    core = draws if has_own_words else draws_of(seed, _CORE, concept)
    lat = "ENG" if is_first else draws.choices([*LANGUAGES], _WEIGHTS)[0]
    head = _word(lat, "heads", core.randrange(_WORDS))
    site = _word(lat, "sites", core.randrange(_WORDS))
    modifier = _word(lat, "modifiers", draws.randrange(_MODIFIERS))
    gap = "" if lat == "JPN" else " "
    prefix = modifier + gap if draws.random() < 0.5 else ""
    endings = (
        f" type {draws.randrange(99)}",
        f" ({site})",
        f",{gap}{modifier}",
        f" {draws.randrange(999)} mg",
    )
    suffix = draws.choice(("", "", "", *endings))
    text = f"{prefix}{head}{draws.choice(LANGUAGES[lat].joints)}{site}{suffix}"
    return lat, draws.choice((str.lower, str.capitalize, str.capitalize, str.upper))(text)


@cache
def _word(lat: str, part: Literal["heads", "sites", "modifiers"], word_number: int) -> str:
    """Spell a word; stems differ for all numbers below 24 * 5 * 24 * 5 * 24."""
    rest, word = word_number * 104_729 % (len(_ONSETS) * 25 * len(_MIDDLES) ** 2), ""
    for letters in (_ONSETS, "aeiou", _MIDDLES, "aeiou", _MIDDLES):
        rest, letter = divmod(rest, len(letters))
        word += letters[letter]
    if lat == "JPN":
        word = word.translate(str.maketrans(_LATIN, _KANA))
    endings = str(getattr(LANGUAGES[lat], part)).split()
    return word + endings[word_number % len(endings)]
