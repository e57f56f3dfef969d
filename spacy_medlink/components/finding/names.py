"""NameFinder: finds names of the dictionary in a text, as written, as read, and in any order."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from ...retrieval.exact import ExactIndex, likeness
from ...text.any_order import any_order_key_of, is_link, name_has_key, name_words
from ...text.normalisation import hash_keys, is_short_form, plainly_written, without_tag
from ...text.pieces import BRACKETS, Border, Pieces, piece_key
from .coordinations import Coordination, coordinations
from .matches import Match, by_word
from .name_facts import Kept
from .readings import Reading, readings

# Coordinations looked up together: all those of a long document take a hundred times its memory.
_TOGETHER = 1 << 16
_PARTING = frozenset("/&_.[]|")  # signs that may also part two mentions
_PARTS_WORDS = BRACKETS | {"/"}  # of names in another order
# "Diabetes mellitus", "otitis media": names in any language.
_LATIN_WORD = r"[a-z]{2,}(?:us|um|a|is|es|ae|os|x)"
_LATIN = re.compile(f"{_LATIN_WORD}(?: {_LATIN_WORD})+", re.IGNORECASE)
_BEFORE_A_NAME = frozenset(["post"])  # with a hyphen: "post-stroke" speaks of a stroke
_RANGE = (1 << 64) - 1
_ADJECTIVE = re.compile("(?:[ae]l|ar|ary|ic|an|ous|ive|oid|ed)$")
_ARTICLES = frozenset("the a an my his her their your".split())
_LEAST_TURNED = 3  # words of a match that may hold a name of two
_INSIDE = 3  # times that a word stands within names for each time that it ends one: an adjective


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
        words = WordsOfText(pieces, self._exact, self._lang)
        matches: dict[tuple[int, int], Match] = {}
        for run in words.runs(self._longest):
            if match := self._of_run(words, run):
                matches[run.start, run.end] = match
        vocabulary, common = self._exact.vocabulary, self._kept.words
        listed = readings(pieces, words.words, vocabulary, self._longest, common, self._lang)
        for reading, position in self._looked_up(listed):
            span = reading.start, reading.end
            if reading.is_said and self._is_name(" ".join(pieces.keys[slice(*span)])):
                continue  # its own names say what it means, also where a rule has removed them
            if span not in matches and reading.key:
                names = self._exact.names_at(position)
                if rows := self._rows(pieces, reading, names):
                    text = reading.text or _native(pieces.between(*span), names, rows)
                    matches[span] = Match(*span, pieces.saying(range(*span)), rows, text)
        written = _without_turned(pieces, self._whole(pieces, matches))
        spans = {(match.start, match.end) for match in written}
        coordinated = self._coordinated(words)
        return written + [match for match in coordinated if (match.start, match.end) not in spans]

    def _looked_up(self, listed: Sequence[Reading]) -> list[tuple[Reading, int]]:
        """Look readings up. RETURNS: those that are names, with their positions."""
        new = [reading.key for reading in listed if reading.position is None]
        positions = iter(self._exact.find(hash_keys(new)).tolist() if new else ())
        found = list[tuple[Reading, int]]()
        for reading in listed:
            position = next(positions) if reading.position is None else reading.position
            if position >= 0:
                found.append((reading, position))
        return found

    def _is_name(self, key: str) -> bool:
        return bool(self._exact.find(hash_keys([key]))[0] >= 0)

    def _of_run(self, words: "WordsOfText", run: "Run") -> Match | None:
        """Find the name that a run of pieces is as it is written, or else in another order."""
        pieces, (start, end, position) = words.pieces, run
        names = self._exact.names_at(position)
        key = " ".join(pieces.keys[start:end])
        if rows := self._rows(pieces, Reading(start, end, key), names):
            border = pieces.widest(start, end)
            is_joined = (
                border >= Border.SIGN
                and not _PARTING.isdisjoint("".join(pieces.gaps[start + 1 : end]))
            ) or (border == Border.COMMA and not pieces.element_starts(start))
            return Match(start, end, pieces.saying(range(start, end)), rows, is_joined=is_joined)
        if not (words.is_clause(run) and (key := words.key(range(start, end)))):
            return None
        if not self._ends_phrase(pieces, end):
            return None
        names = self._with_key(names, key)
        if rows := self._kept.rows(list(names)):
            spelled = {word for text in pieces.texts[start:end] for word in name_words(text)}
            rows = _nearest(spelled, {row: names[row] for row in rows})
            return Match(start, end, pieces.saying(range(start, end)), rows, names[rows[0]])
        return None

    def _ends_phrase(self, pieces: Pieces, end: int) -> bool:
        """Tell whether a run of pieces may end a phrase: no "absence of retinal" does in
        "absence of retinal hamartomas", since names rarely end in "retinal".
        """
        if end == len(pieces) or pieces.borders[end] >= Border.SIGN or not pieces.says[end]:
            return True
        inside, last = self._exact.vocabulary.uses(pieces.keys[end - 1])
        if inside or last:
            return inside <= _INSIDE * last
        return not _ADJECTIVE.search(pieces.lower[end - 1])  # no name has the word itself

    def _whole(self, pieces: Pieces, matches: dict[tuple[int, int], Match]) -> list[Match]:
        """Leave out matches that begin within a word, or say nothing.

        "Pre-auricular pit" is no "auricular pit". Where what stands before the hyphen is a mention
        itself, the hyphen parts two: "asthma-COPD".
        """
        hyphens, ends = frozenset(pieces.hyphens), {end for _, end in matches}
        whole = list[Match]()
        for (start, end), match in matches.items():
            is_within = start in hyphens and start not in ends
            if is_within and (end > start + 1 or pieces.lower[start - 1] not in _BEFORE_A_NAME):
                continue
            if end == start + 1 or not self._kept.says_nothing(pieces.lower[start:end]):
                whole.append(match)
        return whole

    def _coordinated(self, words: "WordsOfText") -> list[Match]:
        """Find the names that coordinations stand for, each span once; in any order come last."""
        pieces, matches = words.pieces, dict[tuple[int, str], Match]()
        named = sorted(self._named_coordinations(words), key=lambda item: item[0])
        for _, coordination, names in named:
            text = " ".join([pieces.texts[piece] for piece in coordination.pieces])
            if rows := self._kept_rows(names, text):
                start, end = coordination.pieces[0], coordination.pieces[-1] + 1
                match = Match(start, end, pieces.saying(coordination.pieces), rows, text, False)
                # Of two readings of one text, the one that ends first stays.
                other = matches.get((start, text))
                if other is None or end < other.end:
                    matches[start, text] = match
        firsts = {(match.start, match.end): match for match in reversed(matches.values())}
        return list(firsts.values())

    def _named_coordinations(
        self, words: "WordsOfText"
    ) -> Iterator[tuple[bool, Coordination, dict[int, str]]]:
        """Look up coordinations: (whether the words are in any order, coordination, names)."""
        listed, keys = coordinations(words.pieces), words.pieces.keys
        while batch := list(islice(listed, _TOGETHER)):
            positions = words.positions([coordination.pieces for coordination in batch])
            for coordination, position in zip(batch, positions, strict=True):
                if position < 0:
                    continue
                names = self._exact.names_at(position)
                key = " ".join(filter(None, [keys[piece] for piece in coordination.pieces]))
                if in_order := self._with_key(names, key):
                    yield False, coordination, in_order
                if coordination.is_whole and (key := words.key(coordination.pieces)):
                    yield True, coordination, self._with_key(names, key)

    def _rows(self, pieces: Pieces, reading: Reading, names: dict[int, str]) -> tuple[int, ...]:
        """List the names that a reading may be, written with its commas and stronger borders.

        A comma besides parts whole elements: no "cancer, lung" is in "breast cancer, lung cancer".

        names (Dict[int, str]): by row, those with another key, too.
        """
        start, end, key, text = reading[:4]
        names = self._with_key(names, key)
        if not names or reading.is_form:
            return self._kept_rows(names, text, anywhere=reading.is_said) if names else ()
        border = pieces.widest(start, end)
        if border < Border.COMMA:
            first, last = pieces.characters(start, end)
            is_bracketed = not text and first < pieces.starts[start]
            return self._kept_rows(names, text or pieces.text[first:last], is_bracketed)
        inside = [pieces.borders[at] for at in range(start + 1, end) if at not in reading.joints]
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
        self,
        names: dict[int, str],
        text: str,
        as_written: bool = False,
        anywhere: bool = False,
    ) -> tuple[int, ...]:
        """List the rows of the kept names that a text may be.

        names (Dict[int, str]): with its key. as_written (bool): only names of exactly the text.
        anywhere (bool): in whatever language.
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
        is_foreign = anywhere or _LATIN.fullmatch(text) is not None
        return self._kept.rows(rows, len(text.split()) < 2, is_foreign)


