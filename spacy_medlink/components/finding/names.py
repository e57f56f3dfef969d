"""NameFinder: finds names of the dictionary in a text, as written, joined up, and in any order."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np

from ...retrieval.exact import ExactIndex
from ...retrieval.vocabulary import LEAST, is_inflected
from ...text.any_order import name_has_key, name_words
from ...text.normalisation import hash_keys, is_short_form, plainly_written
from ...text.pieces import Border, Pieces, key_of, piece_key
from .any_order import WordsOfText
from .coordinations import Reading, coordinations
from .kept import Kept
from .languages import Endings
from .match import Match

# Keys looked up together: all keys of a long document take a hundred times its memory.
_TOGETHER = 1 << 16
_LONG = 8  # letters of a word that is rather a name of a disease than of a person
_SHORT_FORM = 6  # letters of a word in capitals that is taken for a short form
_PARTING = frozenset("/&_.[]|")  # signs that may also part two mentions
# "Diabetes mellitus", "otitis media": names in any language.
_LATIN_WORD = r"[a-z]{2,}(?:us|um|a|is|es|ae|os|x)"
_LATIN = re.compile(f"{_LATIN_WORD}(?: {_LATIN_WORD})+", re.IGNORECASE)
_BEFORE_A_NAME = frozenset(["post"])  # with a hyphen: "post-stroke" speaks of a stroke

Item = TypeVar("Item")


class NameFinder:
    """The finder of the names of a dictionary.

    exact (ExactIndex): the dictionary. longest (int): words of a match at most.
    kept (Kept): which names are found. endings: of words, and of names that these stand for.
    """

    def __init__(
        self,
        exact: ExactIndex,
        longest: int,
        kept: Kept = Kept(),  # noqa: B008  # immutable
        endings: Endings = Endings(),  # noqa: B008  # immutable
    ) -> None:
        self._exact, self._longest, self._kept, self._endings = exact, longest, kept, endings
        self._words: WordsOfText | None = None  # of the last text

    def find(self, pieces: Pieces) -> list[Match]:
        """Find all matches, overlapping ones too, each span once."""
        known = self._exact.vocabulary.knows(pieces.keys)
        written = sorted(self._as_written(pieces, known), key=lambda one: one.end - one.start)
        found = {(match.start, match.end): match for match in written}
        for match in self._joined(pieces):
            found.setdefault((match.start, match.end), match)
        for match in self._in_any_order(pieces, found):
            found.setdefault((match.start, match.end), match)
        for match in (*self._inflected(pieces, set(found)), *self._misspelt(pieces, known)):
            found.setdefault((match.start, match.end), match)
        return _without_parts_of_words(pieces, list(found.values()))

    def find_coordinated(self, pieces: Pieces) -> list[Match]:
        """Find the names that a coordination stands for, each span once."""
        known = sorted(self._known_readings(pieces), key=lambda item: item[3])
        found: dict[tuple[int, str], Match] = {}
        for reading, key, place, _ in known:  # those in any order come last
            text = " ".join([pieces.texts[piece] for piece in reading.pieces])
            rows = self._rows(place, text, key)
            if rows:
                start, end = reading.pieces[0], reading.pieces[-1] + 1
                match = Match(start, end, pieces.saying(reading.pieces), rows, text, False)
                # Of two readings of one text, the one that ends first stays.
                said = found.get((start, text))
                if said is None or end < said.end:
                    found[start, text] = match
        firsts = {(match.start, match.end): match for match in reversed(found.values())}
        return list(firsts.values())

    def _as_written(self, pieces: Pieces, known: Sequence[bool]) -> Iterator[Match]:
        """Find the runs of pieces that are names; signs between them have no key."""
        asked = _runs_of_words(pieces, known, self._longest)
        for (start, end), key, place in self._known(asked):
            if rows := self._rows_of_run(pieces, start, end, key, place):
                border = pieces.widest(start, end)
                signs = set("").union(*pieces.gaps[start + 1 : end])
                is_joined = (border >= Border.SIGN and not _PARTING.isdisjoint(signs)) or (
                    border == Border.COMMA and not pieces.element_starts(start)
                )
                words = pieces.saying(range(start, end))
                yield Match(start, end, words, rows, is_joined=is_joined)

    def _rows_of_run(
        self,
        pieces: Pieces,
        start: int,
        end: int,
        key: str,
        place: int,
        text: str = "",
        joined: Collection[int] = (),
    ) -> tuple[int, ...]:
        """List the names that a run of pieces may be, written with its commas and stronger borders.

        A comma besides parts whole elements: no "cancer, lung" is in "breast cancer, lung cancer".

        text (str): of the run, where words are joined; joined (Collection[int]): the pieces that
            are one word with the piece before.
        """
        border = pieces.widest(start, end)
        if border < Border.COMMA:
            first, last = pieces.characters(start, end)
            is_bracketed = not text and first < pieces.starts[start]
            return self._rows(place, text or pieces.text[first:last], key, is_bracketed)
        inside = [pieces.borders[at] for at in range(start + 1, end) if at not in joined]
        is_half_bracketed = border == Border.SENTENCE not in inside
        rows = self._rows(place, pieces.between(start, end), key, is_half_bracketed)
        if not rows or (border == Border.COMMA and not pieces.element_ends(end)):
            return ()
        names = self._exact.names_at(place, self._having(key))
        return tuple(row for row in rows if _is_written_so(names.get(row, ""), inside))

    def _joined(self, pieces: Pieces) -> Iterator[Match]:
        """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
        joints = self._joints(pieces)
        if not joints:
            return
        behind = set(joints)

        def text_of(start: int, end: int) -> str:
            texts = enumerate(pieces.texts[start:end], start)
            return "".join([text if at in behind else f" {text}" for at, text in texts]).lstrip()

        keys = (
            ((start, end), key_of(text_of(start, end).split()))
            for place in joints
            for start, end in _runs_around(pieces, place, self._longest, Border.COMMA)
            if start < place
        )
        for (start, end), key, place in self._known(keys):
            text = text_of(start, end)
            if rows := self._rows_of_run(pieces, start, end, key, place, text, behind):
                yield Match(start, end, pieces.saying(range(start, end)), rows, text)

    def _inflected(self, pieces: Pieces, found: set[tuple[int, int]]) -> Iterator[Match]:
        """Find "tachycardic" where the dictionary has "tachycardia"."""
        asked = (
            ((place, name), piece_key(name))
            for place, word in enumerate(pieces.lower)
            if (place, place + 1) not in found and self._maybe_misspelt(pieces, place)
            for length in self._endings.lengths
            if length < len(word)
            for other in self._endings.names.get(word[-length:], ())
            for name in [word[:-length] + other]
            if " " not in other or pieces.element_ends(place + 1)
        )
        for (place, name), key, position in self._known(asked):
            if rows := self._rows(position, name, key):
                yield Match(place, place + 1, frozenset([place]), rows, name)

    def _misspelt(self, pieces: Pieces, known: Sequence[bool]) -> Iterator[Match]:
        """Find "hypothyroidsm": names in which one letter of a word differs."""
        words = [
            "" if known[place] else self._maybe_misspelt(pieces, place)
            for place in range(len(pieces.keys))
        ]
        asked = (
            ((start, end, place, word), " ".join([*keys[:at], own, *keys[at + 1 :]]))
            for place, near in enumerate(self._exact.vocabulary.near(words))
            if near
            for own, word in {piece_key(word): word for word in near}.items()
            for start, end in _runs_around(pieces, place, self._longest)
            for keys, at in [(pieces.keys[start:end], place - start)]
        )
        for (start, end, place, word), key, position in self._known(asked):
            if end - start == 1:
                own, text = words[place], pieces.texts[place]
                # A short word with a capital within a sentence may be a person's name.
                is_name = text[0].isupper() and pieces.borders[place] < Border.COMMA
                is_person = is_name and len(text) < _LONG
                if len(word) <= LEAST or is_person or is_inflected(own, word):
                    continue
            if rows := self._rows(position, key, key):
                texts = [*pieces.texts[start:place], word, *pieces.texts[place + 1 : end]]
                said = pieces.saying(range(start, end))
                yield Match(start, end, said, rows, " ".join(texts))

    def _maybe_misspelt(self, pieces: Pieces, place: int) -> str:
        """Get a word that may be misspelt; "" for another."""
        text, key, word = pieces.texts[place], pieces.keys[place], pieces.lower[place]
        is_short_form = text.isupper() and len(text) <= _SHORT_FORM
        if is_short_form or not pieces.says[place] or key in self._kept.words:
            return ""
        return word if word.isalpha() else key

    def _joints(self, pieces: Pieces) -> list[int]:
        """List the pieces that, with the one or two before their hyphens, are a word of names."""
        texts, hyphens, found = pieces.texts, set(pieces.hyphens), set[int]()
        for many in (1, 2):
            ends = [end for end in hyphens if many == 1 or end - 1 in hyphens]
            words = [piece_key("".join(texts[end - many : end + 1])) for end in ends]
            known = self._exact.vocabulary.knows(words)
            for end, word, is_known in zip(ends, words, known, strict=True):
                if is_known and word.isalpha():
                    found.update(range(end - many + 1, end + 1))
        return sorted(found)

    def _words_of(self, pieces: Pieces) -> WordsOfText:
        if self._words is None or self._words.pieces is not pieces:
            self._words = WordsOfText(pieces, self._exact)
        return self._words

    def _in_any_order(
        self, pieces: Pieces, found: Collection[tuple[int, int]] = ()
    ) -> Iterator[Match]:
        """Find names whose words stand in another order, or in another form, within a clause."""
        words = self._words_of(pieces)
        for run in words.runs(self._longest):
            start, end, place = run
            if (start, end) in found or not words.is_clause(run):
                continue
            key = words.key(range(start, end))
            names = self._exact.names_at(place, self._having(key)) if key else {}
            if rows := self._kept.rows(list(names)):
                spelled = {word for text in pieces.texts[start:end] for word in name_words(text)}
                rows = _nearest(spelled, {row: names[row] for row in rows})
                yield Match(start, end, pieces.saying(range(start, end)), rows, names[rows[0]])

    def _known_readings(self, pieces: Pieces) -> Iterator[tuple[Reading, str, int, bool]]:
        """Read coordinations: (reading, key, place, whether words are in any order)."""
        readings, words = coordinations(pieces), self._words_of(pieces)
        while batch := list(islice(readings, _TOGETHER)):
            places = words.places([one.pieces for one in batch])
            known = [pair for pair in zip(batch, places, strict=True) if pair[1] >= 0]
            asked = (
                (one, " ".join(filter(None, [pieces.keys[piece] for piece in one.pieces])))
                for one, _ in known
            )
            yield from ((*own, False) for own in self._known(asked))
            for one, place in known:
                if one.is_whole and (key := words.key(one.pieces)):
                    yield one, key, place, True

    def _known(self, asked: Iterable[tuple[Item, str]]) -> Iterator[tuple[Item, str, int]]:
        """List the items whose key the dictionary has by its hash, with the key and its place."""
        asked = iter(asked)
        while batch := list(islice(asked, _TOGETHER)):
            found = self._exact.find(hash_keys([key for _, key in batch]))
            for number in np.flatnonzero(found >= 0).tolist():
                if batch[number][1]:
                    yield *batch[number], int(found[number])

    def _having(self, key: str) -> Callable[[str], bool]:
        """Make the function that tells whether a name has a key."""
        return lambda name: name_has_key(name, key, self._exact.forms)

    def _rows(self, place: int, text: str, key: str, as_written: bool = False) -> tuple[int, ...]:
        """List the rows of the kept names that a text may be.

        key (str): that was found at the place. as_written (bool): only names of exactly the text.
        """
        if place in self._kept.common:
            if not is_short_form(text):
                return ()
            as_written = True  # "WAS" is a syndrome only where a name is written the same
        if as_written:
            names = self._exact.names_at(place, self._having(key))
            written = plainly_written(text)
            rows = [row for row, name in names.items() if plainly_written(name) == written]
        else:
            rows = [row for row, _ in self._exact.rows_of(place, text, self._having(key))]
        is_latin = _LATIN.fullmatch(text) is not None
        return self._kept.rows(rows, not any(map(str.isspace, text)), is_latin)


