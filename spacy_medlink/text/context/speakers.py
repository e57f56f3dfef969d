"""Speakers: "D: Any cough? P: No." is read as "Any cough? No.", whatever they are called."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from .words import Span

_NAME = r"(?:(?:Dr|Mrs?|Ms|Prof)\.?[ ])?[^\W\d_][\w'’]{0,19}"
# At the start of a line or a sentence: "Dr. Lee:", "Q.", "Pt -", "[Nurse]".
_LABEL = re.compile(
    rf"(?:^|(?<=[.?!]\s))[ \t]*(?:[\[<](?P<bracketed>{_NAME})[\]>]:?"
    rf"|(?P<name>{_NAME})(?:[ ]?:|[ ][-–—](?=\s)|(?<=\W[^\W\d_])\.(?=\s)|(?<=^[^\W\d_])\.(?=\s)))",
    re.MULTILINE | re.IGNORECASE,
)
_FILLERS = r"(?:(?:well|oh|um|uh|hm+|ah|er|yeah)[,.]?\s+(?=yes|yeah|no|nope|not))?"
_FIRST = re.compile(rf"\s*{_FILLERS}([^\W\d_]+)", re.IGNORECASE)
_ASKS = re.compile(
    r"\s*(?:and\s+)?(?:any|do|does|did|have|has|had|are|is|was|were|ever)\b", re.IGNORECASE
)
_REPLIES = frozenset("i well maybe not my it just only once sometimes".split())


class _Turn(NamedTuple):
    """What somebody says: who, the characters of the label, and of the words."""

    name: str
    label: Span
    words: Span


def without_speakers(text: str, mentions: Sequence[Span], answers: Collection[str]) -> str:
    """Blank the labels of speakers who ask and answer; all other characters stay where they are.

    mentions (Sequence[Tuple[int, int]]): their characters: none is a speaker. answers
        (Collection[str]): words that answer, in lower case.
    """
    turns = _turns(text, {start for start, _ in mentions})
    speakers, replies = set[str](), _REPLIES.union(answers)
    for asked, said in pairwise(turns):
        reply = _FIRST.match(text, *said.words)
        is_reply = reply is not None and reply[1].lower() in replies
        if is_reply and asked.name != said.name and _is_question(text, asked):
            speakers.update((asked.name, said.name))
    parts, last, before = list[str](), 0, None
    for turn in turns if speakers else ():
        if turn.name not in speakers:
            continue
        start, end = turn.label
        filler = _FIRST.match(text, *turn.words)
        end = filler.start(1) if filler else end
        is_open = before and _is_question(text, before) and "?" not in text[slice(*before.words)]
        blank = "".join(sign if sign.isspace() else " " for sign in text[start:end])
        parts += [text[last:start], "?" + blank[1:] if is_open else blank]
        last, before = end, turn
    return "".join([*parts, text[last:]])


def _turns(text: str, mentions: Collection[int]) -> list[_Turn]:
    labels = [
        label for label in _LABEL.finditer(text) if label.start(_group(label)) not in mentions
    ]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    return [
        _Turn(
            label[_group(label)].lower(),
            (label.start() + len(label[0]) - len(label[0].lstrip()), label.end()),
            (label.end(), end),
        )
        for label, end in zip(labels, ends, strict=False)
    ]


def _group(label: re.Match[str]) -> str:
    return label.lastgroup or "name"


def _is_question(text: str, turn: _Turn) -> bool:
    words = text[slice(*turn.words)].rstrip()
    return words.endswith("?") or (words[-1:].isalnum() and _ASKS.match(words) is not None)