class Run(NamedTuple):
    """Pieces with the words of a name. position (int): of these words in the dictionary."""

    start: int
    end: int
    position: int


class WordsOfText:
    """The words of the pieces of a text, to look up runs of them in whatever order."""

    def __init__(self, pieces: Pieces, exact: ExactIndex, lang: str) -> None:
        self.pieces, self._exact, self._form = pieces, exact, exact.forms.get
        self.words = exact.known_words(lang).of(pieces.texts)
        hashes = np.array([word.hash for word in self.words], dtype=np.uint64)
        # The hash of a run is a difference of two of these sums, which wrap round.
        self._sums = np.zeros(len(self.words) + 1, dtype=np.uint64)
        np.cumsum(hashes, out=self._sums[1:])

    def runs(self, longest: int) -> list[Run]:
        """Find the runs of two pieces or more with the words of names, in whatever order.

        longest (int): pieces of a run.
        """
        sums, lengths = self._sums, range(2, min(longest, len(self.pieces)) + 1)
        runs = [sums[length:] - sums[:-length] for length in lengths]
        if not runs:
            return []
        positions = self._exact.find(np.concatenate(runs))
        firsts = list(accumulate(map(len, runs), initial=0))  # of the runs of each length
        named = list[Run]()
        for entry in np.flatnonzero(positions >= 0).tolist():
            row = bisect_right(firsts, entry) - 1
            start = entry - firsts[row]
            named.append(Run(start, start + lengths[row], int(positions[entry])))
        return named

    def positions(self, runs: Sequence[Sequence[int]]) -> list[int]:
        """Find the positions of the words of pieces that are read together; -1 for no name."""
        sums = [sum([self.words[piece].hash for piece in run]) & _RANGE for run in runs]
        positions: list[int] = self._exact.find(np.array(sums, dtype=np.uint64)).tolist()
        return positions

    def is_clause(self, run: Run) -> bool:
        """Tell whether a run goes over no border, and begins and ends with a meaning."""
        says, borders, gaps = self.pieces.says, self.pieces.borders, self.pieces.gaps
        if not (says[run.start] and says[run.end - 1]):
            return False
        silent = {self.pieces.lower[at] for at in range(run.start, run.end) if not says[at]}
        if silent and silent <= _ARTICLES:  # "drops the foot" is no foot drop
            return False
        return all(
            borders[index] < Border.SIGN
            or (borders[index] == Border.SIGN and _PARTS_WORDS.isdisjoint(gaps[index]))
            for index in range(run.start + 1, run.end)
        )

    def key(self, pieces: Iterable[int]) -> str:
        """Make the key of the words of pieces in any order."""
        keys, texts, form = self.pieces.keys, self.pieces.texts, self._form
        return any_order_key_of(
            [
                form(word, word)
                for piece in pieces
                if not is_link(texts[piece])
                for word in keys[piece].split()
            ]
        )


