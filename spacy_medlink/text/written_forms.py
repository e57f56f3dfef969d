"""Written forms: what the words of a text may stand for, in a language.

"Tachycardic" stands for tachycardia, and "LV hypertrophy" for left ventricular hypertrophy. The
names of a terminology decide which of several are meant.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice, product

from .normalisation import key
from .said_otherwise import phrases_of
from .word_lists import lines_of, primary_tag, words_of

# German compounds of a problem: "Spannungskopfschmerz" is a headache.
_COMPOUND = re.compile(
    r".{3,}?((?:kopf|brust|bauch|rücken)?schmerz(?:en)?|fieber|entzündung(?:en)?|krebs|infarkte?|"
    r"blutung(?:en)?|frakture?n?|abszesse?|zysten?|ödeme?|insuffizienz|stenosen?|thrombosen?|"
    r"embolien?|dyspnoe|neuralgien?|arthrosen?|arthritis|karzinome?|tumore?n?|infekte?|"
    r"infektion(?:en)?|versagen|störung(?:en)?|schwäche|lähmung(?:en)?|husten|anfall|anfälle|"
    r"diabetes|asthma|allergien?|ekzeme?|psychosen?|depression(?:en)?|epilepsien?)"
)
_FORMS = ("ing", "ed", "er")  # of ordinary words
_DOUBLE = frozenset("bb dd gg ll mm nn pp rr tt".split())  # "running"
_MOST = 2  # short words of a name: with more, a list of them would have millions of ways


def in_full(text: str, lang: str) -> tuple[str, ...]:
    """List what a text may stand for by a list, its ending, or the words that it writes short.

    EXAMPLE:
        >>> in_full("AV fistula", "en")
        ('atrioventricular fistula', 'arteriovenous fistula', 'aortic valve fistula')
    """
    words = text.split()
    said = tuple(name for name, _ in phrases_of(lang).names.get(key(text), ()))
    if len(words) == 1 and not text.isupper():
        return said + tuple(name for name, _ in names_of_form(text.lower(), lang))
    return said + ways_in_full(words, words_within(lang))


def ways_in_full(words: Sequence[str], short: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """List the ways to read several words of which one or two are short, besides as written."""
    if len(words) < 2 or not 0 < sum(map(short.__contains__, words)) <= _MOST:
        return ()
    ways = product(*([word, *short.get(word, ())] for word in words))
    return tuple(islice(map(" ".join, ways), 1, None))


@lru_cache
def words_within(lang: str) -> dict[str, list[str]]:
    """Read the words that notes write short within a name, with what they may stand for."""
    entries = (line.partition(": ") for line in lines_of("within", lang))
    return {short: readings.split(", ") for short, _, readings in entries}


@lru_cache(maxsize=16384)
def names_of_form(word: str, lang: str) -> tuple[tuple[str, str], ...]:
    """List what a word may stand for by its ending, with the keys: "tachycardia" for "tachycardic".

    word (str): in lower case. Longer endings come first; the head of a compound comes last.
    """
    endings = _endings(lang)
    shortest = max(len(word) - max(map(len, endings), default=0), 0)  # as far as endings reach
    stems = range(shortest, len(word) + 1 if len(word) > 3 else 0)
    names = [word[:stem] + other for stem in stems for other in endings.get(word[stem:], ())]
    compounds = _compounds(lang)
    compound = compounds.fullmatch(word) if compounds else None
    of_head = (
        [(compound[1], key(compound[1])), *names_of_form(compound[1], lang)] if compound else []
    )
    return tuple(dict.fromkeys([*zip(names, map(key, names), strict=True), *of_head]))


@lru_cache
def _endings(lang: str) -> dict[str, list[str]]:
    """Read the endings of words, with those of the names that they stand for.

    "émic(o,a):emia" is "émico:emia" and "émica:emia".
    """
    names: dict[str, list[str]] = {}
    for pair in words_of("endings", lang):
        ending, _, name = pair.replace("_", " ").partition(":")
        stem, _, forms = ending.rstrip(")").partition("(")
        for form in forms.split(","):
            names.setdefault(stem + form, []).append(name)
    return names


@lru_cache
def _compounds(lang: str) -> re.Pattern[str] | None:
    return _COMPOUND if primary_tag(lang) == "de" else None


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
    return frozenset(words_of("ordinary", lang))
