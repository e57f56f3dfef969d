"""Ways of writing that are made of names: lists, signs, letters, case, slips, and word forms.

Each maker takes names that are linked alone, with their links, and yields cases. What they are put
into stands in `templates.json`.
"""

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from html.entities import codepoint2name
from random import Random

from benchmarks.reading.cases import DATA, Case, Place, fill

Named = tuple[str, str]  # a name, and the id that it is linked to

TEMPLATES = json.loads((DATA / "templates.json").read_text(encoding="utf-8"))
SLIPS = ("left out", "doubled", "transposed", "next key")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEAR = {
    key: row[max(0, i - 1) : i] + row[i + 1 : i + 2] for row in _KEYS for i, key in enumerate(row)
}
_CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "Title": lambda name: re.sub(r"[^\W\d_]+('s)?", lambda x: x[0].capitalize(), name.lower()),
    "UPPER": str.upper,
    "Sentence": lambda name: name[:1].upper() + name[1:].lower(),
}
_ENTITIES = {code: f"&{entity};" for code, entity in codepoint2name.items()}
LETTERS: dict[str, Callable[[str], str]] = {
    "without accents": lambda name: re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", name)),  # noqa: E501
    "combining marks": lambda name: unicodedata.normalize("NFD", name),
    "precomposed": lambda name: unicodedata.normalize("NFC", name),
    "fullwidth letters": lambda name: re.sub("[!-~]", lambda x: chr(ord(x[0]) + 0xFEE0), name),
    "numbered entities": lambda name: name.encode("ascii", "xmlcharrefreplace").decode(),
    "named entities": lambda name: html.unescape(name).translate(_ENTITIES),
    "entities of a KB": html.unescape,
}  # fmt: skip
# Spellings of some languages; who types German without its letters types "ae", not "a".
_LANGUAGES = {
    **{
        f"{a} for {b}": "de en"
        for x in ("ä ae", "ö oe", "ü ue", "ß ss")
        for a, b in (x.split(), x.split()[::-1])
    },
    "without accents": "en es fr it",
}


def lists(names: Sequence[Named], rng: Random, most: int) -> Iterator[Case]:
    """R1: lists of three names, half of them with their last word in common."""
    groups: dict[str, list[Named]] = {}
    for name in names:
        groups.setdefault(name[0].split()[-1].lower(), []).append(name)
    alike = [group for group in groups.values() if len(group) >= 3] or [[*names]]
    separated = (separator.join(("{0}", "{1}", "{2}")) for separator in TEMPLATES["separators"])
    for template in (*separated, *TEMPLATES["lists"]):
        for row in range(most):
            drawn = rng.choice(alike) if row % 2 else [*names]
            yield Case("R1 lists", repr(template), *fill(template, rng.sample(drawn, 3)))


def clauses(names: Sequence[Named], rng: Random, most: int) -> Iterator[Case]:
    """R1: words of a name on both sides of a border, and names that run over a wrapped line."""
    for template in TEMPLATES["clauses"]:
        for row, (name, _) in enumerate(rng.sample([*names], min(most, len(names)))):
            # In the reverse order of words, a comma may be part of a name.
            words = name.lower().split()[:: -1 if row % 2 and "}, " not in template else 1]
            words = [x.capitalize() if f"{i}^" in template else x for i, x in enumerate(words)]
            text, (first, second) = fill(template.replace("^", ""), [(x, "") for x in words])
            yield Case("R1 clauses", repr(template), text, (Place(first.end, second.start),))
    for template in TEMPLATES["wrapped"]:
        for name, id in rng.sample([*names], min(most, len(names))):
            text, (first, second) = fill(template, [(x, id) for x in name.lower().split()])
            yield Case("R1 clauses", "wrapped line", text, (first._replace(end=second.end),))


def signs(names: Sequence[Named], rng: Random, most: int) -> Iterator[Case]:
    """R2: signs that touch a name, between two names, before and after one, and other glue."""
    for sign in TEMPLATES["signs"]:
        between = [] if sign in TEMPLATES["joining"] else [f"{{0}}{sign}{{1}}"]
        for template in (*between, f"Has {sign}{{0}} today", f"Has {{0}}{sign} today"):
            for _ in range(max(1, most // 8)):
                yield Case("R2", sign, *fill(template, rng.sample([*names], 2)))
    for template in TEMPLATES["glued"]:
        for _ in range(max(1, most // 4)):
            yield Case("R2", template, *fill(template, rng.sample([*names], 3)))


def write_letters(way: str, name: str) -> str:
    """Write a name with other signs for the same letters; as it is, where the way has none."""
    for old, new in TEMPLATES["letters"].get(way, ()):
        if not re.search("&[#a-z0-9]+;", name):
            name = re.sub(old, new, name)
    return LETTERS[way](name) if way in LETTERS else name


def letters(names: Sequence[Named], rng: Random, most: int, lang: str) -> Iterator[Case]:
    """R3: names with other signs for the same letters."""
    for way in (*TEMPLATES["letters"], *LETTERS):
        if lang in _LANGUAGES.get(way, lang):
            texts = (
                (write_letters(way, name), name, id)
                for name, id in rng.sample([*names], len(names))
            )
            for text, _, id in _first(texts, most):
                yield Case("R3", way, *fill(rng.choice(TEMPLATES["carriers"][lang]), [(text, id)]))


def cases(names: Sequence[Named]) -> Iterator[Case]:
    """R4: a name in lower, Title, UPPER and Sentence case has the same link."""
    for name, id in names:
        for way, change in _CASES.items():
            yield Case("R4", way, *fill(TEMPLATES["cased"][way], [(change(name), id)]))


def slip(name: str, way: str, rng: Random) -> str:
    """Make one slip of the pen in the longest word of a name, behind its first letter."""
    word = max(re.finditer(r"[a-z]+", name), key=lambda match: len(match[0]))
    spot = rng.randrange(word.start() + 1, word.end() - (way == "transposed"))
    old, after = name[spot], name[spot + 1 :]
    new = dict(zip(SLIPS, ("", old * 2, after[:1] + old, rng.choice(_NEAR[old])), strict=True))[way]
    return name[:spot] + new + after[way == "transposed" :]


def slips(names: Sequence[Named], rng: Random, most: int, taken: set[str]) -> Iterator[Case]:
    """R8: one slip of the pen, as a given mention and in a text."""
    for way in SLIPS:
        for name, id in rng.sample([*names], min(most, len(names))):
            if (text := slip(name, way, rng)).lower() not in taken:
                yield Case("R8 given", way, *fill("{0}", [(text, id)]), given=True)
                template = rng.choice(TEMPLATES["carriers"]["en"])
                yield Case("R8 found", way, *fill(template, [(text, id)]))


def forms(names: Sequence[Named], rng: Random, most: int, taken: set[str]) -> Iterator[Case]:
    """R13: plurals, singulars and spellings, where these are no names themselves."""
    for way, old, new in TEMPLATES["forms"]:
        texts = (
            (re.sub(old, new, name), name, id) for name, id in rng.sample([*names], len(names))
        )
        for text, _, id in _first((x for x in texts if x[0].lower() not in taken), most):
            yield Case("R13", way, *fill(TEMPLATES["carriers"]["en"][0], [(text, id)]))


def _first(texts: Iterator[tuple[str, str, str]], most: int) -> list[tuple[str, str, str]]:
    """Take the first texts that are not their names."""
    changed = (x for x in texts if x[0] != x[1])
    return [x for _, x in zip(range(most), changed, strict=False)]