@lru_cache(maxsize=4096)
def _borders_of(name: str) -> tuple[Border, ...]:
    return tuple(Pieces(without_tag(name)).borders[1:-1])


def _is_written_so(name: str, borders: list[Border]) -> bool:
    """Tell whether a name has the commas and stronger borders of a run of pieces."""
    of_name = _borders_of(name)
    return len(of_name) == len(borders) and all(
        border == in_text or in_text < Border.COMMA
        for border, in_text in zip(of_name, borders, strict=True)
    )


def _native(text: str, names: dict[int, str], rows: Sequence[int]) -> str:
    """Get the name that is found, where one that is not found is written as the text: "" otherwise.

    "Granulocyte" is a cell in English, but a name of another concept in French.
    """
    written = {row for row, name in names.items() if name.casefold() == text.casefold()}
    return names[rows[0]] if written and written.isdisjoint(rows) else ""


def _without_turned(pieces: Pieces, matches: list[Match]) -> list[Match]:
    """Leave out matches that turn the words of a name within them into others.

    "Breast cancer" is a name in "human breast cancer"; these words are no "human mammary neoplasm".
    """
    written = by_word(m for m in matches if not m.reading and m.end > m.start + 1)

    def is_turned(match: Match) -> bool:
        if not match.reading or match.end < match.start + _LEAST_TURNED:
            return False
        words = set(name_words(match.reading))
        turned = {at for at in match.words if words.isdisjoint(pieces.keys[at].split())}
        near = written.get(min(turned), ()) if len(turned) > 1 else ()
        return any(turned <= name.words < match.words for name in near)

    return [match for match in matches if not is_turned(match)]


def _nearest(words: set[str], names: dict[int, str]) -> tuple[int, ...]:
    """Choose the rows of the names with the most words of a mention."""
    common = {row: len(words.intersection(name_words(name))) for row, name in names.items()}
    most = max(common.values())
    return tuple(row for row, count in common.items() if count == most)
