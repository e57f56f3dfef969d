"""The context of mentions by ConText: a cue reaches over its sentence until an end phrase.

Harkema et al. 2009, "ConText: an algorithm for determining negation, experiencer, and temporal
status from clinical reports". Sections are an addition of this package.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from .answers import Answer, answer_to
from .cues import Cues, find_words
from .limits import reaches_of
from .sections import PARAGRAPH, Part, sentence_starts
from .speakers import without_speakers
from .words import AND, JOINTS, OR, STOPS, Span, Words, is_sign

_ONCE = ("negated", "historical")  # "no longer" says both
_GAP = 20  # characters between two items
_AT_THE_BEGINNING = re.compile(r"(?:\A|[\n.;!?] ?)\Z")


class Said(NamedTuple):
    """The context of a mention.

    kinds (FrozenSet[str]): some of KINDS. section (str): the name of its section, "" for none.
    """

    kinds: frozenset[str] = frozenset()
    section: str = ""


def said_of(
    text: str, mentions: Sequence[tuple[int, int]], cues: Cues, parts: Sequence[Part] = ()
) -> list[Said]:
    """Find the context of each mention of a document.

    text (str): as `laid_out` writes it.
    mentions (Sequence[Tuple[int, int]]): first and last character + 1 of each mention.
    parts (Sequence[Part]): the result of `find_sections`.
    RETURNS (List[Said]): in the order of the mentions.
    """
    if not mentions:
        return []
    text = without_speakers(text, mentions, cues.answers) if "?" in text or ":" in text else text
    starts_of_parts = [part.start for part in parts]
    answers = _answers(text, sorted(set(mentions)), cues)
    starts, sentences = _read_sentences(text, mentions, answers, cues)
    contexts = []
    for start, end in mentions:
        sentence = sentences[bisect_right(starts, start) - 1]
        kinds, name = sentence.said_of(start, end), ""
        if answer := answers.get((start, end)):
            kinds = kinds - {"negated", "uncertain", "hypothetical"} | ({answer.kind} - {""})
        part = parts[bisect_right(starts_of_parts, start) - 1] if parts else None
        if part is not None and part.start <= start < part.end:
            kinds, name = kinds | sentence.implied(part.section.said, start), part.section.name
        contexts.append(Said(kinds, name))
    return contexts


def _answers(text: str, mentions: Sequence[Span], cues: Cues) -> dict[Span, Answer]:
    """Find what answers say of mentions; "Fever or chills? No." and "Ø nausea/vomiting" of both."""
    words, pattern, answers = cues.answers, cues.answer_pattern, dict[Span, Answer]()
    for mention in mentions:
        if answer := answer_to(text, *mention, words, pattern):
            answers[mention] = answer
    for before, mention in reversed(list(pairwise(mentions))):
        answer = answers.get(mention)
        if answer and before not in answers and answer.start >= mention[1]:
            gap = text[before[1] : mention[0]]
            is_asked = text[mention[1] : mention[1] + 2].lstrip()[:1] in (":", "?")
            is_pair = gap.strip().lower() in AND | OR and _AT_THE_BEGINNING.search(
                text, max(0, before[0] - 2), before[0]
            )
            if (is_asked and _is_joint(gap)) or is_pair:
                answers[before] = Answer(answer.kind, before[1], before[1])
    for before, mention in pairwise(mentions):
        answer, gap = answers.get(before), text[before[1] : mention[0]]
        if answer and mention not in answers and answer.start < before[0]:
            # "(-) fever, cough, (+) rash": a sign before a list, until the next sign.
            is_of_list = answer.is_of_list and _is_joint(gap)
            if gap == "/" or is_of_list:
                start = answer.start if is_of_list else mention[0]
                answers[mention] = Answer(answer.kind, start, start, is_of_list)
    return answers


def _is_joint(gap: str) -> bool:
    """Tell whether two mentions with this between them are items of one list."""
    words = [word[0] for word in find_words(gap.lower())] if len(gap) < _GAP else [gap]
    return bool(words) and all(word in JOINTS or word == "any" for word in words)


def _read_sentences(
    text: str, mentions: Sequence[Span], answers: dict[Span, Answer], cues: Cues
) -> tuple[list[int], dict[int, "_Sentence"]]:
    """Read the sentences and lines near mentions, and what one says of the next.

    "Denies:" speaks of the list below it, "Denies fever; cough" of what follows the semicolon, and
    a line that ends with a cue of the line below it.
    RETURNS: the starts of sentences, and those that were read, by their number.
    """
    bounds = list[Span]()
    for begin, stop in _blocks(text, mentions):
        inside = sentence_starts(text[begin:stop], cues.shortened)
        bounds += pairwise([begin, *(begin + start for start in inside), stop])
    starts = [start for start, _ in bounds]
    named, answered = dict[int, list[Span]](), dict[int, list[Span]]()
    for mention in mentions:
        named.setdefault(bisect_right(starts, mention[0]) - 1, []).append(mention)
    for answer in answers.values():
        first, last = answer.start, answer.end
        answered.setdefault(bisect_right(starts, first) - 1, []).append((first, last))
    sentences: dict[int, _Sentence] = {}
    before: _Sentence | None = None
    for row, (start, end) in enumerate(bounds):
        written = text[start:end].rstrip()
        if not written and row not in named:
            continue
        if not (row in named or row + 1 in named or before or written[-1:] == ":"):
            continue
        spans = named.get(row, ()), answered.get(row, ())
        words = Words(text, (start, end), cues, *spans)
        sentences[row] = sentence = _Sentence(words)
        if before is not None:
            sentence.carried = sentence.goes_on_with(before)
        before = sentence if sentence.is_open else None
    return starts, sentences


def _blocks(text: str, mentions: Iterable[Span]) -> Iterator[Span]:
    """Find the paragraphs with mentions, each with the paragraph before it: nothing else counts."""
    starts = [0, *(gap.end() for gap in PARAGRAPH.finditer(text)), len(text)]
    last = 0
    for row in sorted({bisect_right(starts, start, 0, len(starts) - 1) for start, _ in mentions}):
        start, end = max(last, starts[max(0, row - 2)]), starts[row]
        yield start, end
        last = end


class _Sentence:
    """What the cues of a sentence say of its mentions, and of the next sentence."""

    def __init__(self, words: Words) -> None:
        self.carried: frozenset[str] = frozenset()
        self.words, self._reaches = words, dict[str, tuple[list[int], list[int]]]()
        for kind, reaches in reaches_of(words).items():
            reaches.sort()
            furthest = list(accumulate((end for _, end in reaches), max))
            self._reaches[kind] = [begin for begin, _ in reaches], furthest
        starts = [{at.start for at in words.cues if at.cue.kind == kind} for kind in _ONCE]
        self._is_no_longer = not starts[0].isdisjoint(starts[1])

    @property
    def is_open(self) -> bool:
        """Whether a cue reaches the end of the sentence, so that it may reach the next one."""
        return bool(self._open_kinds or self.carried)

    @property
    def _open_kinds(self) -> frozenset[str]:
        count = len(self.words)
        return frozenset(kind for kind, (_, ends) in self._reaches.items() if ends[-1] > count)

    @property
    def _ends_with_a_cue(self) -> bool:
        texts = self.words.words
        near = (at for at in self.words.cues if at.stop > len(texts) - 3)
        return any(at.cue.forward and all(map(is_sign, texts[at.stop :])) for at in near)

    def goes_on_with(self, before: "_Sentence") -> frozenset[str]:
        """Return the kinds that the sentence before carries over to this one.

        Only an item, or nothing but mentions, goes on with a list; a line goes on with a line that
        ends with a cue.
        """
        words, last_sign = self.words, before.words.last_sign
        if before._ends_with_a_cue and last_sign not in STOPS:
            return before._open_kinds - words.ended(len(words))
        if words.cues or not (words.is_bullet or words.is_bare):
            return frozenset()
        if before.carried:
            return before.carried
        goes_on = words.is_bare and (last_sign == "," or not before.words.joints)
        is_headed = last_sign == ":" or (last_sign in ",;" and goes_on)
        return before._open_kinds if is_headed else frozenset()

    def said_of(self, start: int, end: int) -> frozenset[str]:
        """Return the kinds of the cues that reach a mention.

        What is negated is not past, too: it was not there. "No longer" says both.
        """
        first, last = self.words.run(start, end)
        kinds = set(self.carried)
        for kind, (begins, furthest) in self._reaches.items():
            row = bisect_right(begins, first) - 1
            if row >= 0 and furthest[row] >= last:
                kinds.add(kind)
        if kinds.issuperset(_ONCE) and not self._is_no_longer:
            kinds.remove("historical")
        return frozenset(kinds)

    def implied(self, kinds: frozenset[str], start: int) -> frozenset[str]:
        """Return the section's kinds without those that an end phrase before the mention stops."""
        return kinds - self.words.ended(self.words.run(start, start + 1)[0])
