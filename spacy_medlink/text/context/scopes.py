"""The context of mentions by ConText: a cue reaches over its sentence until an end phrase.

Harkema et al. 2009, "ConText: an algorithm for determining negation, experiencer, and temporal
status from clinical reports". Sections are an addition of this package.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from .answers import Answer, answer_to
from .cues import KINDS, YEAR, Cues, find_words, plain
from .sections import PARAGRAPH, Part, sentence_starts

_BULLET = re.compile(r"\s*(?:[-*•+>·–]|\d+[.)]|[a-z][.)])\s")
_STOPS = frozenset(".!?;")
_COMMAS = frozenset(",()")
_AND, _OR = frozenset("and y e ed et und &".split()), frozenset("or nor o ni ou oder né".split())
_JOINTS = frozenset([*_COMMAS, "/", *_AND, *_OR])
_GAP = 20  # words that brackets, or a list, are looked for in
_ARTICLES = frozenset("a an the un una le la el der die das ein eine".split())
# "Pneumonia, which has been excluded": words between a comma and a cue that name nothing else.
_RELATIVE = frozenset("which that who que qui die der das che".split())
_LINKING = _RELATIVE | frozenset(
    "this these it but now since also was has have had been were is are el ya elle lo la".split()
)
_OF_ITEMS = ("historical", "uncertain")
# "Denies the following: fever": words before a colon that ends no negation, as plurals do not.
_ANNOUNCE = frozenset(
    "following hx sx history any of for including other di für symptome beschwerden zeichen "
    "folgende folgendes sintomi segni seguenti".split()
)
_AT_THE_BEGINNING = re.compile(r"(?:\A|[\n.;!?] ?)\Z")


class Said(NamedTuple):
    """The context of a mention.

    kinds (FrozenSet[str]): some of KINDS. section (str): the name of its section, "" for none.
    """

    kinds: frozenset[str] = frozenset()
    section: str = ""


_Span = tuple[int, int]
Spans = Sequence[_Span]


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


def _answers(text: str, mentions: Sequence[_Span], cues: Cues) -> dict[_Span, Answer]:
    """Find what answers say of mentions; "Fever or chills? No." and "Ø nausea/vomiting" of both."""
    words, pattern, answers = cues.answers, cues.answer_pattern, dict[_Span, Answer]()
    for mention in mentions:
        if answer := answer_to(text, *mention, words, pattern):
            answers[mention] = answer
    for before, mention in reversed(list(pairwise(mentions))):
        answer = answers.get(mention)
        if answer and before not in answers and answer.start >= mention[1]:
            gap = text[before[1] : mention[0]]
            is_asked = text[mention[1] : mention[1] + 2].lstrip()[:1] in (":", "?")
            is_pair = gap.strip().lower() in _AND | _OR and _AT_THE_BEGINNING.search(
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
    return bool(words) and all(word in _JOINTS or word == "any" for word in words)


def _read_sentences(
    text: str, mentions: Sequence[_Span], answers: dict[_Span, Answer], cues: Cues
) -> tuple[list[int], dict[int, "_Sentence"]]:
    """Read the sentences and lines near mentions, and what one says of the next.

    "Denies:" speaks of the list below it, "Denies fever; cough" of what follows the semicolon, and
    a line that ends with a cue of the line below it.
    RETURNS: the starts of sentences, and those that were read, by their number.
    """
    bounds = list[_Span]()
    for begin, stop in _blocks(text, mentions):
        inside = sentence_starts(text[begin:stop], cues.shortened)
        bounds += pairwise([begin, *(begin + start for start in inside), stop])
    starts = [start for start, _ in bounds]
    named, answered = dict[int, list[_Span]](), dict[int, list[_Span]]()
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
        sentences[row] = sentence = _Sentence(text, start, end, cues, *spans)
        if before is not None:
            sentence.carried = sentence.goes_on_with(before)
        before = sentence if sentence.is_open else None
    return starts, sentences


def _blocks(text: str, mentions: Iterable[_Span]) -> Iterator[_Span]:
    """Find the paragraphs with mentions, each with the paragraph before it: nothing else counts."""
    starts = [0, *(gap.end() for gap in PARAGRAPH.finditer(text)), len(text)]
    last = 0
    for row in sorted({bisect_right(starts, start, 0, len(starts) - 1) for start, _ in mentions}):
        start, end = max(last, starts[max(0, row - 2)]), starts[row]
        yield start, end
        last = end


class _Sentence:
    """The words of a sentence, the cues among them, and the reach of the cues.

    A mention is one word, "", whatever words it has; an answer parts items as a comma does.
    """

    def __init__(
        self, text: str, begin: int, stop: int, cues: Cues, mentions: Spans, answers: Spans
    ) -> None:
        """Read a sentence. mentions, answers (Spans): their characters."""
        self.carried: frozenset[str] = frozenset()
        self._is_item = _BULLET.match(text, begin, stop) is not None
        self._last_sign = text[begin:stop].rstrip()[-1:]
        matches = list(find_words(text, begin, stop))
        self._starts = [word.start() for word in matches]
        words = [plain(word[0]) for word in matches]
        for first, last in answers:
            for index in range(bisect_left(self._starts, first), bisect_left(self._starts, last)):
                words[index] = ","
        runs = [range(*self._run(*mention)) for mention in mentions]
        hidden = {index for run in runs for index in run} - {run[0] for run in runs}
        for run in runs if words else ():
            words[run[0]] = ""
        kept = [index for index in range(len(words)) if index not in hidden]
        self._starts = [self._starts[index] for index in kept]
        self._words = words = [words[index] for index in kept]
        self._mentions = [index for index, word in enumerate(words) if not word]
        self._is_bare = all(word in _JOINTS or not word.isalnum() for word in words)
        self._is_closed = any(word in _AND | _OR for word in words)  # as a list
        self._results = [
            index
            for index, word in enumerate(words)
            if word == ":" and index and _begins_a_result(words[index - 1])
        ]
        self._item_starts, self._item_ends = _items(words)
        first = self._mentions[0] if self._mentions else len(words)
        self._cues = cues.find([*words, "."], first)
        self._reaches = {
            context: reach for context in KINDS if (reach := self._reach(context, cues.of_all))
        }

    @property
    def is_open(self) -> bool:
        """Whether a cue reaches the end of the sentence, so that it may reach the next one."""
        return bool(self._open_kinds or self.carried)

    @property
    def _open_kinds(self) -> frozenset[str]:
        count = len(self._words)
        return frozenset(
            context for context, (_, ends) in self._reaches.items() if ends[-1] > count
        )

    @property
    def _ends_with_a_cue(self) -> bool:
        words = self._words
        return any(
            cue.forward and all(word and not word.isalnum() for word in words[end:])
            for _, end, cue in self._cues
            if end > len(words) - 3
        )

    def goes_on_with(self, before: "_Sentence") -> frozenset[str]:
        """Return the kinds that the sentence before carries over to this one.

        Only an item, or nothing but mentions, goes on with a list; a line goes on with a line that
        ends with a cue.
        """
        if before._ends_with_a_cue and before._last_sign not in _STOPS:
            return before._open_kinds - self._ended(len(self._words))
        if self._cues or not (self._is_item or self._is_bare):
            return frozenset()
        if before.carried:
            return before.carried
        goes_on = self._is_bare and (before._last_sign == "," or not before._is_closed)
        is_headed = before._last_sign == ":" or (before._last_sign in ",;" and goes_on)
        return before._open_kinds if is_headed else frozenset()

    def said_of(self, start: int, end: int) -> frozenset[str]:
        """Return the kinds of the cues that reach a mention."""
        first, last = self._run(start, end)
        kinds = []
        for context, (begins, furthest) in self._reaches.items():
            row = bisect_right(begins, first) - 1
            if row >= 0 and furthest[row] >= last:
                kinds.append(context)
        return self.carried.union(kinds)

    def implied(self, kinds: frozenset[str], start: int) -> frozenset[str]:
        """Return the section's kinds without those that an end phrase before the mention stops."""
        return kinds - self._ended(self._run(start, start + 1)[0])

    def _ended(self, index: int) -> set[str]:
        """Return the kinds that end phrases before a word stop; a year is one of its item alone."""
        before = [cue for cue in self._cues if cue[1] <= index and self._words[cue[0]] != YEAR]
        return {context for _, _, cue in before for context in cue.ends}

    def _run(self, start: int, end: int) -> _Span:
        """Find the first word of a mention and the word after it."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        return first, max(bisect_left(self._starts, end), first + 1)

    def _reach(self, context: str, of_all: Collection[str]) -> tuple[list[int], list[int]] | None:
        """Tell which words the cues of a kind reach.

        A cue directly before a mention looks forward only, and within a list speaks of its item
        alone, unless it negates; a cue behind an item speaks of that item, unless it speaks of all.

        RETURNS (Optional[Tuple[List[int], List[int]]]): the starts of the reaches, in order, and
            for each the farthest end of the reaches up to it; None without any.
        """
        of_kind = [cue for cue in self._cues if cue[2].kind == context]
        if not of_kind:
            return None
        words, count, reaches = self._words, len(self._words), list[_Span]()
        commas = [index for index, word in enumerate(words) if word in _COMMAS]
        ends = [(start, stop) for start, stop, cue in self._cues if context in cue.ends]
        starts_of_ends, ends_of_ends = [start for start, _ in ends], [stop for _, stop in ends]
        looking_on = {start for start, _, cue in of_kind if cue.forward}
        for start, stop, cue in of_kind:
            is_item = start > 0 and words[start - 1] in _JOINTS
            goes_on = is_item and stop < count and (words[stop] or "x").isalnum()
            is_before = self._begins(stop) or (start in looking_on and goes_on)
            if cue.forward:
                limits = [_next(starts_of_ends, stop, count + 1), self._bracket_end(start)]
                if cue.reach:
                    limits += [_next(commas, stop, count), stop + cue.reach]
                in_a_list = is_item and bool(self._mentions) and self._mentions[0] < start - 1
                if context in _OF_ITEMS and is_before and in_a_list:
                    mention = _next(self._mentions, stop, min(stop, count - 1))
                    limits.append(self._item_ends[mention])
                # "Scoliosis s/p fusion, osteopenia": what was done for a mention is of its item.
                if context == "historical" and start > 0 and not words[start - 1]:
                    limits.append(_next(commas, stop, count))
                if context == "negated":
                    limits.append(_next(self._results, stop + 1, count + 1))
                    if start > 0 and not words[start - 1]:
                        limits.append(self._before_an_and(stop))
                reaches.append((stop, min(limits)))
            # "Embolism was ruled out by CT": what follows is a mention, but the cue looks back.
            is_behind = start > 0 and not words[start - 1]
            is_behind = is_behind and (context == "historical" or start not in looking_on)
            if cue.backward and (cue.forward or is_behind or not is_before):
                is_linked = start > 0 and words[start - 1] in _RELATIVE
                limits = [_last(ends_of_ends, start - is_linked)]
                if cue.reach:
                    limits += [_last(commas, start - 1), start - cue.reach]
                mention = _last(self._mentions, start - 1)
                item = self._item_starts[start - 1] if start else 0
                if not any(word in of_all for word in words[start:stop]):
                    is_others = mention < item and not _LINKING.issuperset(words[item:start])
                    limits.append(start if is_others else self._pair_start(mention))
                elif item > mention or words[mention]:  # "trop neg": no mention is in its item
                    limits.append(item)
                reaches.append((max(limits), start))
        reaches.sort()
        ends_so_far = accumulate((end for _, end in reaches), max)
        return ([start for start, _ in reaches], list(ends_so_far)) if reaches else None

    def _pair_start(self, mention: int) -> int:
        """Find where the item of a mention begins, or the pair that begins the sentence with it.

        "Epiglottitis and croup considered": both are. "Asthma, gout and croup ruled out": croup is.
        """
        start = self._item_starts[mention]
        is_pair = start > 1 and self._words[start - 1] in _AND | _OR and not self._words[start - 2]
        first = self._item_starts[start - 2] if is_pair else start
        is_first = all(word in _ARTICLES for word in self._words[: start - 2])
        return first if is_pair and is_first else start

    def _begins(self, index: int) -> bool:
        """Tell whether a mention follows at a word, but for an article."""
        while index < len(self._words) and self._words[index] in _ARTICLES:
            index += 1
        return index < len(self._words) and not self._words[index]

    def _bracket_end(self, index: int) -> int:
        """Find where the brackets around a word end; behind the sentence without any."""
        words = self._words
        before, behind = words[max(0, index - _GAP) : index], words[index : index + _GAP]
        is_open = "(" in before and ")" not in before[before.index("(") :]
        return index + behind.index(")") if is_open and ")" in behind else len(words) + 1

    def _before_an_and(self, index: int) -> int:
        """Find the comma after a word if the list behind it has an "and", else the end.

        "Fever without chills, headache and cough": there is a headache.
        """
        near = self._words[index : index + _GAP]
        comma = index + near.index(",") if "," in near else len(self._words)
        joints = (word for word in self._words[comma : comma + _GAP] if word in _AND | _OR)
        return comma if next(joints, "or") in _AND else len(self._words) + 1


def _begins_a_result(before: str) -> bool:
    """Tell whether a colon ends a negation: "No change: edema", but not "No red flags: fever".

    before (str): the word before the colon.
    """
    is_list = before in _ANNOUNCE or (before.endswith("s") and not before.endswith("ss"))
    return not is_list


def _items(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Find for each word where the item of a list begins that it is in, and where it ends."""
    joints = [-1, *(index for index, word in enumerate(words) if word in _JOINTS), len(words)]
    starts, ends = list[int](), list[int]()
    for before, behind in pairwise(joints):
        starts += [before + 1] * (behind - before)
        ends += [behind] * (behind - before)
    return starts, ends


def _next(places: Sequence[int], start: int, count: int) -> int:
    """Find the first of some places at or after a word, else the end of the sentence."""
    row = bisect_left(places, start)
    return places[row] if row < len(places) else count


def _last(places: Sequence[int], start: int) -> int:
    """Find the last of some places up to a word, else the beginning of the sentence."""
    row = bisect_right(places, start) - 1
    return places[row] if row >= 0 else 0
