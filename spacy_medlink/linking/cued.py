"""Cues inside a mention that an NER has found: "no fever", "mother with asthma"."""

import re
from collections.abc import Callable

from ..text.context.cues import KINDS, Cue, Cues, find_words, plain
from ..types import Candidate
from .decision import is_named
from .prepare import Document, Place

# Between a cue and what it speaks of, in the languages that have cues.
_LINKS = frozenset(
    "a an the any of for to with has had have having was is been de del la el los las un una con "
    "tiene tenía tuvo du des le les une avec ayant eu ont der die das dem den ein eine einen einer "
    "von für mit hat hatte bei di della dello il lo gli i ha aveva da".split()
)
# "Her mother has asthma": before a cue.
_OWNERS = _LINKS | frozenset(
    "his her their my s patient pt su sus sa son ses leur seine seiner ihre ihrer suo sua".split()
)
_PREFIX = re.compile(r"[-\u2010\u2011][^\W_]")
_BRACKETS = frozenset("([{")
_PREVENTION = "hypothetical"  # behind a mention: "flu vaccine", which is no flu
Characters = tuple[int, int]
Retrieve = Callable[[list[str]], list[list[Candidate]]]
_WordCue = tuple[int, int, Cue]


def without_cues(text: str, start: int, end: int, cues: Cues) -> list[Characters]:
    """Leave out the cues that a mention begins or ends with, one after the other.

    The first part of a compound is none: "non-small cell lung cancer", "post-stroke".

    start, end (int): characters of the mention.
    RETURNS (List[Tuple[int, int]]): characters of what is left, the longest first: of "history of
        absent speech" that is "absent speech", then "speech"; [] without any cues.
    """
    if text[start:end].isalpha():
        return []
    matches = list(find_words(text, start, end))
    words = [plain(match[0]) for match in matches]
    begins = any(words[place] in cues.phrases for place in _openings(words))
    if len(words) < 2 or not (begins or not cues.closing_words.isdisjoint(words[1:])):
        return []  # most mentions have no cues
    is_joined = [_PREFIX.match(text, match.end()) for match in matches]
    found = [cue for cue in cues.find(words, 0) if cue[2].kind in KINDS]
    found = [cue for cue in found if not is_joined[cue[1] - 1]]
    firsts = _firsts(words, [cue for cue in found if cue[2].forward])
    last = _last(words, [cue for cue in found if cue[2].backward], firsts[-1])
    return [
        (matches[first].start() if first else start, matches[last - 1].end())
        for first in firsts
        if (first or last < len(words)) and any(word.isalpha() for word in words[first:last])
    ]


def read_without_cues(text: str, place: Characters, cues: Cues, retrieve: Retrieve) -> Characters:
    """Find what is looked up of a mention: the longest name without cues, else all that is left.

    "No light perception" and "absence seizure" are names. place (Tuple[int, int]): characters of
    the mention. retrieve (Callable): gives the candidates of texts.
    """
    left = without_cues(text, *place, cues)
    ways = [place, *left] if left else []
    rankings = retrieve([text[start:end] for start, end in ways]) if ways else []
    named = (way for way, own in zip(ways, rankings, strict=True) if any(map(is_named, own)))
    return next(named, left[-1] if left else place)


def document_without_cues(document: Document, cues: Cues, retrieve: Retrieve) -> Document:
    """Read the mentions of a document without the cues inside of them, as `pipe` reads spans."""
    places, text = list[Place](), document.text
    for place in document.mentions:
        if place.start >= 0 and text[place.start : place.end] == place.text:
            start, end = read_without_cues(text, (place.start, place.end), cues, retrieve)
            place = place._replace(text=text[start:end], start=start, end=end)
        places.append(place)
    return document._replace(mentions=places)


def _openings(words: list[str]) -> list[int]:
    """List the words that a first cue may begin with: "?stroke", "( s/p", "his past stroke"."""
    skipped = [_skipped(words, 0, passed) for passed in (frozenset[str](), _OWNERS)]
    return [0, *skipped] if words else []


def _firsts(words: list[str], found: list[_WordCue]) -> list[int]:
    """Find the first word behind each of the cues that begin a mention; [0] without any."""
    ends = {start: end for start, end, _ in found}
    firsts, place = list[int](), next((place for place in _openings(words) if place in ends), -1)
    while place in ends and ends[place] < len(words):
        place = _skipped(words, ends[place], _LINKS)
        firsts.append(place)
    return firsts or [0]


def _skipped(words: list[str], place: int, passed: frozenset[str]) -> int:
    """Find the next word that is neither a sign nor one of some words; the last one at most."""
    last = len(words) - 1
    while place < last and (words[place] in passed or not words[place].isalnum()):
        place += 1
    return place


def _last(words: list[str], found: list[_WordCue], first: int) -> int:
    """Find the end of the words before the cues that end a mention."""
    last = len(words)
    if first and words[0] in _BRACKETS and not words[-1].isalnum():
        last -= 1
    starts = {end: start for start, end, cue in found if cue.kind != _PREVENTION}
    while starts.get(last, 0) > first:
        last = starts[last]
        while last > first + 1 and not words[last - 1].isalnum():
            last -= 1
    return last
