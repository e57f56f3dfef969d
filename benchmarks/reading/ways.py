"""Ways of writing that are made of names: lists, signs, letters, case, slips, and word forms.

Each maker takes names that are linked alone, with their links, and yields cases.
"""

import html
import json
import random
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from html.entities import codepoint2name

from benchmarks.reading.cases import DATA, Case, Place, fill

Named = tuple[str, str]  # a name, and the id that it is linked to

_TEMPLATES = json.loads((DATA / "templates.json").read_text(encoding="utf-8"))
# R1: what stands between the three names of a list, and whole lists.
SEPARATORS: list[str] = _TEMPLATES["separators"]
LISTS: list[str] = _TEMPLATES["lists"]
# R1: borders between two words of a name; {1^} begins with a capital. In the reverse order of words
# a comma may be part of a name.
CLAUSES: list[str] = _TEMPLATES["clauses"]
_REVERSED = {template for template in CLAUSES if "}, " not in template}

# R2. Signs that touch a name.
SIGNS = string.punctuation + "•·→←↑↓⇒–—…“”„‘’«»‹›¿¡§¶†‡°±×÷≥≤≈≠✓✔✗✘☐☑■□▪●○★™®©€¦¬′″‑"
_JOINING = "-'’‘–‑′"  # between two names these may join them to a word
GLUED: list[str] = _TEMPLATES["glued"]
CARRIERS: dict[str, list[str]] = _TEMPLATES["carriers"]
FORMS: list[tuple[str, str, str]] = _TEMPLATES["forms"]

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "kappa": "κ"}
_GREEK_WORDS = {letter: word for word, letter in _GREEK.items()}
_ROMAN = {"II": "Ⅱ", "III": "Ⅲ", "IV": "Ⅳ", "VI": "Ⅵ", "XII": "Ⅻ"}
_ROMAN_WORD = re.compile(r"\b(?:XII|VI|IV|III|II)\b")
_GREEK_WORD = re.compile(rf"(?<![a-z])({'|'.join(_GREEK)})(?![a-z])", re.I)
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(0, i - 1) : i] + row[i + 1 : i + 2] for row in _KEYS for i, key in enumerate(row)
}


def _swap(old: str, new: str) -> Callable[[str, random.Random], str]:
    return lambda name, _: name.replace(old, new)


def _one(old: str, new: str) -> Callable[[str, random.Random], str]:
    """Write one of the places that a pattern finds in another way."""

    def put(name: str, rng: random.Random) -> str:
        spots = list(re.finditer(old, name)) if "&" not in name else []
        if not spots:
            return name
        spot = rng.choice(spots)
        return name[: spot.start()] + new + name[spot.end() :]

    return put


def _within(sign: str) -> Callable[[str, random.Random], str]:
    """Put a sign between two letters of a longer word."""

    def put(name: str, rng: random.Random) -> str:
        spots = [found.start() + 3 for found in re.finditer(r"[^\W\d_]{6}", name)]
        if not spots:
            return name
        spot = rng.choice(spots)
        return name[:spot] + sign + name[spot:]

    return put


def _entities(name: str, _: random.Random) -> str:
    if "&" in name and ";" in name:
        return name
    return "".join(f"&{codepoint2name[ord(x)]};" if ord(x) in codepoint2name else x for x in name)


def _numbered(name: str, _: random.Random) -> str:
    return "".join(f"&#{ord(x)};" if ord(x) > 127 else x for x in name)


def _called(sign: str) -> str:
    return unicodedata.name(sign).lower()


def _plain(sign: str) -> str:
    return unicodedata.normalize("NFKC", sign)


def _greek_entity(name: str, rng: random.Random) -> str:
    return _GREEK_WORD.sub(lambda found: f"&{found[0].lower()};", name)


def _no_marks(name: str, _: random.Random) -> str:
    return "".join(x for x in unicodedata.normalize("NFD", name) if not unicodedata.combining(x))


def _wide(name: str, _: random.Random) -> str:
    return "".join(chr(ord(x) + 0xFEE0) if "!" <= x <= "~" else x for x in name)


def _lowered(name: str, _: random.Random) -> str:
    return re.sub(r"(?<=[A-Za-z])\d", lambda found: chr(0x2080 + int(found[0])), name)


