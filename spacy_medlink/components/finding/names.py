"""NameFinder: finds names of the dictionary in a text, as written, joined up, and in any order."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from ...retrieval.exact import ExactIndex, likeness
from ...retrieval.vocabulary import LEAST, is_inflected
from ...text.any_order import name_has_key, name_words
from ...text.normalisation import hash_keys, is_short_form, plainly_written
from ...text.pieces import Border, Pieces, key_of, piece_key
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS
from .any_order import Run, WordsOfText
from .coordinations import Reading, coordinations
from .kept import Kept
from .languages import names_of_form
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


class _Asked(NamedTuple):
    """A run of pieces that is looked up by a key.

    reading (str): what it is read as; "" for what is written. joints (FrozenSet[int]): the pieces
    that are one word with the piece before. is_form (bool): whether a word of it is read as
    another one, whatever the signs between the words are.
    """

    start: int
    end: int
    key: str
    reading: str = ""
    joints: frozenset[int] = frozenset()
    is_form: bool = False


class NameFinder:
    """The finder of the names of a dictionary.

    exact (ExactIndex): the dictionary. longest (int): words of a match at most.
    kept (Kept): which names are found. lang (str): of the texts, for forms of words.
    """

    def __init__(
        self,
        exact: ExactIndex,
        longest: int,
        kept: Kept = Kept(),  # noqa: B008  # immutable
        lang: str = "",
    ) -> None:
        self._exact, self._longest, self._kept, self._lang = exact, longest, kept, lang

    def find(self, pieces: Pieces) -> list[Match]:
        """Find all matches, overlapping ones too, each span once; coordinations come last."""
        words = WordsOfText(pieces, self._exact)
        found: dict[tuple[int, int], Match] = {}
        for run in words.runs(self._longest):
            if match := self._of_run(words, run):
                found[run.start, run.end] = match
        for asked, place in self._known(self._asked(pieces)):
            if (asked.start, asked.end) not in found and (rows := self._rows(pieces, asked, place)):
                says = pieces.saying(range(asked.start, asked.end))
                match = Match(asked.start, asked.end, says, rows, asked.reading)
                found[asked.start, asked.end] = match
        says_nothing, written = self._kept.says_nothing, list(found.values())
        matches = [
            match
            for match in _without_parts_of_words(pieces, written)
            if not says_nothing(pieces.lower[match.start : match.end])
        ]
        spans = {(match.start, match.end) for match in matches}
        coordinated = self._coordinated(words)
        return matches + [one for one in coordinated if (one.start, one.end) not in spans]

    def _of_run(self, words: WordsOfText, run: Run) -> Match | None:
        """Find the name that a run of pieces is as it is written, or else in another order."""
        pieces, (start, end, place) = words.pieces, run
        names = self._exact.names_at(place)
        key = " ".join(pieces.keys[start:end])
        if rows := self._rows_of_run(pieces, _Asked(start, end, key), names):
            border = pieces.widest(start, end)
            signs = set("").union(*pieces.gaps[start + 1 : end])
            is_joined = (border >= Border.SIGN and not _PARTING.isdisjoint(signs)) or (
                border == Border.COMMA and not pieces.element_starts(start)
            )
            says = pieces.saying(range(start, end))
            return Match(start, end, says, rows, is_joined=is_joined)
        if not (words.is_clause(run) and (key := words.key(range(start, end)))):
            return None
        names = self._with_key(names, key)
        if rows := self._kept.rows(list(names)):
            spelled = {word for text in pieces.texts[start:end] for word in name_words(text)}
            rows = _nearest(spelled, {row: names[row] for row in rows})
            return Match(start, end, pieces.saying(range(start, end)), rows, names[rows[0]])
        return None

    def _asked(self, pieces: Pieces) -> Iterator[_Asked]:
        """List what may be a name besides runs of words: the surest first."""
        knows = self._exact.vocabulary.knows(pieces.keys)
        may_differ = self._may_differ(pieces)
        return chain(
            _single_words(pieces, knows),
            self._joined(pieces),
            self._inflected(pieces, may_differ),
            self._misspelt(pieces, knows, may_differ),
        )

    def _joined(self, pieces: Pieces) -> Iterator[_Asked]:
        """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
        joints, every = self._joints(pieces), [True] * len(pieces)
        for place in sorted(joints):
            for start, end in _runs_around(pieces, place, self._longest, Border.COMMA, every):
                if start < place:
                    texts = enumerate(pieces.texts[start:end], start)
                    words = [text if at in joints else f" {text}" for at, text in texts]
                    text = "".join(words).lstrip()
                    yield _Asked(start, end, key_of(text.split()), text, joints)

    def _inflected(self, pieces: Pieces, words: Sequence[str]) -> Iterator[_Asked]:
        """Find "tachycardic" where the dictionary has "tachycardia"."""
        for place, word in enumerate(words):
            for name, key in names_of_form(pieces.lower[place], self._lang) if word else ():
                if " " not in name or word[-1] != "s" or _ends_name(pieces, place + 1):
                    yield _Asked(place, place + 1, key, name, is_form=True)

    def _misspelt(
        self, pieces: Pieces, knows: Sequence[bool], words: Sequence[str]
    ) -> Iterator[_Asked]:
        """Find "hypothyroidsm": names in which one letter of a word differs."""
        asked = ["" if known else word for word, known in zip(words, knows, strict=True)]
        for place, near in enumerate(self._exact.vocabulary.near(asked)):
            for key, word in {piece_key(word): word for word in near}.items() if near else ():
                for start, end in _runs_around(pieces, place, self._longest, Border.SIGN, knows):
                    if end - start == 1 and not _may_be_slip(pieces, place, asked[place], word):
                        continue
                    before, behind = range(start, place), range(place + 1, end)
                    keys = [pieces.keys[at] for at in before], [pieces.keys[at] for at in behind]
                    texts = [pieces.texts[at] for at in before], [pieces.texts[at] for at in behind]
                    reading = " ".join([*texts[0], word, *texts[1]])
                    run = " ".join([*keys[0], key, *keys[1]])
                    yield _Asked(start, end, run, reading, is_form=True)

    def _may_differ(self, pieces: Pieces) -> list[str]:
        """List the words that may be inflected or misspelt; "" for others, as short forms."""
        common = self._kept.words
        return [
            ""
            if not says or key in common or (len(text) <= _SHORT_FORM and text.isupper())
            else (word if word.isalpha() else key)
            for text, word, key, says in zip(
                pieces.texts, pieces.lower, pieces.keys, pieces.says, strict=True
            )
        ]

    def _joints(self, pieces: Pieces) -> frozenset[int]:
        """List the pieces that, with the one or two before their hyphens, are a word of names."""
        texts, hyphens, found = pieces.texts, set(pieces.hyphens), set[int]()
        for many in (1, 2) if hyphens else ():
            ends = [end for end in hyphens if many == 1 or end - 1 in hyphens]
            words = [piece_key("".join(texts[end - many : end + 1])) for end in ends]
            known = self._exact.vocabulary.knows(words)
            for end, word, is_known in zip(ends, words, known, strict=True):
                if is_known and word.isalpha():
                    found.update(range(end - many + 1, end + 1))
        return frozenset(found)

    def _coordinated(self, words: WordsOfText) -> list[Match]:
        """Find the names that a coordination stands for, each span once."""
        pieces, found = words.pieces, dict[tuple[int, str], Match]()
        # Those in any order come last.
        for _, reading, names in sorted(self._readings(words), key=lambda item: item[0]):
            text = " ".join([pieces.texts[piece] for piece in reading.pieces])
            if rows := self._kept_rows(names, text):
                start, end = reading.pieces[0], reading.pieces[-1] + 1
                match = Match(start, end, pieces.saying(reading.pieces), rows, text, False)
                # Of two readings of one text, the one that ends first stays.
                said = found.get((start, text))
                if said is None or end < said.end:
                    found[start, text] = match
        firsts = {(match.start, match.end): match for match in reversed(found.values())}
        return list(firsts.values())

    def _readings(self, words: WordsOfText) -> Iterator[tuple[bool, Reading, dict[int, str]]]:
        """Read coordinations: (whether its words are in any order, reading, names)."""
        readings, keys = coordinations(words.pieces), words.pieces.keys
        while batch := list(islice(readings, _TOGETHER)):
            places = words.places([reading.pieces for reading in batch])
            for reading, place in zip(batch, places, strict=True):
                if place < 0:
                    continue
                names = self._exact.names_at(place)
                key = " ".join(filter(None, [keys[piece] for piece in reading.pieces]))
                if own := self._with_key(names, key):
                    yield False, reading, own
                if reading.is_whole and (key := words.key(reading.pieces)):
                    yield True, reading, self._with_key(names, key)

    def _known(self, asked: Iterable[_Asked]) -> Iterator[tuple[_Asked, int]]:
        """List what the dictionary has by the hash of its key, with the place of the key."""
        asked = iter(asked)
        while batch := list(islice(asked, _TOGETHER)):
            found = self._exact.find(hash_keys([one.key for one in batch]))
            for number in np.flatnonzero(found >= 0).tolist():
                if batch[number].key:
                    yield batch[number], int(found[number])

    def _rows(self, pieces: Pieces, asked: _Asked, place: int) -> tuple[int, ...]:
        """List the rows of the kept names that something asked for may be."""
        names = self._exact.names_at(place)
        if asked.is_form:
            return self._kept_rows(self._with_key(names, asked.key), asked.reading)
        return self._rows_of_run(pieces, asked, names)

    def _rows_of_run(self, pieces: Pieces, asked: _Asked, names: dict[int, str]) -> tuple[int, ...]:
        """List the names that a run of pieces may be, written with its commas and stronger borders.

        A comma besides parts whole elements: no "cancer, lung" is in "breast cancer, lung cancer".

        names (Dict[int, str]): by row, those with another key, too.
        """
        start, end, key, text = asked[:4]
        names = self._with_key(names, key)
        if not names:
            return ()
        border = pieces.widest(start, end)
        if border < Border.COMMA:
            first, last = pieces.characters(start, end)
            is_bracketed = not text and first < pieces.starts[start]
            return self._kept_rows(names, text or pieces.text[first:last], is_bracketed)
        inside = [pieces.borders[at] for at in range(start + 1, end) if at not in asked.joints]
        if border == Border.COMMA and not pieces.element_ends(end):
            return ()
        is_half_bracketed = border == Border.SENTENCE not in inside
        names = {row: name for row, name in names.items() if _is_written_so(name, inside)}
        return self._kept_rows(names, pieces.between(start, end), is_half_bracketed)

    def _with_key(self, names: dict[int, str], key: str) -> dict[int, str]:
        """Keep the names that have a key, since two keys may have one hash."""
        forms = self._exact.forms
        return {row: name for row, name in names.items() if name_has_key(name, key, forms)}

    def _kept_rows(
        self, names: dict[int, str], text: str, as_written: bool = False
    ) -> tuple[int, ...]:
        """List the rows of the kept names that a text may be.

        names (Dict[int, str]): with its key. as_written (bool): only names of exactly the text.
        """
        if " " not in text and piece_key(text) in self._kept.common:
            if not is_short_form(text):
                return ()
            as_written = True  # "WAS" is a syndrome only where a name is written the same
        if as_written:
            written = plainly_written(text)
            rows = [row for row, name in names.items() if plainly_written(name) == written]
        else:
            rows = [row for row, name in names.items() if likeness(name, text)]
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