def _without_parts_of_words(pieces: Pieces, matches: list[Match]) -> list[Match]:
    """Leave out matches that begin behind a hyphen: "pre-auricular pit" is no "auricular pit".

    Where what stands before the hyphen is a mention itself, the hyphen parts two: "asthma-COPD".
    """
    behind = set(pieces.hyphens)
    ends = {match.end for match in matches}
    return [
        match
        for match in matches
        if match.start not in behind
        or match.start in ends
        or (match.end == match.start + 1 and pieces.lower[match.start - 1] in _BEFORE_A_NAME)
    ]


@lru_cache(maxsize=4096)
def _borders_of(name: str) -> tuple[Border, ...]:
    return tuple(Pieces(name).borders[1:-1])


def _is_written_so(name: str, borders: list[Border]) -> bool:
    """Tell whether a name has the commas and stronger borders of a run of pieces."""
    own = _borders_of(name)
    return len(own) == len(borders) and all(
        its == border or border < Border.COMMA for its, border in zip(own, borders, strict=True)
    )


def _runs_of_words(
    pieces: Pieces, known: Sequence[bool], longest: int
) -> Iterator[tuple[tuple[int, int], str]]:
    """List the runs of words that names have, with their keys."""
    keys, is_stop = pieces.keys, pieces.is_stop
    goes_on = [*known, *[False] * longest]
    for begin in range(0, len(keys), _TOGETHER):
        starts = [at for at in range(begin, min(begin + _TOGETHER, len(keys))) if known[at]]
        runs = [((start, start + 1), keys[start]) for start in starts]
        yield from (
            run
            for run, start in zip(runs, starts, strict=True)
            if not is_stop[start] and len(run[1]) > 1 and not run[1].replace(" ", "").isdigit()
        )
        for _ in range(longest - 1):
            runs = [
                ((start, end + 1), f"{run} {keys[end]}")
                for (start, end), run in runs
                if goes_on[end]
            ]
            yield from runs


def _runs_around(
    pieces: Pieces, place: int, longest: int, within: Border = Border.SIGN
) -> Iterator[tuple[int, int]]:
    """List the runs that hold a piece, and no stronger border than one within."""
    first = place
    while first > 0 and place - first < longest - 1 and pieces.borders[first] <= within:
        first -= 1
    last = place + 1
    while last < min(len(pieces.keys), place + longest) and pieces.borders[last] <= within:
        last += 1
    for start in range(first, place + 1):
        for end in range(place + 1, min(last, start + longest) + 1):
            yield start, end


def _nearest(words: set[str], names: dict[int, str]) -> tuple[int, ...]:
    """Choose the rows of the names with the most words of a mention."""
    common = {row: len(words.intersection(name_words(name))) for row, name in names.items()}
    most = max(common.values())
    return tuple(row for row, count in common.items() if count == most)
