"""Translations: names that say a term of another language, word by word.

A terminology has few names in most languages, but these teach what their words mean:
"Magenkarzinom" and "gastric carcinoma" name one concept. So "Magenblutung" is looked up as "gastric
bleeding", in any order. All of a term must be said, each part of a compound included.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...linking.parts import Parts
from ...text.any_order import any_order_key_of, name_has_key, name_words
from ...text.normalisation import hash_keys
from ...text.word_lists import primary_tag

_PIVOT = "en"  # of the names that nearly every terminology has
_MOST_CONCEPTS = 50_000  # to learn from
_LONGEST, _NEAREST = 8, 2  # words of a name; names of a concept that are read beside one
_DOUBT = 0.3  # pieces of evidence against a meaning that are still to come
_ROUNDS, _LIKE = 6, 6.0  # of learning; the first weight of words that look alike
_LEAST, _MOST, _MOST_OPTIONS = 0.12, 4, 12  # share of a meaning of a word; number of them
_SAME = 0.5  # share of a word that looks the same in the other language
_SURE, _LEAST_OF_WORD = 1.4, 0.35  # of a term: .5 for a word alone, .17 for two
_MOST_WAYS = 1024
_KEPT = 1 << 16  # answers for words
_SHORT_FORM = 6  # letters
_PART, _KNOWN = 4, 2  # letters of a part of a compound; names that have it
_COMPOUNDING = ("de", "nl", "sv", "da", "no", "nb", "fi")
_LINKS = ("", "s", "n", "en", "es", "e", "er")  # between the parts of a compound
_JOINING = frozenset(
    "de la le les du des d l el los las del en con a au aux y e et und der die das dem den im am "
    "bei mit von vom zum zur avec par por di della dei con van het met of the in with and".split()
)
_NUMBER = re.compile(r"[ivx]+|.*\d.*")
# Spellings of Greek and Latin words in several languages, and their endings.
_SPELLINGS = tuple(
    (re.compile(pattern), spelling)
    for pattern, spelling in (
        (r"ph", "f"), (r"th", "t"), (r"rrh|rh|rr", "r"), (r"ch|[kqz]", "c"), (r"[yj]", "i"),
        (r"oe|ae", "e"), (r"tion", "cion"), (r"(.)\1", r"\1"), (r"it(?:is|ide?|es?|i)$", "iti"),
        (r"os(?:is|es?|i)$", "os"), (r"(?:ism(?:us|o|e)?|ia|ie|us|um|is|[aeioy])$", ""),
    )
)  # fmt: skip


_Name = tuple[str, ...]  # the keys of its words
_Meanings = dict[str, dict[str, float]]  # the shares of what a word means


class Translations:
    """Finds names that say what a term says, in whatever language of the terminology.

    parts (Parts): of a linker, with knowledge base and exact tier. lang (str): of the terms.
    """

    def __init__(self, parts: Parts, lang: str) -> None:
        assert parts.kb is not None
        self._kb, self._exact, self._lang = parts.kb, parts.exact, lang
        self._is_plain = _is_pivot(parts)
        self._has_compounds = primary_tag(lang) in _COMPOUNDING
        self._parts = lru_cache(_KEPT)(self._cut)
        pairs = list(_pairs_of_names(parts, lang))
        words = Counter(word for names, _ in pairs for name in names for word in name)
        self._uses = words + self._remainders(words)
        self._meanings = _learned(self._beside(pairs))
        self._options = lru_cache(_KEPT)(self._list_options)
        self._alike: dict[str, list[str]] = defaultdict(list)
        for word in parts.exact.vocabulary.words() if parts.exact is not None else ():
            if len(word) >= _PART:
                self._alike[_shape(word)].append(word)

    def names(self, text: str) -> tuple[str, ...]:
        """Give the name with the words of the surest translation of a text; () for none."""
        words = [word for word in name_words(text.lower()) if word not in _JOINING]
        if len(words) == 1 and text.isupper() and len(text) <= _SHORT_FORM:
            return ()
        options = [self._options(word) for word in words[: _LONGEST + 1]]
        if not 0 < len(words) <= _LONGEST or not all(options):
            return ()
        shares: dict[_Name, float] = defaultdict(float)
        for way in islice(product(*options), _MOST_WAYS):
            said = tuple(dict.fromkeys(chain.from_iterable(words for words, _ in way)))
            shares[said] = max(shares[said], prod(share for _, share in way))
        likely = [
            way for way, share in shares.items() if share >= _SURE * _LEAST_OF_WORD ** len(way)
        ]
        named = self._named(sorted(likely, key=lambda way: -shares[way]))
        return tuple(islice(named, 1))

    def _named(self, ways: Sequence[_Name]) -> Iterator[str]:
        """List the names that have all of some words, in any order, and no others."""
        exact = self._exact
        if exact is None or not ways:
            return
        meant = [[exact.forms.get(word, word) for word in way] for way in ways]
        sums = np.array([hash_keys(words).sum() for words in meant], np.uint64)
        for way, words, position in zip(ways, meant, exact.find(sums).tolist(), strict=True):
            if position < 0 and len(way) > 1:
                continue
            if len(way) == 1:
                rows = [row for row, _ in self._kb.rows_named(way[0])]
                names = dict(zip(rows, self._kb.texts_at(rows), strict=True))
            else:
                wanted, at = any_order_key_of(words), exact.names_at(position)
                names = {
                    r: name for r, name in at.items() if name_has_key(name, wanted, exact.forms)
                }
            yield from (name for row, name in names.items() if self._is_plain[row])

    def _list_options(self, word: str, parts: int = 2) -> list[tuple[_Name, float]]:
        """List what a word may say, each with its share, the surest first."""
        if _NUMBER.fullmatch(word):
            return [((word,), 1.0)]
        meanings = self._meanings.get(word, {})
        others = self._alike.get(_shape(word), ())
        alike = {
            other: max(_SAME, meanings.get(other, 0.0))
            for other in others
            if other == word or len(word) > _PART + 1
        }
        options: list[tuple[_Name, float]] = [
            ((meaning,), share) for meaning, share in (meanings | alike).items()
        ]
        for first, last in self._cuts(word) if parts and self._has_compounds else ():
            both = product(self._options(first, parts - 1), self._options(last, parts - 1))
            options += [((*said, *other), share * rest) for (said, share), (other, rest) in both]
        if not options and parts and self._exact is not None and len(word) > _PART + 1:
            for near in self._exact.vocabulary.near_one(word):
                options += [(said, share * _SAME) for said, share in self._options(near, 0)]
        return sorted(options, key=lambda option: -option[1])[:_MOST_OPTIONS]

    def _cuts(self, word: str) -> Iterator[tuple[str, str]]:
        """List the ways to read a word as a compound of two."""
        for at in range(_PART, len(word) - _PART + 1):
            for link in _LINKS:
                first = word[:at].removesuffix(link)
                if len(first) >= _PART and word[:at].endswith(link):
                    yield from ((whole, word[at:]) for whole in (first, first + "e"))

    def _beside(
        self, pairs: Iterable[tuple[list[_Name], list[_Name]]]
    ) -> Iterator[tuple[_Name, _Name]]:
        """Put each name beside those of its concept that are about as long."""
        for names, others in pairs:
            for name in names:
                whole = tuple(chain.from_iterable(map(self._parts, name)))
                apart = int(len(whole) > _NEAREST)  # words that one of the two may have more
                near = [other for other in others if abs(len(other) - len(whole)) <= apart]
                near.sort(key=lambda other: abs(len(other) - len(whole)))
                yield from ((whole, other) for other in near[:_NEAREST])

    def _remainders(self, words: Counter[str]) -> Counter[str]:
        """Count what is left of compounds where one of the parts is a word of names."""
        left = Counter[str]()
        for word in words if self._has_compounds else ():
            for first, last in self._cuts(word):
                left.update([last] * (words[first] >= _KNOWN) + [first] * (words[last] >= _KNOWN))
        return Counter({part: uses for part, uses in left.items() if uses >= _KNOWN})

    def _cut(self, word: str) -> _Name:
        """Cut a compound whose parts are words of names."""
        cuts = self._cuts(word) if self._has_compounds else ()
        known = (cut for cut in cuts if min(self._uses[part] for part in cut) >= _KNOWN)
        return max(known, key=lambda cut: len("".join(cut)), default=(word,))


def _is_pivot(parts: Parts) -> NDArray[np.bool_]:
    """Tell of each name row whether the name is in the language of the pivot, or in none.

    Where a terminology has no such names, all count.
    """
    if parts.facets is None:
        return np.ones(len(parts.name_concept), dtype=np.bool_)
    tags = [primary_tag(tag) in (_PIVOT, "") for tag in parts.facets.langs]
    return np.array(tags if any(tags) else [True] * len(tags))[parts.facets.lang]


def _pairs_of_names(parts: Parts, lang: str) -> Iterator[tuple[list[_Name], list[_Name]]]:
    """Read the names of concepts that have some in a language, and those in the other one."""
    facets, kb, concepts = parts.facets, parts.kb, parts.name_concept
    if facets is None or kb is None:
        return
    tags = np.array([primary_tag(tag) for tag in facets.langs])
    of_lang, of_other = (
        np.isin(facets.lang, np.flatnonzero(tags == tag)) for tag in (lang, _PIVOT)
    )
    both = np.intersect1d(concepts[of_lang], concepts[of_other])
    both = both[:: 1 + len(both) // _MOST_CONCEPTS]
    rows = np.flatnonzero((of_lang | of_other) & np.isin(concepts, both))
    names: dict[int, tuple[list[_Name], list[_Name]]] = defaultdict(lambda: ([], []))
    for row, text in zip(rows.tolist(), kb.texts_at(rows.tolist()), strict=True):
        name = tuple(dict.fromkeys(name_words(text.lower())))
        if len(name) <= _LONGEST and "|" not in text:
            names[int(concepts[row])][int(of_other[row])].append(name)
    yield from ((list(dict.fromkeys(own)), list(dict.fromkeys(of))) for own, of in names.values())


def _learned(names: Iterable[tuple[_Name, _Name]]) -> _Meanings:
    """Learn what words mean: IBM's model 1 (Brown et al. 1993, section 4.1), by expectation.

    Words that look alike begin with a larger weight.
    """
    own, other = dict[str, int](), dict[str, int]()
    places, pairs, size = [], [], 0
    for name, beside in names:
        rows = [own.setdefault(word, len(own)) for word in name]
        for word in beside:
            number = other.setdefault(word, len(other))
            pairs += [(row, number) for row in rows]
            places += [size] * len(rows)
            size += 1
    if not pairs:
        return {}
    table = np.array(pairs, np.int64)
    unique, entry = np.unique(table[:, 0] * len(other) + table[:, 1], return_inverse=True)
    first, second = unique // len(other), unique % len(other)
    words, meanings = list(own), list(other)
    shapes, shapes_of = list(map(_shape, words)), list(map(_shape, meanings))
    share = np.array(
        [
            _LIKE if shapes[row] == shapes_of[number] else 1.0
            for row, number in zip(first.tolist(), second.tolist(), strict=True)
        ]
    )
    for _ in range(_ROUNDS):
        weights = share[entry]
        weights /= np.bincount(places, weights, size)[places]
        counts = np.bincount(entry, weights, len(unique))
        share = counts / np.bincount(first, counts, len(own))[first]
    share *= (sure := np.bincount(first, counts, len(own))[first]) / (sure + _DOUBT)
    learned: _Meanings = defaultdict(dict)
    for at in np.lexsort((-share, first)).tolist():
        meanings_of = learned[words[first[at]]]
        if share[at] >= _LEAST and len(meanings_of) < _MOST:
            meanings_of[meanings[second[at]]] = float(share[at])
    return learned


def _shape(word: str) -> str:
    """Spell a word as its relatives in other languages are spelt, without its ending."""
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    return word
