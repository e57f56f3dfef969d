"""The words of a sentence as cues see them: a mention is one word, whatever words it has."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .cues import KINDS, YEAR, Cue, Cues, find_words, plain

COMMAS = frozenset(",()")
AND, OR = frozenset("and y e ed et und &".split()), frozenset("or nor o ni ou oder né".split())
JOINTS = frozenset([*COMMAS, "/", *AND, *OR])
ARTICLES = frozenset("a an the un una le la el der die das ein eine".split())
_HYPHENS = frozenset("-\u2010\u2011")
_DASHES = _HYPHENS | frozenset("–—")
_BULLET = re.compile(r"\s*(?:[-*•+>·–]|\d+[.)]|[a-z][.)])\s")
# "Denies the following: fever": words before a colon that ends no negation, as plurals do not.
_ANNOUNCE = frozenset(
    "following hx sx history any of for including other di für symptome beschwerden zeichen "
    "folgende folgendes sintomi segni seguenti".split()
)
STOPS = frozenset(".!?;")

Span = tuple[int, int]


class Place(NamedTuple):
    """A cue in a sentence: its first word, the word after it, and what it does."""

    start: int
    stop: int
    cue: Cue


class Words:
    """The words of a sentence, what stands between them, and the cues among them.

    words (List[str]): in lower case; a mention is "", an answer ",". starts (List[int]): their
        characters. mentions, commas, cells, results (List[int]): words that are mentions, commas
        or brackets, the first of a cell, and colons before a result; joints: "and" or "or", ands:
        "and". item_starts, item_ends (List[int]): of the item of a list that each word is in.
        loose, chain_starts: see `_loose`. cues (List[Place]): left to right. sets: words of the
        language.
    """

    def __init__(
        self, text: str, span: Span, cues: Cues, mentions: Sequence[Span], answers: Sequence[Span]
    ) -> None:
        """Read a sentence. span, mentions, answers: their characters."""
        self.is_bullet = _BULLET.match(text, *span) is not None
        self.last_sign = text[slice(*span)].rstrip()[-1:]
        self.sets: Mapping[str, frozenset[str]] = cues.sets
        matches = list(find_words(text, *span))
        self.starts = [word.start() for word in matches]
        ends, words = [word.end() for word in matches], [plain(word[0]) for word in matches]
        for first, last in answers:
            for index in range(bisect_left(self.starts, first), bisect_left(self.starts, last)):
                words[index] = ","
        hidden, self._first_words = set[int](), dict[int, str]()
        outside = self.sets.get("heading", frozenset()) | self.sets.get("outside", frozenset())
        for first, last in [self.run(*mention) for mention in mentions] if words else ():
            if cues.has_title(words[first:last]):
                continue  # "past medical history" speaks of others, though a terminology has it
            while first < last - 1 and words[first] in outside:
                first += 1  # "no fever impression pneumonia", where all but "no" is found
            while first < last - 1 and words[last - 1] in outside:
                last -= 1
            self._first_words.setdefault(self.starts[first], words[first])
            words[first], ends[first] = "", ends[min(last, len(words)) - 1]
            hidden.update(range(first + 1, last))
        kept = [index for index in range(len(words)) if index not in hidden]
        self.starts = [self.starts[index] for index in kept]
        self.words = words = [words[index] for index in kept]
        self._gaps = [
            text[ends[left] : start] for left, start in zip(kept, self.starts[1:], strict=False)
        ]
        self._index()
        first = self.mentions[0] if self.mentions else len(words)
        self.cues = [Place(*place) for place in cues.find([*words, "."], first)]
        self.ends = {kind: [at for at in self.cues if kind in at.cue.ends] for kind in KINDS}
        self.looking_on = {
            kind: {at.start for at in self.cues if at.cue.kind == kind and at.cue.forward}
            for kind in KINDS
        }
        self.chain_starts: list[int] = []
        self.loose = self._loose()

    def _index(self) -> None:
        """Note where the words of each sort are."""
        words, spoken = self.words, self.sets.get("comma", frozenset())
        for index in range(1, len(words)):
            if words[index] in spoken and not words[index - 1]:
                words[index] = ","
        numbered = list(enumerate(words))
        self.mentions = [index for index, word in numbered if not word]
        self.commas = [index for index, word in numbered if word in COMMAS]
        self.joints = [index for index, word in numbered if word in AND or word in OR]
        self.ands = [index for index in self.joints if words[index] in AND]
        tabs = [index for index, gap in enumerate(self._gaps, 1) if "\t" in gap]
        self.cells = sorted([*tabs, *(index for index, word in numbered if word == "|")])
        self.dashes = list(filter(self._is_dash, range(len(words))))
        self.results = [
            index
            for index, word in numbered[1:]
            if word == ":" and _begins_result(words[index - 1])
        ]
        self.item_starts, self.item_ends = _items(words)
        self.is_bare = all(word in JOINTS or not word.isalnum() for word in words)
        self.is_dictated = not self.commas and self.last_sign not in STOPS

    def __len__(self) -> int:
        return len(self.words)

    def _loose(self) -> list[int | None]:
        """Find for each mention the first one behind it that nothing joins to the one before.

        "Fever cough": cough is; "fever cough or rash" is a list, and "no" begins another one.
        """
        mentions, negations = self.mentions, self.looking_on["negated"]
        loose: list[int | None] = [None] * len(mentions)
        is_closed, found = False, None
        for row in range(len(mentions) - 1, 0, -1):
            between = range(mentions[row - 1] + 1, mentions[row])
            is_joined = any(self.words[i] in JOINTS or i in negations for i in between)
            is_closed = is_joined or (is_closed and not between)
            if not is_closed:
                found = mentions[row]
                self.chain_starts.append(found)
            loose[row - 1] = found
        self.chain_starts.reverse()
        return loose

    def before(self, index: int) -> str | None:
        """Get the word before a word; None at the beginning."""
        return self.words[index - 1] if index else None

    def run(self, start: int, end: int) -> Span:
        """Find the first word of a mention and the word after it, by characters."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        return first, max(bisect_left(self.starts, end), first + 1)

    def is_joined(self, index: int) -> bool:
        """Tell whether a word is the hyphen of a compound: "non-cardiac"."""
        return (
            0 < index < len(self.words) - 1
            and self.words[index] in _HYPHENS
            and not self._gaps[index - 1]
            and not self._gaps[index]
        )

    def _is_dash(self, index: int) -> bool:
        """Tell whether a word is a dash between spaces: "Gout - no fever - cough"."""
        if not 0 < index < len(self.words) - 1 or self.words[index] not in _DASHES:
            return False
        return bool(self._gaps[index - 1] and self._gaps[index])

    def begins_mention(self, index: int) -> bool:
        """Tell whether a mention follows at a word, but for an article."""
        while index < len(self.words) and self.words[index] in ARTICLES:
            index += 1
        return index < len(self.words) and not self.words[index]

    def ended(self, index: int) -> set[str]:
        """Return the kinds that end phrases before a word stop; a year is one of its item alone."""
        before = [at for at in self.cues if at.stop <= index and self.words[at.start] != YEAR]
        return {kind for at in before for kind in at.cue.ends}

    def is_one_of(self, index: int, name: str) -> bool:
        """Tell whether a word, or the first word of a mention, is of a set."""
        word = self.words[index] if index < len(self.words) else ""
        word = word or self._first_words.get(self.starts[min(index, len(self.words) - 1)], "")
        return word in self.sets.get(name, ())

    def ends_with(self, at: Place, name: str) -> bool:
        """Tell whether the last word of a cue is of a set."""
        return self.words[min(at.stop, len(self.words)) - 1] in self.sets.get(name, ())

    def has_word_of(self, at: Place, name: str) -> bool:
        """Tell whether a cue has a word of a set."""
        return not self.sets.get(name, frozenset()).isdisjoint(self.words[at.start : at.stop])


def is_sign(word: str) -> bool:
    """Tell whether a word is a sign; a mention is none."""
    return bool(word) and not word.isalnum()


def _begins_result(before: str) -> bool:
    """Tell whether a colon ends a negation: "No change: edema", but not "No red flags: fever".

    before (str): the word before the colon.
    """
    is_list = before in _ANNOUNCE or (before.endswith("s") and not before.endswith("ss"))
    return not is_list


def _items(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Find for each word where the item of a list begins that it is in, and where it ends."""
    joints = [-1, *(index for index, word in enumerate(words) if word in JOINTS), len(words)]
    starts, ends = list[int](), list[int]()
    for before, behind in pairwise(joints):
        starts += [before + 1] * (behind - before)
        ends += [behind] * (behind - before)
    return starts, ends
