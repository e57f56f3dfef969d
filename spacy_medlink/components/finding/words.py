"""The words of a Doc: which say something, where a clause ends, and the runs of words between."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from spacy.tokens import Doc

from ...text.normalisation import key

_PARAGRAPH = re.compile(r"\n\s*\n")
# As tokens of their own, unlike the full stop of "E. coli".
_SENTENCE_ENDS = frozenset(". .. ... … ! ? ; 。 ！ ？ ； । ؟".split())
_OPENING = {")": "(", "]": "[", "}": "{", "）": "（"}
_CLOSING = {left: right for right, left in _OPENING.items()}


class Match(NamedTuple):
    """A mention that was found.

    start, end (int): its tokens, as in `doc[start:end]`.
    words (FrozenSet[int]): the tokens that say what it is; not all, if others lie between.
    rows (Tuple[int, ...]): rows of the names that it may be.
    reading (str): what it says, where it is written otherwise: "palmar pits" for "palmar and
        plantar pits", "preauricular pit" for "pre-auricular pit", "kidney cyst" for "renal cysts";
        else "".
    is_name (bool): whether it is a name as it stands, neither a reading nor a proposal.
    label (str): that it was given; "" where its names decide.
    """

    start: int
    end: int
    words: frozenset[int]
    rows: tuple[int, ...]
    reading: str = ""
    is_name: bool = True
    label: str = ""


def says(doc: Doc) -> list[bool]:
    """Tell of each token whether it says something: no stop word, punctuation or white space."""
    flags = doc.to_array(["IS_STOP", "IS_PUNCT", "IS_SPACE"]).reshape(len(doc), 3)
    return [not any(own) for own in flags.tolist()]


def saying(doc: Doc, tokens: Sequence[int]) -> frozenset[int]:
    """Take the tokens that say something."""
    return frozenset(
        place
        for place in tokens
        if not (doc[place].is_stop or doc[place].is_punct or doc[place].is_space)
    )


def is_hyphen(doc: Doc, place: int) -> bool:
    """Tell whether a token is the hyphen within a word."""
    if doc[place].text != "-" or not 0 < place < len(doc) - 1:
        return False
    before = doc[place - 1]
    return before.text[-1:].isalnum() and not (before.whitespace_ or doc[place].whitespace_)


def clause_ends(doc: Doc) -> list[bool]:
    """Tell of each token whether no name goes on after it."""
    return [
        (is_punct and token.text != "-") or "\n" in token.text
        for token, is_punct in zip(doc, doc.to_array("IS_PUNCT").tolist(), strict=True)
    ]


def falls_apart(doc: Doc, start: int, end: int) -> bool:
    """Tell whether words do not belong together: two sentences, or half of what brackets hold.

    Punctuation is no part of a key: "... (G6PD) deficiency" has the key of a name, from within the
    brackets on, and so has "... spondylitis. Ankylosing ...", of "Spondylitis, Ankylosing".
    """
    if any(token.text in _SENTENCE_ENDS for token in doc[start : end - 1]):
        return True
    text = doc[start:end].text
    return any(_unpaired(text)) or bool(_PARAGRAPH.search(text))


def with_brackets(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """Take the brackets before and after that belong to those within: "(R)-salbutamol"."""
    closed, opened = _unpaired(doc[start:end].text)
    while opened and end < len(doc) and doc[end].text in _OPENING:
        end, opened = end + 1, opened - 1
    while closed and start > 0 and doc[start - 1].text in _CLOSING:
        start, closed = start - 1, closed - 1
    return start, end


def _unpaired(text: str) -> tuple[int, int]:
    """RETURNS: how many brackets close that were not opened, how many stay open."""
    closed, opened = 0, []
    for sign in text:
        if sign in _CLOSING:
            opened.append(sign)
        elif sign in _OPENING and opened and opened[-1] == _OPENING[sign]:
            opened.pop()
        else:
            closed += sign in _OPENING
    return closed, len(opened)


def clause_runs(doc: Doc, longest: int) -> Iterator[tuple[int, int]]:
    """List the runs of two words and more that begin and end in one that says something."""
    ends = clause_ends(doc)
    speaks = says(doc)
    for start in (place for place, one in enumerate(speaks) if one):
        for last in range(start + 1, min(start + longest, len(doc))):
            if ends[last]:
                break
            if speaks[last]:
                yield start, last + 1


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


@lru_cache(maxsize=65536)
def part(text: str) -> tuple[str, bool]:
    """Make the key of a token, and tell whether alone it is too little to be a mention."""
    own = key(text)
    return own, len(own) < 2 or own.replace(" ", "").isdigit()