# Where "ae", "oe" and "ue" are one sound: Greek roots, and names of persons.
_SOUNDS = {
    "ä": r"(?<=[HhPpCcFfGgnl])ae(?=m|s|d|c|v)|ae(?=mi|tio)",
    "ö": r"(?<=[FfCcm])oe(?=[tlb])|(?<=rrh|.pn)oe(?=a)|\b[Oo]e(?=[ds])|(?<=\b[A-Z])oe(?=[bdfghlr])",
    "ü": r"(?<=\b[BDFGHKLMR])ue(?=[bcdfghklmnrstz])",
}
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
LETTERS: dict[str, Callable[[str, random.Random], str]] = {
    "Greek letter": lambda name, _: _GREEK_WORD.sub(lambda x: _GREEK[x[0].lower()], name),
    "Greek word": lambda name, _: re.sub("[αβγδεκ]", lambda x: _GREEK_WORDS[x[0]], name),
    "ß for beta": lambda name, _: re.sub(r"(?<![a-z])beta(?![a-z])", "ß", name, flags=re.I),
    "Greek entity": _greek_entity,
    **{f"hyphen {_called(x)}": _swap("-", x) for x in "‐‑‒–−﹣－"},
    **{f"apostrophe {_called(x)}": _swap("'", x) for x in "’‘′`´ʼ＇"},
    "œ for oe": _one(_SOUNDS["ö"], "œ"),
    "æ for ae": _one(_SOUNDS["ä"], "æ"),
    "ı for i": lambda name, _: name.replace("i", "ı") if "&" not in name else name,
    **{f"{new} for {old}": _one(old, new) for new, old in ("łl", "øo", "đd")},
    **{f"{new} for {_plain(new)}": _swap(_plain(new), new) for new in "ﬁﬂﬀﬃ"},
    **{f"{new} for {_UMLAUTS[new]}": _one(old, new) for new, old in _SOUNDS.items()},
    **{f"{old} for {new}": _swap(new, old) for new, old in _UMLAUTS.items()},
    "without accents": _no_marks,
    "combining marks": lambda name, _: unicodedata.normalize("NFD", name),
    "precomposed": lambda name, _: unicodedata.normalize("NFC", name),
    **{f"{_called(x)} in a word": _within(x) for x in "\u200b\u200c\u200d\u2060\ufeff\u00ad"},
    "hyphen at a line end": _within("-\n"),
    "soft hyphen at a line end": _within("\u00ad\n"),
    "hyphen at an indented line end": _within("-\r\n   "),
    **{f"{_called(x)} for a space": _swap(" ", x) for x in "\u00a0\u2009\u202f\u3000"},
    "two spaces": _swap(" ", "  "),
    "&nbsp;": _swap(" ", "&nbsp;"),
    "named entities": _entities,
    **{x: _swap("'", x) for x in ("&#39;", "&apos;", "&rsquo;", "&#x27;")},
    "numbered entities": _numbered,
    "entities of a KB": lambda name, _: html.unescape(name),
    "fullwidth letters": _wide,
    "lowered digits": _lowered,
    "Roman numeral signs": lambda name, _: _ROMAN_WORD.sub(lambda x: _ROMAN[x[0]], name),
}  # fmt: skip
# Spellings that are a letter's in some languages only.
_OF_LANGUAGES = {
    **{f"{a} for {b}": "de en" for a, b in _UMLAUTS.items()},
    **{f"{b} for {a}": "de en" for a, b in _UMLAUTS.items()},
}

CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "Title": lambda name: re.sub(r"[^\W\d_]+('s)?", lambda x: x[0].capitalize(), name.lower()),
    "UPPER": str.upper,
    "Sentence": lambda name: name[:1].upper() + name[1:].lower(),
}


def lists(names: Sequence[Named], rng: random.Random, most: int) -> Iterator[Case]:
    """R1: lists of three names, half of them with a word in common."""
    groups = _same_last_word(names)
    templates = [(repr(sep)[1:-1], sep.join(("{0}", "{1}", "{2}"))) for sep in SEPARATORS]
    for way, template in [*templates, *((repr(one)[1:-1], one) for one in LISTS)]:
        for number in range(most):
            own = rng.choice(groups) if groups and number % 2 else names
            yield Case("R1 lists", way, *fill(template, rng.sample(list(own), 3)))


def _same_last_word(names: Sequence[Named]) -> list[list[Named]]:
    groups: dict[str, list[Named]] = {}
    for name in names:
        if " " in name[0]:
            groups.setdefault(name[0].split()[-1].lower(), []).append(name)
    return [group for group in groups.values() if len(group) >= 3]


