"""The context of mentions by ConText: a cue reaches over its sentence until an end phrase.

Harkema et al. 2009, "ConText: an algorithm for determining negation, experiencer, and temporal
status from clinical reports". Sections are an addition of this package.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ..headings import Heading, find_headings
from ..pieces import Border, Pieces
from .answers import Answer, answer_to
from .cues import END, KINDS, YEAR, Cue, Cues, Section, find_words, plain

_BULLET = re.compile(r"\s*(?:[-*•+>·–]|\d+[.)]|[a-z][.)])\s")
_BEHIND_A_SENTENCE = re.compile(r"[ \t]?[^\s\w]*\s+|[.!?;:,)\]}\"'’”]*")
_QUERY = re.compile(r"[\s,(/]\?+$")  # of the word behind it: "and ?meningitis"
_STOPS = frozenset(".!?;")
_COMMAS = frozenset(",()")
_AND, _OR = frozenset("and y e ed et und &".split()), frozenset("or nor o ni ou oder né".split())
_JOINTS = frozenset([*_COMMAS, "/", *_AND, *_OR])
_ITEM = 20  # words that an item of a list may have
_ARTICLES = frozenset("a an the un una le la el der die das ein eine".split())
_OF_ITEMS = ("historical", "uncertain")
_TEXT = re.compile(r"\S")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n")


class Said(NamedTuple):
    """The context of a mention.

    kinds (FrozenSet[str]): some of KINDS. section (str): the name of its section, "" for none.
    """

    kinds: frozenset[str] = frozenset()
    section: str = ""


class Part(NamedTuple):
    """A section of a document: its first and last character, and its kind."""

    start: int
    end: int
    section: Section


_Found = tuple[int, int, Cue]  # the first word of a cue, the word after the cue, and the cue


def find_sections(text: str, cues: Cues) -> list[Part]:
    """Find the sections of a document whose headings the cues know, in order.

    A section ends where the next one begins, or at an unknown heading in capitals or with the last
    word of a known one, as "Dental history". It ends after
    its first paragraph if its kinds apply to all its mentions, or if its heading shares a line with
    text: later mentions may not belong to it.
    """
    headings: list[tuple[Heading, Section | None]] = []
    for heading in find_headings(text, titles=True):
        words = " ".join(plain(word[0]) for word in find_words(heading.title))
        section = cues.sections.get(words)
        is_known = section is not None or words.rpartition(" ")[2] in cues.last_words
        if is_known or (heading.title.isupper() and " " in heading.title.strip()):
            headings.append((heading, section))
    parts = []
    for number, (heading, section) in enumerate(headings):
        if section is None:
            continue
        end = headings[number + 1][0].start if number + 1 < len(headings) else len(text)
        line = text[heading.end : end].partition("\n")[0]
        if line.strip() or section.said:
            first = _TEXT.search(text, heading.end, end)
            paragraph = _PARAGRAPH.search(text, first.start(), end) if first else None
            end = paragraph.start() if paragraph else end
        parts.append(Part(heading.start, end, section))
    return parts


def said_of(
    text: str, mentions: Sequence[tuple[int, int]], cues: Cues, parts: Sequence[Part] = ()
) -> list[Said]:
    """Find the context of each mention of a document.

    mentions (Sequence[Tuple[int, int]]): first and last character + 1 of each mention.
    parts (Sequence[Part]): the result of `find_sections`.
    RETURNS (List[Said]): in the order of the mentions.
    """
    if not mentions:
        return []
    starts_of_parts = [part.start for part in parts]
    sentences = _Sentences(text, mentions, cues)
    said = []
    for start, end in mentions:
        kinds, implied = sentences.kinds_of(start, end), frozenset[str]()
        part = parts[bisect_right(starts_of_parts, start) - 1] if parts else None
        section = part.section if part is not None and part.start <= start < part.end else None
        if section is not None:
            implied = sentences.implied(section.said, start)
        said.append(Said(kinds | implied, section.name if section is not None else ""))
    return said


class _Sentences:
    """The sentences and lines near the mentions of a text, and what one says of the next.

    "Denies:" speaks of the list below it, "Denies fever; cough" of what follows the semicolon, and
    a line that ends with a cue of the line below it.
    """

    def __init__(self, text: str, mentions: Sequence[tuple[int, int]], cues: Cues) -> None:
        self._answers = _answers(text, sorted(mentions), cues)
        answers = [(one.start, one.end) for one in self._answers.values() if one is not None]
        bounds = [
            bound
            for start, end in _blocks(text, mentions)
            for bound in _bounds(text, start, end, cues)
        ]
        self._starts = [start for start, _ in bounds]
        named, answered = self._by_sentence(mentions), self._by_sentence(answers)
        self._sentences: dict[int, _Sentence] = {}
        before: _Sentence | None = None
        for place, (start, end) in enumerate(bounds):
            written = text[start:end]
            if not written.strip() and place not in named:
                continue
            is_read = place in named or place + 1 in named or before or written.rstrip()[-1:] == ":"
            sentence = None
            if is_read:
                own, taken = named.get(place, ()), answered.get(place, ())
                sentence = _Sentence(text, start, end, own, cues, taken)
                if before is not None:
                    sentence.carried = sentence.goes_on_with(before)
                self._sentences[place] = sentence
            before = sentence if sentence is not None and sentence.is_open else None

    def kinds_of(self, start: int, end: int) -> frozenset[str]:
        """Return what is said of a mention."""
        kinds = self._at(start).said_of(start, end)
        answer = self._answers[start, end]
        if answer is None:
            return kinds
        kinds -= {"negated", "uncertain", "hypothetical"}
        return kinds | {answer.kind} if answer.kind else kinds

    def implied(self, kinds: frozenset[str], start: int) -> frozenset[str]:
        """Return what a section says of a mention."""
        return self._at(start).implied(kinds, start)

    def _at(self, start: int) -> "_Sentence":
        return self._sentences[bisect_right(self._starts, start) - 1]

    def _by_sentence(self, spans: Iterable[tuple[int, int]]) -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for span in spans:
            found.setdefault(bisect_right(self._starts, span[0]) - 1, []).append(span)
        return found


def _answers(
    text: str, mentions: Sequence[tuple[int, int]], cues: Cues
) -> dict[tuple[int, int], Answer | None]:
    """Find what answers say of mentions; "Fever or chills? No." and "Ø nausea/vomiting" of both."""
    found = {one: answer_to(text, *one, cues.answers, cues.answer_pattern) for one in mentions}
    for before, mention in reversed(list(pairwise(mentions))):
        answer = found[mention]
        if answer and not found[before] and answer.start >= mention[1]:
            is_asked = text[mention[1] : mention[1] + 2].lstrip()[:1] in (":", "?")
            if is_asked and _is_joint(text[before[1] : mention[0]]):
                found[before] = Answer(answer.kind, before[1], before[1])
    for before, mention in pairwise(mentions):
        answer, gap = found[before], text[before[1] : mention[0]]
        if answer and not found[mention] and answer.start < before[0] and gap == "/":
            found[mention] = Answer(answer.kind, mention[0], mention[0])
    return found


def _is_joint(gap: str) -> bool:
    """Tell whether two mentions with this between them are items of one list."""
    words = [word[0] for word in find_words(gap.lower())] if len(gap) < _ITEM else [gap]
    return bool(words) and all(word in _JOINTS or word == "any" for word in words)


def _blocks(text: str, mentions: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Find the paragraphs with mentions, each with the paragraph before it: nothing else counts."""
    starts = [0, *(one.end() for one in _PARAGRAPH.finditer(text)), len(text)]
    last = 0
    for place in sorted({bisect_right(starts, start, 0, len(starts) - 1) for start, _ in mentions}):
        start, end = max(last, starts[max(0, place - 2)]), starts[place]
        yield start, end
        last = end


