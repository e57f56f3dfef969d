"""Names of invented concepts, made of invented words; the number of a name determines it.

A name has up to five pieces: prefix, head, joint, site, suffix. An example is
"acute velandritis of the tromidum, sarbal". Names of a concept share head and site.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from benchmarks.synthetic.tables import Flags, Ints, bits, chance, draw

_WORDS, _PIECES = 8192, 1024  # heads and sites of a language; its prefixes and suffixes
_PLAIN = 6  # names of a concept that may be plain, each with another joint
_BORN_NAMES = 3  # names of a concept that a later release adds
_COUNT, _CONCEPT, _NAME, _ROW, _OTHER, _REDRAWN = range(6)  # streams of random numbers
_ONSETS = "b c d f g l m n p r s t v z h c th ph st tr br cl dr gl pr".split()
_MIDDLES = "l r n m v d b g s t ndr rt mb lg rn nt st xt rv gn tr br ld rm".split()
_SYLLABLES = (_ONSETS, "aeiou", _MIDDLES, "aeiou", _MIDDLES)
_LATIN = "abcdefghilmnoprstuvxz"


class Language(NamedTuple):
    """A language of names.

    lat (str): its code in MRCONSO. weight (int): its share of names, in hundredths.
    letters (str): in place of the Latin letters; "" for Latin. gap (str): between two words.
    joints (str): "of", "of the" and "with", separated by bars. heads, sites, modifiers (str):
    endings of words.
    """

    lat: str
    weight: int
    letters: str
    gap: str
    joints: str
    heads: str
    sites: str
    modifiers: str


# Heads go with semantic types (`umls.TYPES`), so English has as many endings as there are types.
LANGUAGES = [
    Language("ENG", 66, "", " ", "of|of the|with", "itis oma osis algia uria ectomy azole ase",
             "um us a is on", "al ic ous ar oid"),
    Language("SPA", 14, "", " ", "de|de la|con", "itis oma osis algia uria ectomía azol asa",
             "o a io us", "al ico ario oso"),
    Language("FRE", 6, "", " ", "de|du|avec", "ite ome ose algie urie ectomie azole ase",
             "e um us", "al ique aire eux"),
    Language("GER", 5, "", " ", "von|der|mit", "itis om ose algie urie ektomie azol ase",
             "um us e", "al isch är ös"),
    Language("RUS", 5, "абцдефгхилмнопрстувкз", " ", "при|у|с",
             "ит ома оз алгия урия эктомия азол аза", "ум ус а ис", "альный ический озный"),
    Language("JPN", 4, "アイウエオカキクケコサシスセソタチツテトナ", "", "の|における|を伴う",
             "炎 腫 症 痛 尿 術 薬 酵素", "部 骨 腺", "性 型"),
]  # fmt: skip


class NameBlock(NamedTuple):
    """Names of consecutive concepts: arrays (n,), by number.

    number (Ints): of the name in the release. concept (Ints): whose name it is.
    source (Ints): the number of the name that this one repeats, or of the name itself.
    language (Ints): a position in LANGUAGES. redrawn (Flags): whether the name differs from the
    first release. texts (list[str]): the names.
    """

    number: Ints
    concept: Ints
    source: Ints
    language: Ints
    redrawn: Flags
    texts: list[str]


class Names:
    """The names of a release. Memory holds only the number of names of each concept.

    concepts, total (int): number of concepts and of their names. seed (int): which release.
    languages (int): how many, English first. minimum (int): least names of a concept.
    born (int): concepts that come after these, with three names each.
    redrawn (float): share of names that later releases changed; first names stay.
    RAISES (ValueError): when there are too few names.
    """

    def __init__(
        self, concepts: int, total: int, seed: int, languages: int = len(LANGUAGES),
        minimum: int = 1, born: int = 0, redrawn: float = 0.0,
    ) -> None:  # fmt: skip
        counts = np.append(_shares(total, concepts, minimum, seed), np.full(born, _BORN_NAMES))
        self.offsets: Ints = np.append(0, np.cumsum(counts))
        self._concepts, self._seed, self._redrawn = concepts, seed, redrawn
        weights = [language.weight for language in LANGUAGES[:languages]]
        self._languages: Ints = np.repeat(np.arange(languages), weights)

    def block(self, first: int, last: int) -> NameBlock:
        """Compose the names of the concepts from `first` up to `last`."""
        number = np.arange(self.offsets[first], self.offsets[last])
        concept = np.repeat(np.arange(first, last), np.diff(self.offsets[first : last + 1]))
        random = draw(self._seed, _ROW, number)
        leads = number == self.offsets[concept]
        redrawn = ~leads & (chance(self._seed, _REDRAWN, number) < self._redrawn)
        # One name in 18 is the one before it, from another source; one in 64 is the first name of
        # another concept, and ambiguous.
        repeats = ~leads & ~redrawn & (bits(random, 0, 8) < 14)
        borrowed = ~leads & ~redrawn & ~repeats & (bits(random, 8, 6) == 0)
        other = draw(self._seed, _OTHER, number) % np.uint64(self._concepts)
        owner = np.where(borrowed, other.astype(np.int64), concept)
        source = np.where(borrowed, self.offsets[owner], number - repeats)
        language = self.languages(source, owner)
        texts = self.texts(source + (redrawn * (1 << 40)), owner, language)
        return NameBlock(number, concept, source, language, redrawn, texts)

    def languages(self, number: Ints, concept: Ints) -> Ints:
        """Draw the languages of names, (n,); the first name of a concept is English."""
        places = bits(draw(self._seed, _NAME, number), 52, 10) * len(self._languages) >> 10
        return np.where(number == self.offsets[concept], 0, self._languages[places])

    def heads(self, concept: Ints) -> Ints:
        """Draw the head of each concept's names, (n,)."""
        return bits(draw(self._seed, _CONCEPT, concept), 0, 13)

    def texts(self, number: Ints, concept: Ints, language: Ints) -> list[str]:
        """Compose names in these languages: n strings."""
        name = draw(self._seed, _NAME, number)
        place = number - self.offsets[concept]
        # Some synonyms have words of their own.
        own = (place > 0) & (bits(name, 48, 4) < 3)
        core = draw(self._seed, _CONCEPT, concept + own * (1 << 40))
        kind = bits(name, 0, 6)  # plain, with a prefix, with both, with a suffix
        kind = np.where(place < _PLAIN, kind, np.maximum(kind, 38))
        prefix = np.where((kind >= 18) & (kind < 50), 1 + bits(name, 6, 10), 0)
        suffix = np.where(kind >= 38, 1 + bits(name, 16, 10), 0)
        joint = (bits(core, 40, 8) + place) % _PLAIN
        pieces = zip(language.tolist(), prefix.tolist(), bits(core, 0, 13).tolist(),
                     joint.tolist(), bits(core, 13, 13).tolist(), suffix.tolist(),
                     strict=True)  # fmt: skip
        words = [_words(number) for number in range(len(LANGUAGES))]
        out = [
            f"{words[i][0][p]}{words[i][1][h]}{words[i][2][j]}{words[i][3][s]}{words[i][4][x]}"
            for i, p, h, j, s, x in pieces
        ]
        return _styled(out, bits(name, 40, 8))


