"""Sections and sentences: where a note is cut, and what its headings say."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..headings import Heading, find_headings
from ..marks import FILL
from ..pieces import Border, Pieces
from .cues import Cues, Section, find_words, plain

_TEXT = re.compile(r"\S")
PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n")
_BEFORE_HEADING = 20  # characters before a heading that show whether it stands within a line
_QUERY = re.compile(r"[\s,(/]\?+$")  # of the word behind it: "and ?meningitis"
_BEHIND_A_SENTENCE = re.compile(rf"[ \t]?(?:{FILL}|[^\s\w])*\s+|[{FILL}.!?;:,)\]}}\"'’”]*")


class Part(NamedTuple):
    """A section of a document: its first and last character, and its kind."""

    start: int
    end: int
    section: Section


def find_sections(text: str, cues: Cues) -> list[Part]:
    """Find the sections of a document, laid out, whose headings the cues know, in order.

    A section ends where the next one begins, or at an unknown heading in capitals or with the last
    word of a known one, as "Dental history". It ends after its first paragraph if its kinds apply
    to all its mentions, or if its heading shares a line with text, and after its first sentence if
    its heading stands within a line: later mentions may not belong to it.
    """
    headings: list[tuple[Heading, Section | None]] = []
    for heading in find_headings(text, titles=True):
        words = [plain(word[0]) for word in find_words(heading.title)]
        section = _section_of(words, cues)
        is_known = section is not None or (words and words[-1] in cues.last_words)
        is_shouted = heading.title.isupper() and " " in heading.title.strip()
        if is_known or is_shouted or heading.is_marked:
            headings.append((heading, section))
    parts = []
    ends = [*(heading.start for heading, _ in headings[1:]), len(text)]
    for (heading, section), end in zip(headings, ends, strict=False):
        if section is None:
            continue
        line = text[heading.end : end].partition("\n")[0]
        if (line.strip() or section.said) and not heading.is_marked:
            first = _TEXT.search(text, heading.end, end)
            paragraph = PARAGRAPH.search(text, first.start(), end) if first else None
            end = paragraph.start() if paragraph else end
        is_within = (
            text[max(0, heading.start - _BEFORE_HEADING) : heading.start]
            .rpartition("\n")[2]
            .strip()
        )
        if is_within and section.said and not heading.is_marked:
            following = sentence_starts(text[heading.end : end], cues.shortened)
            end = heading.end + following[0] if following else end
        parts.append(Part(heading.start, end, section))
    return parts


def _is_answer(pieces: Pieces, index: int) -> bool:
    """Tell whether "No." stands before a word, alone in its sentence, and is no "No. 12"."""
    is_no = pieces.lower[index - 1] == "no" and pieces.gaps[index].startswith(". ")
    return is_no and pieces.texts[index][:1].isupper()


def _section_of(words: Sequence[str], cues: Cues) -> Section | None:
    """Find the section of a heading, or that of two and more words that begin or end it.

    "Pertinent past medical history" is past medical history; "Dental history" is unknown.
    """
    count = len(words)
    runs = [range(count), *(range(first, count) for first in range(1, count - 1))]
    runs += [range(last) for last in range(count - 1, 1, -1)]
    titles = (" ".join(words[place] for place in run) for run in runs)
    return next((cues.sections[title] for title in titles if title in cues.sections), None)


def sentence_starts(text: str, shortened: Collection[str] = ()) -> list[int]:
    """Find the starts of all sentences and lines but the first; see `Pieces`.

    text (str): as `laid_out` writes it.
    shortened (Collection[str]): words with full stops that end no sentence, such as "z.n".
    """
    pieces, starts, row = Pieces(text, plain=text), list[int](), -1
    for index, border in enumerate(pieces.borders[:-1]):
        gap = pieces.gaps[index]
        if not index and "\n" not in gap:
            continue
        is_answer = row == index - 1 and _is_answer(pieces, index)
        if border == Border.SENTENCE or (border == Border.SEPARATOR and "\n" in gap) or is_answer:
            row = index  # of the piece that began the last sentence
        else:
            continue
        begin = pieces.ends[index - 1] if index else 0
        if _QUERY.search(gap) and "\n" not in gap:
            continue
        if gap.strip() == "." and "\n" not in gap:
            last = text[pieces.starts[max(0, index - 2)] : begin].lower().replace(" ", "")
            if last in shortened or pieces.lower[index - 1] in shortened:
                continue
        signs = _BEHIND_A_SENTENCE.match(gap)
        starts.append(begin + (signs.end() if signs else 0))
    return starts