def _bounds(text: str, start: int, end: int, cues: Cues) -> Iterator[tuple[int, int]]:
    """Find the sentences and lines of a part of a text."""
    yield from pairwise(
        [start, *(start + one for one in sentence_starts(text[start:end], cues.shortened)), end]
    )


class _Sentence:
    """The words of a sentence, the cues among them, and the reach of the cues."""

    def __init__(
        self,
        text: str,
        begin: int,
        stop: int,
        mentions: Sequence[tuple[int, int]],
        cues: Cues,
        answers: Sequence[tuple[int, int]],
    ) -> None:
        """Read a sentence. answers (Sequence[Tuple[int, int]]): characters of answers in it."""
        self.carried: frozenset[str] = frozenset()
        matches = list(find_words(text, begin, stop))
        self._starts = [word.start() for word in matches]
        self._is_item = _BULLET.match(text, begin, stop) is not None
        self._last_sign = text[begin:stop].rstrip()[-1:]
        within = [self._words(*one) for one in mentions]
        firsts = {first for first, _ in within}
        blank = {place for first, last in within for place in range(first, last)}
        answered = {
            place
            for first, last in answers
            for place in range(bisect_left(self._starts, first), bisect_left(self._starts, last))
        }
        # A mention is one place, whatever words it has; an answer parts items as a comma does.
        kept = [place for place in range(len(matches)) if place in firsts or place not in blank]
        words = [
            "" if place in firsts else "," if place in answered else plain(matches[place][0])
            for place in kept
        ]
        self._starts = [self._starts[place] for place in kept]
        named = [number for number, place in enumerate(kept) if place in firsts]
        self._bare = all(not word or word in _JOINTS or not word.isalnum() for word in words)
        self._found = _find_cues([*words, "."], cues, min(named, default=len(words)))
        list_of = _List(words, named, cues.of_all)
        self._reaches = {
            kind: reach for kind in KINDS if (reach := _reaches(kind, self._found, list_of))
        }
        self._is_closed = any(word in _AND | _OR for word in words)  # as a list
        self._count = len(words)
        self._years = {place for place, word in enumerate(words) if word == YEAR}
        self.ends_with_a_cue = any(
            cue.forward and all(word and not word.isalnum() for word in words[end:])
            for _, end, cue in self._found
            if end > self._count - 3
        )

    @property
    def is_open(self) -> bool:
        """Whether a cue reaches the end of the sentence, so that it may reach the next one."""
        return bool(self._open_kinds or self.carried)

    @property
    def _open_kinds(self) -> frozenset[str]:
        return frozenset(
            kind for kind, (_, furthest) in self._reaches.items() if furthest[-1] > self._count
        )

    def goes_on_with(self, before: "_Sentence") -> frozenset[str]:
        """Return the kinds that the sentence before carries over to this one.

        Only an item, or nothing but mentions, goes on with a list; a line goes on with a line that
        ends with a cue.
        """
        if before.ends_with_a_cue and before._last_sign not in _STOPS:
            return before._open_kinds - self._ended(self._count)
        if self._found or not (self._is_item or self._bare):
            return frozenset()
        if before.carried and (self._is_item or self._bare):
            return before.carried
        goes_on = self._bare and (before._last_sign == "," or not before._is_closed)
        is_headed = before._last_sign == ":" or (before._last_sign in ",;" and goes_on)
        return before._open_kinds if is_headed else frozenset()

    def said_of(self, start: int, end: int) -> frozenset[str]:
        """Return the kinds of the cues that reach a mention."""
        first, last = self._words(start, end)
        kinds = []
        for kind, (begins, furthest) in self._reaches.items():
            place = bisect_right(begins, first) - 1
            if place >= 0 and furthest[place] >= last:
                kinds.append(kind)
        return self.carried.union(kinds)

    def implied(self, kinds: frozenset[str], start: int) -> frozenset[str]:
        """Return the section's kinds without those that an end phrase before the mention stops."""
        return kinds - self._ended(self._words(start, start + 1)[0])

    def _ended(self, place: int) -> set[str]:
        """Return the kinds that end phrases before a word stop; a year is one of its item alone."""
        own = [one for one in self._found if one[1] <= place and one[0] not in self._years]
        return {kind for _, _, cue in own for kind in cue.ends}

    def _words(self, start: int, end: int) -> tuple[int, int]:
        """Find the first word of a mention and the word after it."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        return first, max(bisect_left(self._starts, end), first + 1)


def sentence_starts(text: str, shortened: Collection[str] = ()) -> list[int]:
    """Find the starts of all sentences and lines but the first; see `Pieces`.

    shortened (Collection[str]): words with full stops that end no sentence, such as "z.n".
    """
    pieces, starts = Pieces(text), list[int]()
    for place, border in enumerate(pieces.borders[:-1]):
        gap = pieces.gaps[place]
        if not place and "\n" not in gap:
            continue
        if border < Border.SEPARATOR or (border == Border.SEPARATOR and "\n" not in gap):
            continue
        begin = pieces.starts[place] - len(gap)
        if _QUERY.search(gap) and "\n" not in gap:
            continue
        if gap.strip() == "." and "\n" not in gap:
            last = text[pieces.starts[max(0, place - 2)] : begin].lower().replace(" ", "")
            if last in shortened or pieces.lower[place - 1] in shortened:
                continue
        signs = _BEHIND_A_SENTENCE.match(gap)
        starts.append(begin + (signs.end() if signs else 0))
    return starts


class _List(NamedTuple):
    """The words of a sentence as a list of items.

    words (List[str]): "" for those of mentions. named (List[int]): the places of these.
    of_all (Collection[str]): behind several mentions these speak of all: "were denied".
    """

    words: list[str]
    named: list[int]
    of_all: Collection[str]

    def begins_with_a_mention(self, place: int) -> bool:
        """Tell whether a mention follows at a place, but for an article."""
        while place < len(self.words) and self.words[place] in _ARTICLES:
            place += 1
        number = bisect_left(self.named, place)
        return number < len(self.named) and self.named[number] == place

    def item_start(self, place: int) -> int:
        """Find where the item with the last mention before a place begins."""
        number = bisect_left(self.named, place) - 1
        mention = self.named[number] if number >= 0 else place
        first = max(0, mention - _ITEM)
        while mention > first and self.words[mention - 1] not in _JOINTS:
            mention -= 1
        return mention

    def own_item(self, place: int) -> int | None:
        """Find where the item that ends at a place begins, if no mention is in it: "trop neg"."""
        first = place
        while first > max(0, place - _ITEM) and self.words[first - 1] not in _COMMAS:
            first -= 1
        return first if first < place and all(self.words[first:place]) else None

    def item_end(self, place: int) -> int:
        """Find where the item with the next mention behind a place ends."""
        number = bisect_left(self.named, place)
        mention = self.named[number] if number < len(self.named) else place
        last = min(len(self.words), mention + _ITEM)
        while mention < last and self.words[mention] not in _JOINTS:
            mention += 1
        return mention

    def bracket_end(self, place: int) -> list[int]:
        """Find where the brackets around a place end, if there are any."""
        near = self.words[max(0, place - _ITEM) : place]
        if "(" not in near or ")" in near[near.index("(") :]:
            return []
        behind = self.words[place : place + _ITEM]
        return [place + behind.index(")")] if ")" in behind else []

    def begins_an_item(self, start: int, stop: int) -> bool:
        """Tell whether words begin an item of a list that goes on behind them."""
        is_first = start > 0 and self.words[start - 1] in _JOINTS
        return is_first and stop < len(self.words) and (self.words[stop] or "x").isalnum()

    def before_an_and(self, place: int) -> int:
        """Find the comma after a place if the list behind it has an "and", else the end.

        "Fever without chills, headache and cough": there is a headache.
        """
        near = self.words[place : place + _ITEM]
        comma = place + near.index(",") if "," in near else len(self.words)
        joints = (word for word in self.words[comma : comma + _ITEM] if word in _AND | _OR)
        return comma if next(joints, "or") in _AND else len(self.words) + 1

    def is_in_a_list(self, place: int) -> bool:
        """Tell whether a comma or a conjunction, and a mention before it, precede a place."""
        return (
            place > 1
            and self.words[place - 1] in _JOINTS
            and bool(self.named and self.named[0] < place - 1)
        )


def _find_cues(words: list[str], cues: Cues, first: int) -> list[_Found]:
    """Find cues from left to right, the longest at each place; cues do not overlap.

    An end phrase that follows a negation is negated itself: "never diagnosed with".
    first (int): place of the first mention: a cue before it does not look back.
    """
    found: list[_Found] = []
    place = 0
    while place < len(words):
        length = 0
        for phrase in cues.phrases.get(words[place], ()):
            if len(phrase.places) < length:
                break
            cue = phrase.cue
            looks_on = cue.forward or not cue.backward or place > first
            if looks_on and phrase.is_at(words, place):
                length = len(phrase.places)
                negation = _negation_of(cue, found, place)
                if negation is None:
                    found.append((place, place + length, cue))
                else:
                    found[negation] = (found[negation][0], place + length, found[negation][2])
        place += max(length, 1)
    return found


def _negation_of(end: Cue, found: Sequence[_Found], place: int) -> int | None:
    """Find the negation directly before the verb that would end it; "no, but" is none."""
    if "negated" in end.ends and len(end.ends) < len(KINDS):
        for number in range(len(found) - 1, -1, -1):
            _, stop, cue = found[number]
            if stop != place:
                break
            if cue.kind == "negated" and cue.forward:
                return number
    return None


def _reaches(
    kind: str, found: Sequence[_Found], list_of: _List
) -> tuple[list[int], list[int]] | None:
    """Tell which words the cues of a kind reach.

    A cue directly before a mention looks forward only, and within a list speaks of its item alone,
    unless it negates; a cue behind an item speaks of that item, unless it speaks of all.

    RETURNS (Optional[Tuple[List[int], List[int]]]): the starts of the reaches, in order, and for
        each the farthest end of the reaches up to it; None without any.
    """
    cues = [one for one in found if one[2].kind == kind]
    if not cues:
        return None
    words, count = list_of.words, len(list_of.words)
    commas = [place for place, word in enumerate(words) if word in _COMMAS]
    ends = [one for one in found if one[2].kind == END and kind in one[2].ends]
    starts_of_ends, ends_of_ends = [one[0] for one in ends], [one[1] for one in ends]
    reaches = []
    looking_on = {start for start, _, cue in cues if cue.forward}
    for start, stop, cue in cues:
        is_before = list_of.begins_with_a_mention(stop) or (
            start in looking_on and list_of.begins_an_item(start, stop)
        )
        if cue.forward:
            limits = [_next(starts_of_ends, stop, count + 1)]
            if cue.reach:
                limits += [_next(commas, stop, count), stop + cue.reach]
            if kind in _OF_ITEMS and is_before and list_of.is_in_a_list(start):
                limits.append(list_of.item_end(stop))
            limits += list_of.bracket_end(start)
            if kind == "negated" and start > 0 and not words[start - 1]:
                limits.append(list_of.before_an_and(stop))
            reaches.append((stop, min(limits)))
        if cue.backward and (cue.forward or not is_before):
            limits = [_last(ends_of_ends, start)]
            if cue.reach:
                limits += [_last(commas, start - 1), start - cue.reach]
            if not any(word in list_of.of_all for word in words[start:stop]):
                limits.append(list_of.item_start(start))
            elif (own := list_of.own_item(start)) is not None:
                limits.append(own)
            reaches.append((max(limits), start))
    if not reaches:
        return None
    reaches.sort()
    return [one[0] for one in reaches], list(accumulate((one[1] for one in reaches), max))


def _next(places: Sequence[int], start: int, count: int) -> int:
    """Find the first of some places at or after a word, else the end of the sentence."""
    number = bisect_left(places, start)
    return places[number] if number < len(places) else count


def _last(places: Sequence[int], start: int) -> int:
    """Find the last of some places up to a word, else the beginning of the sentence."""
    number = bisect_right(places, start) - 1
    return places[number] if number >= 0 else 0