def clauses(names: Sequence[Named], rng: random.Random, most: int) -> Iterator[Case]:
    """R1: words of a name on both sides of a border, and names that run over a wrapped line."""
    for template in CLAUSES:
        for number, (name, _) in enumerate(rng.sample(list(names), min(most, len(names)))):
            words = name.split()
            if number % 2 and template in _REVERSED:
                words.reverse()
            yield Case("R1 clauses", repr(template)[1:-1], *_border(template, words))
    for template in _TEMPLATES["wrapped"]:
        for name, id in rng.sample(list(names), min(most, len(names))):
            text, places = fill(template, [(word.lower(), id) for word in name.split()])
            whole = places[0]._replace(end=places[1].end)
            yield Case("R1 clauses", "wrapped line", text, (whole,))


def _border(template: str, words: list[str]) -> tuple[str, tuple[Place, ...]]:
    names = [
        (word.capitalize() if f"{{{row}^}}" in template else word.lower(), "")
        for row, word in enumerate(words)
    ]
    text, (first, second) = fill(template.replace("^", ""), names)
    return text, (Place(first.end, second.start),)


def signs(names: Sequence[Named], rng: random.Random, most: int) -> Iterator[Case]:
    """R2: signs that touch a name, between two names, before and after one, and other glue."""
    for sign in SIGNS:
        between = () if sign in _JOINING else ("{0}%s{1}",)
        for template in (*between, "Has %s{0} today", "Has {0}%s today"):
            for _ in range(max(1, most // 8)):
                yield Case("R2", sign, *fill(template % sign, rng.sample(list(names), 2)))
    for template in GLUED:
        for _ in range(max(1, most // 4)):
            yield Case("R2", repr(template)[1:-1], *fill(template, rng.sample(list(names), 3)))


def is_special(name: str) -> bool:
    """Say whether a name has signs or letters that few names have, which R3 writes differently."""
    rare = re.search(r"['&\u0080-\uffff]|[ao]e|ue|ff|f[il]|[A-Za-z]\d|\bI[IV]\b", name)
    return bool(rare or _GREEK_WORD.search(name))


def letters(names: Sequence[Named], rng: random.Random, most: int, lang: str) -> Iterator[Case]:
    """R3: names with other signs for the same letters."""
    carriers = CARRIERS[lang]
    for way, change in LETTERS.items():
        if lang not in _OF_LANGUAGES.get(way, lang):
            continue
        found = 0
        for name, id in rng.sample(list(names), len(names)):
            if found < most and (text := change(name, rng)) != name:
                found += 1
                yield Case("R3", way, *fill(rng.choice(carriers), [(text, id)]))


def cases(names: Sequence[Named], rng: random.Random, most: int) -> Iterator[Case]:
    """R4: a name in lower, Title, UPPER and Sentence case has the same link."""
    own = [name for name in names if not re.search(r"[A-Z][A-Z0-9]|\w[A-Z]", name[0])]
    for name, id in rng.sample(own, min(most, len(own))):
        for way, change in CASES.items():
            yield Case("R4", way, *fill(_TEMPLATES["cased"][way], [(change(name), id)]))


def slip(name: str, way: str, rng: random.Random) -> str:
    """Make one mistake of the pen in the longest word of a name, behind its first letter."""
    word = max(re.finditer(r"[a-z]+", name), key=lambda found: len(found[0]))
    spot = rng.randrange(word.start() + 1, word.end() - (way == "transposed"))
    before, letter, after = name[:spot], name[spot], name[spot + 1 :]
    if way == "left out":
        return before + after
    if way == "doubled":
        return before + letter * 2 + after
    if way == "transposed":
        return before + after[:1] + letter + after[1:]
    return before + rng.choice(_NEIGHBOURS[letter]) + after


def slips(names: Sequence[Named], rng: random.Random, most: int, known: set[str]) -> Iterator[Case]:
    """R8: one slip of the pen, as a given mention and in a text."""
    for way in ("left out", "doubled", "transposed", "next key"):
        for name, id in rng.sample(list(names), min(most, len(names))):
            text = slip(name, way, rng)
            if text.lower() not in known:
                yield Case("R8 given", way, *fill("{0}", [(text, id)]), given=True)
                yield Case("R8 found", way, *fill(rng.choice(CARRIERS["en"]), [(text, id)]))


def forms(names: Sequence[Named], rng: random.Random, most: int, known: set[str]) -> Iterator[Case]:
    """R13: plurals, singulars and spellings."""
    for way, old, new in FORMS:
        found = 0
        for name, id in rng.sample(list(names), len(names)):
            text = re.sub(old, new, name)
            if found < most and text != name and text.lower() not in known:
                found += 1
                yield Case("R13", way, *fill("She has {0} since May.", [(text, id)]))
