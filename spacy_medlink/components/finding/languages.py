"""The language of the pipeline: its names, its common words, and the words of its headings."""

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...retrieval.mask import Mask
from ...text.normalisation import key
from ...text.tables import read_table, table_lines

if TYPE_CHECKING:
    from ...retrieval.facets import Facets

_LISTS = Path(__file__).parent / "lists"
_FORMS = ("ing", "ed", "er")  # of ordinary words
_DOUBLE = frozenset("bb dd gg ll mm nn pp rr tt".split())  # "running"
_ANY = frozenset(["", "xx", "mul", "und", "zxx"])  # of names in no language, or in several
# German compounds of a problem: "Spannungskopfschmerz" is a headache.
_COMPOUND = re.compile(
    r".{3,}?((?:kopf|brust|bauch|rücken)?schmerz(?:en)?|fieber|entzündung(?:en)?|krebs|infarkte?|"
    r"blutung(?:en)?|frakture?n?|abszesse?|zysten?|ödeme?|insuffizienz|stenosen?|thrombosen?|"
    r"embolien?|dyspnoe|neuralgien?|arthrosen?|arthritis|karzinome?|tumore?n?|infekte?|"
    r"infektion(?:en)?|versagen|störung(?:en)?|schwäche|lähmung(?:en)?|husten|anfall|anfälle|"
    r"diabetes|asthma|allergien?|ekzeme?|psychosen?|depression(?:en)?|epilepsien?)"
)


def native_names(facets: "Facets", lang: str) -> Mask | None:
    """Find the names in a language, and the names without a language.

    lang (str): of the pipeline.
    RETURNS (Optional[Mask]): None where all may be found: if the language is "xx", or has no name.
        In the latter case the terminology's languages are wrong, or the user wants others.
    """
    langs = [_primary(tag) for tag in facets.langs]
    if _primary(lang) in _ANY or _primary(lang) not in langs:
        return None
    passing = np.array([tag in _ANY or tag == _primary(lang) for tag in langs])
    return None if passing.all() else Mask.of(passing[facets.lang])


@lru_cache
def common_words(lang: str) -> frozenset[str]:
    """Read the keys of words that are common in general language; none for most languages."""
    return frozenset(map(key, _words("common", lang)))


@lru_cache
def words_alone(lang: str) -> frozenset[str]:
    """Read the keys of words that alone are no mention; none for most languages."""
    return common_words(lang) | frozenset(map(key, _words("alone", lang)))


@lru_cache(maxsize=16384)
def is_ordinary(word: str, lang: str) -> bool:
    """Tell whether a word in lower case is an ordinary one, or a form of one: "funding", "tickets".

    It is neither a slip of the pen nor a form of a name; no word is one for most languages.
    """
    words, singular = _ordinary(lang), word.removesuffix("s")
    stems = [word, singular, word.removesuffix("es")]
    stems += [singular[:-2] + "y"] if word.endswith("ies") else []
    for stem in (singular.removesuffix(ending) for ending in _FORMS if singular.endswith(ending)):
        stems += [stem, stem + "e", stem[:-1] if stem[-2:] in _DOUBLE else stem]
    return not words.isdisjoint(stems)


@lru_cache
def _ordinary(lang: str) -> frozenset[str]:
    return frozenset(_words("ordinary", lang))


@lru_cache(maxsize=16384)
def names_of_form(word: str, lang: str) -> tuple[tuple[str, str], ...]:
    """List what a word may stand for by its ending, with the keys: "tachycardia" for "tachycardic".

    word (str): in lower case. Longer endings come first; the head of a compound comes last.
    """
    endings = _endings(lang)
    stems = range(len(word) + 1 if len(word) > 3 else 0)
    names = [word[:stem] + other for stem in stems for other in endings.get(word[stem:], ())]
    compound = _COMPOUND.fullmatch(word) if _primary(lang) == "de" else None
    of_head = (
        [(compound[1], key(compound[1])), *names_of_form(compound[1], lang)] if compound else []
    )
    return tuple(dict.fromkeys([*((name, key(name)) for name in names), *of_head]))


@lru_cache
def _endings(lang: str) -> dict[str, list[str]]:
    """Read the endings of words, with those of the names that they stand for.

    "émic(o,a):emia" is "émico:emia" and "émica:emia".
    """
    names: dict[str, list[str]] = {}
    for pair in _words("endings", lang):
        ending, _, name = pair.replace("_", " ").partition(":")
        stem, _, forms = ending.rstrip(")").partition("(")
        for form in forms.split(","):
            names.setdefault(stem + form, []).append(name)
    return names


@lru_cache
def heading_words(lang: str) -> frozenset[str]:
    """Read the keys of the words that headings of sections are made of; none for most languages."""
    return frozenset(part for word in _words("headings", lang) for part in key(word).split())


@lru_cache
def words_beside() -> dict[str, frozenset[str]]:
    """Read the groups of words that show what stands beside them: titles, roles, streets."""
    groups = (line.partition(": ") for line in lines_of("beside", "en"))
    return {group: frozenset(words.split()) for group, _, words in groups}


@lru_cache
def words_within(lang: str) -> dict[str, list[str]]:
    """Read the words that notes write short within a name, with what they may stand for."""
    entries = (line.partition(": ") for line in lines_of("within", lang))
    return {short: readings.split(", ") for short, _, readings in entries}


def lines_of(name: str, lang: str) -> list[str]:
    """Read the lines of a list of a language; none where it has none."""
    path = _LISTS / f"{name}.{_primary(lang)}.txt"
    return [line for _, line in table_lines(read_table(path))] if path.is_file() else []


def _words(name: str, lang: str) -> list[str]:
    return [word for line in lines_of(name, lang) for word in line.split()]


def _primary(lang: str) -> str:
    return lang.lower().replace("_", "-").partition("-")[0]