def _single_words(pieces: Pieces, knows: Sequence[bool]) -> Iterator[_Asked]:
    """List the words that names have, but for stop words, digits and single letters."""
    return (
        _Asked(place, place + 1, key)
        for place, (key, known, stop) in enumerate(
            zip(pieces.keys, knows, pieces.is_stop, strict=True)
        )
        if known and not stop and len(key) > 1 and not key.replace(" ", "").isdigit()
    )


def _runs_around(
    pieces: Pieces, place: int, longest: int, within: Border, may_go_on: Sequence[bool]
) -> Iterator[tuple[int, int]]:
    """List the runs that hold a piece, and no stronger border than one within.

    may_go_on (Sequence[bool]): of each piece, whether it may be a part of a run.
    """
    first, last, borders = place, place + 1, pieces.borders
    while place - first < longest - 1 and borders[first] <= within and may_go_on[first - 1]:
        first -= 1
    while last - place < longest and borders[last] <= within and may_go_on[last]:
        last += 1
    for start in range(first, place + 1):
        for end in range(place + 1, min(last, start + longest) + 1):
            yield start, end


def _ends_name(pieces: Pieces, place: int) -> bool:
    """Tell whether a piece is behind a disease, not a person: "Parkinsons stage 2"."""
    following = "" if pieces.element_ends(place) else pieces.lower[place]
    return not following or any(following in words for words in (LEVELS, BEHIND, QUALIFIERS))


def _may_be_slip(pieces: Pieces, place: int, word: str, name: str) -> bool:
    """Tell whether a single word may be a misspelt name, and no person's name or inflection."""
    text = pieces.texts[place]
    # A short word with a capital within a sentence may be a person's name.
    is_capital = text[0].isupper() and pieces.borders[place] < Border.COMMA
    is_person = is_capital and len(text) < _LONG
    return not (len(name) <= LEAST or is_person or is_inflected(word, name))


def _nearest(words: set[str], names: dict[int, str]) -> tuple[int, ...]:
    """Choose the rows of the names with the most words of a mention."""
    common = {row: len(words.intersection(name_words(name))) for row, name in names.items()}
    most = max(common.values())
    return tuple(row for row, count in common.items() if count == most)
