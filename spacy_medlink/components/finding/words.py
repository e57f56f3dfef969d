"""The tokens of a Doc: content words, the ends of clauses, and the runs of words within."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ...assets.dictionary import name_words
from ...text.normalisation import key

_READ: list[int | str] = ["ORTH", "IDX", "SPACY", "IS_STOP", "IS_PUNCT", "IS_SPACE"]

_PARAGRAPH = re.compile(r"\n\s*\n")
# As tokens of their own, unlike the full stop of "E. coli".
_SENTENCE_ENDS = frozenset(". .. ... … ! ? ; 。 ！ ？ ； । ؟".split())
_OPENING = {")": "(", "]": "[", "}": "{", "）": "（"}
_CLOSING = {left: right for right, left in _OPENING.items()}
_BRACKETS = frozenset([*_OPENING, *_CLOSING])


class Match(NamedTuple):
    """A mention that was found.

    start, end (int): its tokens, as in `doc[start:end]`.
    words (FrozenSet[int]): the tokens that carry its meaning; not all, if others lie between.
    rows (Tuple[int, ...]): rows of the names that it may be.
    reading (str): its meaning, where the text differs: "palmar pits" for "palmar and plantar pits",
        "preauricular pit" for "pre-auricular pit", "kidney cyst" for "renal cysts"; else "".
    is_name (bool): whether the text itself is a name, neither a reading nor a proposal.
    label (str): a given label; "" where the names decide.
    """

    start: int
    end: int
    words: frozenset[int]
    rows: tuple[int, ...]
    reading: str = ""
    is_name: bool = True
    label: str = ""


_key = lru_cache(maxsize=65536)(key)
_words = lru_cache(maxsize=65536)(name_words)


def key_of(words: Iterable[str]) -> str:
    """Make the key of a text from the keys of its words."""
    return " ".join(filter(None, map(_key, words)))


class Tokens:
    """The tokens of a Doc as lists, which are read at once: a Token object for each takes longer.

    doc (Doc), text (str): of the tokens. texts, spaced (List[str]): of each token, without and with
        the white space behind it. starts (List[int]): their places in the text.
    is_stop, is_punct, is_space (List[int]): 0 or 1. says (List[bool]): whether a token is a
        content word, no stop word, punctuation or space.
    """

    def __init__(self, doc: Doc) -> None:
        self.doc, table = doc, doc.to_array(_READ)
        orths, self.starts, spaces, self.is_stop, self.is_punct, self.is_space = table.T.tolist()
        self.says: list[bool] = np.logical_not(table[:, 3:].any(axis=1)).tolist()
        strings = doc.vocab.strings
        self.texts: list[str] = [strings[orth] for orth in orths]
        self.spaced = [
            text + " " if space else text for text, space in zip(self.texts, spaces, strict=True)
        ]
        self.text = "".join(self.spaced)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def keys(self) -> list[str]:
        """The key of each token."""
        return list(map(_key, self.texts))

    @cached_property
    def words(self) -> list[list[str]]:
        """The keys of the words of each token, without linking words."""
        return list(map(_words, self.texts))

    @cached_property
    def lower(self) -> list[str]:
        """The texts in lower case."""
        return list(map(str.lower, self.texts))

    @cached_property
    def hyphens(self) -> list[int]:
        """The tokens that are the hyphen within a word."""
        spaced = self.spaced
        return [
            place
            for place in range(1, len(spaced) - 1)
            if spaced[place] == "-" and spaced[place - 1][-1:].isalnum()
        ]

    @cached_property
    def clause_ends(self) -> list[bool]:
        """Whether a clause ends at a token, so that no name continues after it."""
        return [
            (bool(punct) and text != "-") or "\n" in text
            for text, punct in zip(self.texts, self.is_punct, strict=True)
        ]

    def between(self, start: int, end: int) -> str:
        """Get the text of a run of tokens, as `doc[start:end].text`."""
        return self.text[self.starts[start] : self.starts[end - 1] + len(self.texts[end - 1])]

    def saying(self, places: Iterable[int]) -> frozenset[int]:
        """Keep the tokens that are content words."""
        return frozenset([place for place in places if self.says[place]])

    def falls_apart(self, start: int, end: int) -> bool:
        """Tell whether words do not belong together: of two sentences, or with half a bracket pair.

        Punctuation is no part of a key: "... (G6PD) deficiency" has the key of a name, from within
        the brackets on, and so has "... spondylitis. Ankylosing ...", of "Spondylitis, Ankylosing".
        """
        if not _SENTENCE_ENDS.isdisjoint(self.texts[start : end - 1]):
            return True
        text = self.between(start, end)
        return any(_unpaired(text)) or bool(_PARAGRAPH.search(text))

    def with_brackets(self, start: int, end: int) -> tuple[int, int]:
        """Include brackets outside that pair with brackets inside: "(R)-salbutamol"."""
        closed, opened = _unpaired(self.between(start, end))
        while opened and end < len(self) and self.texts[end] in _OPENING:
            end, opened = end + 1, opened - 1
        while closed and start > 0 and self.texts[start - 1] in _CLOSING:
            start, closed = start - 1, closed - 1
        return start, end

    def clause_runs(self, longest: int) -> Iterator[tuple[int, int]]:
        """List the runs of two or more words that begin and end with a content word."""
        ends, says = self.clause_ends, self.says
        for start in (place for place, one in enumerate(says) if one):
            for last in range(start + 1, min(start + longest, len(self))):
                if ends[last]:
                    break
                if says[last]:
                    yield start, last + 1


def _unpaired(text: str) -> tuple[int, int]:
    """Count the closing brackets without an opening one, and the opening ones left open."""
    if _BRACKETS.isdisjoint(text):
        return 0, 0
    closed, opened = 0, []
    for sign in text:
        if sign in _CLOSING:
            opened.append(sign)
        elif sign in _OPENING and opened and opened[-1] == _OPENING[sign]:
            opened.pop()
        else:
            closed += sign in _OPENING
    return closed, len(opened)


def runs(words: Sequence[str], longest: int) -> tuple[list[str], list[int]]:
    """Join each word with those after it: first all single words, then all pairs, and so on.

    RETURNS (Tuple[List[str], List[int]]): the runs, and how many there are up to each length.
    """
    own = list(words)
    joined: list[str] = []
    ends: list[int] = []
    for length in range(1, min(longest, len(own)) + 1):
        if length > 1:
            own = [f"{run} {word}" for run, word in zip(own, words[length - 1 :], strict=False)]
        joined += own
        ends.append(len(joined))
    return joined, ends
