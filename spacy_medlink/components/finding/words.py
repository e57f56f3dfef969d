"""The words of a Doc: content words, the ends of clauses, and the runs of words within."""

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


def says(doc: Doc) -> list[bool]:
    """Tell for each token whether it is a content word: no stop word, punctuation or space."""
    flags = doc.to_array(["IS_STOP", "IS_PUNCT", "IS_SPACE"]).reshape(len(doc), 3)
    return [not any(own) for own in flags.tolist()]


def saying(doc: Doc, tokens: Sequence[int]) -> frozenset[int]:
    """Keep the tokens that are content words."""
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
    """Tell for each token whether a clause ends there, so that no name continues after it."""
    return [
        (is_punct and token.text != "-") or "\n" in token.text
        for token, is_punct in zip(doc, doc.to_array("IS_PUNCT").tolist(), strict=True)
    ]


def falls_apart(doc: Doc, start: int, end: int) -> bool:
    """Tell whether words do not belong together: of two sentences, or with half a bracket pair.

    Punctuation is no part of a key: "... (G6PD) deficiency" has the key of a name, from within the
    brackets on, and so has "... spondylitis. Ankylosing ...", of "Spondylitis, Ankylosing".
    """
    if any(token.text in _SENTENCE_ENDS for token in doc[start : end - 1]):
        return True
    text = doc[start:end].text
    return any(_unpaired(text)) or bool(_PARAGRAPH.search(text))


def with_brackets(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """Include brackets outside that pair with brackets inside: "(R)-salbutamol"."""
    closed, opened = _unpaired(doc[start:end].text)
    while opened and end < len(doc) and doc[end].text in _OPENING:
        end, opened = end + 1, opened - 1
    while closed and start > 0 and doc[start - 1].text in _CLOSING:
        start, closed = start - 1, closed - 1
    return start, end


def _unpaired(text: str) -> tuple[int, int]:
    """Count the closing brackets without an opening one, and the opening ones left open."""
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
    """List the runs of two or more words that begin and end with a content word."""
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
    """Make the key of a token, and tell whether it is too short to be a mention alone."""
    own = key(text)
    return own, len(own) < 2 or own.replace(" ", "").isdigit()
