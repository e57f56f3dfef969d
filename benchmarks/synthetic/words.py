"""Names of concepts, composed of invented words.

A name is up to five pieces, each looked up in a list:

    prefix + head + joint + site + suffix      "acute velandritis of the tromidum, sarbal"

No two choices of pieces give the same string, so a name is known by numbers alone.
"""

from functools import lru_cache

import numpy as np

from benchmarks.synthetic.draws import Bits, Ints, bits, draw, unit
from benchmarks.synthetic.languages import (
    HEADS,
    LANGUAGES,
    MODIFIERS,
    SITES,
    Language,
    inflect,
    stem_maker,
)

PREFIXES = 1 << 10  # entry PREFIXES is the empty prefix
SUFFIXES = 1 << 10  # entry SUFFIXES is the empty suffix
CORE_BITS = 26  # the number of a (head, site): what names of a concept have in common
JOINTS = 6
COMPOUND = 5  # the joint that glues the stem of the head to the site
STYLES = 3  # as composed, first letter capital, all capitals
PLAIN_ENGLISH = """acute chronic left right severe mild recurrent bilateral primary secondary
congenital acquired diffuse focal benign malignant""".split()


def modifier_phrases() -> list[tuple[int, ...]]:
    """Choose the one to three modifiers of every prefix, common ones more often.

    RETURNS (list[tuple[int, ...]]): numbers of modifiers, all tuples different.
    """
    phrases: list[tuple[int, ...]] = [(i,) for i in range(440)]
    random = unit(draw(0, 97, np.arange(20_000))) ** 2 * MODIFIERS
    choices = iter(random.astype(int).tolist())
    known = set(phrases)
    while len(phrases) < PREFIXES:
        length = 2 if len(phrases) < 900 else 3
        phrase = tuple(next(choices) for _ in range(length))
        if len(set(phrase)) == length and phrase not in known:
            known.add(phrase)
            phrases.append(phrase)
    return phrases


class Lexicon:
    """The pieces of names, in one list a kind with the languages one after the other.

    count (int): number of languages, the largest first.
    """

    def __init__(self, count: int) -> None:
        if not 1 <= count <= len(LANGUAGES):
            raise ValueError(f"there are 1 to {len(LANGUAGES)} languages, not {count}")
        self.languages = LANGUAGES[:count]
        self.prefixes: list[str] = []
        self.heads: list[str] = []
        self.joints: list[str] = []
        self.sites: list[str] = []
        self.suffixes: list[str] = []
        for language in self.languages:
            self._add(language)
        self.cased = np.array([language.cased for language in self.languages])

    def _add(self, language: Language) -> None:
        stems = stem_maker(language, 0)
        heads = inflect(stems, language.heads)
        sites = inflect(stem_maker(language, 1), language.sites)
        modifiers = inflect(stem_maker(language, 2), language.modifiers)
        if language.lat == "ENG":
            modifiers[: len(PLAIN_ENGLISH)] = PLAIN_ENGLISH
        gap = language.gap
        of, of_the, with_ = (f"{gap}{word}{gap}" for word in language.joints.split("|"))
        link = (
            "o"
            if language.script == "latin"
            else {"cyrillic": "о", "greek": "ο"}.get(language.script, "")
        )
        self.heads += heads + [stem + link for stem in stems]
        self.sites += sites
        self.joints += [of, of_the, f",{gap}", "/", "-", ""]
        self.prefixes += [
            "".join(modifiers[i] + gap for i in phrase) for phrase in modifier_phrases()
        ] + [""]
        for i in range(SUFFIXES):
            self.suffixes.append(self._suffix(i, heads, sites, modifiers, gap, with_))
        self.suffixes.append("")

    @staticmethod
    def _suffix(
        i: int, heads: list[str], sites: list[str], modifiers: list[str], gap: str, with_: str
    ) -> str:
        kind, j = i % 8, i // 8
        return (
            f" type {j + 1}",
            f" {5 * j + 5} mg",
            f" ({sites[j * 61]})",
            f",{gap}{modifiers[j * 3]}",
            f" [{chr(65 + j % 26)}{j:02d}.{j % 10}]",
            f"{with_}{modifiers[j * 2]}{gap}{sites[j * 63]}",
            f"{with_}{modifiers[j]}{gap}{heads[j * 59]}",
            f"-{j + 1}",
        )[kind]

    def names(
        self, language: Ints, core: Ints, number: Ints, concept: Bits, name: Bits, style: Ints
    ) -> list[str]:
        """Compose names. Different (language, core, number) give different strings.

        language (Ints): position in `languages`, (n,). core (Ints): head and site, (n,).
        number (Ints): number of the name within its concept, (n,).
        concept, name (Bits): random bits of the concept and of the name, (n,).
        style (Ints): 0 as composed, 1 first letter capital, 2 all capitals, (n,).
        RETURNS (list[str]): n strings.
        """
        prefix, joint, suffix = choose_pieces(number, concept, name)
        heads = language * (2 * HEADS) + (core >> 13) + np.where(joint == COMPOUND, HEADS, 0)
        pieces = zip(
            (language * (PREFIXES + 1) + prefix).tolist(),
            heads.tolist(),
            (language * JOINTS + joint).tolist(),
            (language * SITES + (core & (SITES - 1))).tolist(),
            (language * (SUFFIXES + 1) + suffix).tolist(),
            strict=True,
        )
        p, h, j, s, x = self.prefixes, self.heads, self.joints, self.sites, self.suffixes
        out = [f"{p[a]}{h[b]}{j[c]}{s[d]}{x[e]}" for a, b, c, d, e in pieces]
        for i in np.flatnonzero(style == 1).tolist():
            out[i] = out[i][0].upper() + out[i][1:]
        for i in np.flatnonzero(style == 2).tolist():
            out[i] = out[i].upper()
        return out


def choose_pieces(number: Ints, concept: Bits, name: Bits) -> tuple[Ints, Ints, Ints]:
    """Choose prefix, joint and suffix so that no two names of a concept have the same three.

    The first names of a concept may be plain, each with another joint. The others take their prefix
    and suffix by odd steps through the lists, which come back only after a thousand names.

    number (Ints): number of the name within its concept, (n,).
    concept, name (Bits): random bits of the concept and of the name, (n,).
    RETURNS (tuple[Ints, Ints, Ints]): prefixes, joints, suffixes, each (n,).
    """
    plain = (number < JOINTS) & (bits(name, 0, 6) < 18)
    has_prefix = ~plain & (bits(name, 6, 6) < 44)
    has_suffix = ~plain & (~has_prefix | (bits(name, 12, 6) < 24))
    prefix = bits(concept, 0, 10) + number * (2 * bits(concept, 10, 9) + 1)
    suffix = bits(concept, 20, 10) + number * (2 * bits(concept, 30, 9) + 1)
    joint = np.where(plain, (bits(concept, 40, 8) + number) % JOINTS, bits(name, 18, 8) % JOINTS)
    return (
        np.where(has_prefix, prefix % PREFIXES, PREFIXES),
        joint,
        np.where(has_suffix, suffix % SUFFIXES, SUFFIXES),
    )


@lru_cache(maxsize=4)
def lexicon(count: int) -> Lexicon:
    """Give the lexicon of the largest `count` languages, made once.

    count (int): number of languages.
    RETURNS (Lexicon): the lexicon.
    """
    return Lexicon(count)