def _styled(texts: list[str], style: Ints) -> list[str]:
    """Write half of the names with a capital, and one in seven in capitals."""
    for i in np.flatnonzero(style >= 90).tolist():
        texts[i] = texts[i][0].upper() + texts[i][1:] if style[i] < 220 else texts[i].upper()
    return texts


@cache
def _words(language: int) -> tuple[list[str], ...]:
    """List the prefixes, heads, joints, sites and suffixes of a language."""
    _, _, letters, gap, joints, *endings = LANGUAGES[language]
    table = str.maketrans(_LATIN, letters) if letters else {}
    heads, sites, modifiers = (
        [_stem(kind * _WORDS + i).translate(table) + ends[i % len(ends)] for i in range(_WORDS)]
        for kind, ends in enumerate(map(str.split, endings))
    )
    of, of_the, with_ = (f"{gap}{word}{gap}" for word in joints.split("|"))
    half = _PIECES // 2
    prefixes = ["", *(word + gap for word in modifiers[:half])]
    prefixes += [f"{modifiers[7 * i]}{gap}{modifiers[i]}{gap}" for i in range(half)]
    suffixes = ["", *(
        (f" type {i + 1}", f" {i + 1} mg", f" ({sites[i]})", f",{gap}{modifiers[i]}",
         f" [{chr(65 + i % 26)}{i % 100:02d}.{i % 10}]",
         f"{with_}{modifiers[i]}{gap}{sites[i]}")[i % 6] for i in range(_PIECES)
    )]  # fmt: skip
    return prefixes, heads, [of, of_the, f",{gap}", "/", "-", f"{gap}"], sites, suffixes


def _stem(number: int) -> str:
    """Spell the stem of a word; stems differ for all numbers below 24 * 5 * 24 * 5 * 24."""
    rest, stem = number * 104_729 % (len(_ONSETS) * 25 * len(_MIDDLES) ** 2), ""
    for letters in _SYLLABLES:
        rest, place = divmod(rest, len(letters))
        stem += letters[place]
    return stem


def _shares(total: int, concepts: int, minimum: int, seed: int) -> Ints:
    """Share names among concepts: most get few, a few get hundreds; the sum is exact."""
    extra = total - minimum * concepts
    if concepts < 1 or extra < 0:
        raise ValueError(f"{concepts} concepts need at least {minimum * concepts} names")
    weights = (1 - chance(seed, _COUNT, np.arange(concepts))) ** (-1 / 1.3) - 1
    # This Pareto tail has no end, but in a real release no concept has over a few hundred names.
    ends = np.cumsum(np.minimum(weights, 120 * weights.mean()))
    counts = np.diff(np.rint(ends * (extra / ends[-1])), prepend=0)
    return np.asarray(counts + minimum, dtype=np.int64)
