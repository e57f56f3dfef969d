"""Pieces: a text cut into words by rules of our own, and the borders between them.

Mentions, abbreviations and context all read a text through its pieces, so that what separates two
words is decided in one place, whatever tokenizer a pipeline has.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import pairwise

from .layout import laid_out
from .lines import LINE_END
from .marks import FILL
from .normalisation import APOSTROPHES, ENTITY, INVISIBLE, SEPARATORS, UNSPACED, key

# A word, with its possessive ending; "d/o", a disorder; a "+", which is a word of its own in keys.
_PIECE = re.compile(
    rf"[{UNSPACED}][\u0300-\u036f{INVISIBLE}]*"
    r"|(?<![\w/])[dD]/[oO](?![\w/])"
    rf"|\d+(?:\.\d+)+[^{SEPARATORS}{UNSPACED}+]*"
    rf"|[^{SEPARATORS}{UNSPACED}+]+(?:[{APOSTROPHES}][sS\uff53\uff33](?!\w))?"
    r"|\+"
)
_POSSESSIVE = re.compile(rf"[{APOSTROPHES}][sS\uff53\uff33]$")
# Where a word is cut: see `normalisation.key`. A footnote is no part of its word.
_CUTS = re.compile(r"(?<=[^\W\d_]{5})(?=\d)|(?<=\d)(?=[^\W\d_]{4})")
_RAISED = re.compile("(?<=[^\\W_]{3})[\xb9\xb2\xb3\u2070\u2074-\u2079]+$")
_OPENING = {")": "(", "]": "[", "}": "{", "）": "（"}
_CLOSING = {left: right for right, left in _OPENING.items()}
BRACKETS = frozenset([*_OPENING, *_CLOSING])
_HYPHENS = frozenset("-\xad\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
_SOFT = frozenset("\xad")  # hyphens that a word keeps where no line ends
_DASHES = frozenset("\u2014\u2015")
_SPACES = " \xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_WITHIN_NAMES = frozenset([*APOSTROPHES, *'"&()（）{}\u201c\u201d\u201e\xab\xbb', *_HYPHENS])
_COMMAS = frozenset(",\u060c\u3001\uff0c")
_STOPS = frozenset(";?!\u2026\u037e\u061b\u061f\u06d4\u0964\u0965\u3002\uff01\uff1b\uff1f")
# A full stop after these ends no sentence.
_SHORTENED = frozenset(
    "dr mr mrs ms vs st hr fr sr sra prof pat ca bzw ggf resp approx no nr nos var subsp sp spp "
    "dra sig dott e.g i.e cf al fig incl inkl zb u.a d.h v.a".split()
)
_COLUMN = 3  # spaces that part two columns


class Border(IntEnum):
    """How much the signs between two pieces part them."""

    NONE = 0  # nothing between: "metformin|500mg"
    SPACE = 1  # white space, also the end of a full line
    SIGN = 2  # a sign that names contain: a hyphen, an apostrophe, brackets, a slash without spaces
    COMMA = 3
    SEPARATOR = 4  # of items: a line end, tab, bullet, colon, pipe, a dash or slash with spaces
    SENTENCE = 5  # of clauses: a full stop, a semicolon, an empty line


class Pieces:
    """The pieces of a text.

    text (str): the text. texts (List[str]): each piece as written, entities of HTML decoded.
    starts, ends (List[int]): the characters of each piece in `text`.
    borders (List[Border]): before each piece, and after the last one: n + 1.
    gaps (List[str]): what stands before each piece, and after the last one: n + 1.
    """

    def __init__(
        self, text: str, stop_words: Collection[str] = (), plain: str | None = None
    ) -> None:
        """Cut a text.

        stop_words (Collection[str]): in lower case, of the text's language.
        plain (Optional[str]): what `laid_out` made of the text, if that is known.
        """
        self.text, self._stop_words = text, stop_words
        plain = laid_out(text) if plain is None else plain
        plain, offsets = _decoded(plain) if "&" in plain else (plain, None)
        self.texts, starts, ends = _cut(plain)
        behind = [0, *ends]
        self.gaps = [
            plain[end:start] for end, start in zip(behind, [*starts, len(plain)], strict=True)
        ]
        self.borders = [Border.SPACE] * len(behind)
        for index, gap in enumerate(self.gaps[1:-1], 1):
            if gap != " ":
                self.borders[index] = self._border(index, gap.replace(FILL, ""))
        self.borders[0] = self.borders[-1] = Border.SENTENCE
        self.starts, self.ends = starts, ends
        if offsets is not None:
            self.starts = [offsets[start] for start in starts]
            ends = [offsets[end - 1] + 1 for end in ends]
            # A piece ends behind the entity that is its last character.
            self.ends = [
                entity.end() if (entity := ENTITY.match(text, end - 1)) else end for end in ends
            ]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def keys(self) -> list[str]:
        """The key of each piece: none is empty but that of a sign."""
        return list(map(piece_key, self.texts))

    @cached_property
    def lower(self) -> list[str]:
        """The texts in lower case."""
        return list(map(str.lower, self.texts))

    @cached_property
    def is_stop(self) -> list[bool]:
        """Whether a piece is a stop word."""
        return list(map(self._stop_words.__contains__, self.lower))

    @cached_property
    def says(self) -> list[bool]:
        """Whether a piece is a word with a meaning: no stop word, and no "+"."""
        return [
            not stop and bool(key) and key != "+"
            for stop, key in zip(self.is_stop, self.keys, strict=True)
        ]

    @cached_property
    def hyphens(self) -> list[int]:
        """The pieces behind a hyphen without spaces, or with the end of a line behind it."""
        return [
            index
            for index, gap in enumerate(self.gaps)
            if gap != " "
            and 0 < index < len(self)
            and (
                (gap[:1] in _HYPHENS and _is_joint(gap))
                or (self.texts[index - 1][-1] in _SOFT and LINE_END.search(gap))
            )
        ]

    def between(self, start: int, end: int) -> str:
        """Get the text of the pieces from `start` up to `end`."""
        return self.text[self.starts[start] : self.ends[end - 1]]

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Get the first character of a run of pieces and the one behind it.

        Brackets beside that pair with brackets inside belong to it: "(R)-salbutamol"; the ending
        of a possessive does not.
        """
        first, last = self.starts[start], self.ends[end - 1]
        if self.texts[end - 1][-1] in "sSｓＳ" and _POSSESSIVE.search(self.texts[end - 1]):
            last = max(last - 2, first + 1)
        if end == start + 1:
            return first, last
        closed, opened = unpaired(self.text[first:last])
        while opened and self.text[last : last + 1] in _OPENING:
            last, opened = last + 1, opened - 1
        while closed and first > 0 and self.text[first - 1] in _CLOSING:
            first, closed = first - 1, closed - 1
        return first, last

    def widest(self, start: int, end: int) -> Border:
        """Get the strongest border within a run; half a pair of brackets parts like a sentence."""
        strongest = max(self.borders[start + 1 : end], default=Border.NONE)
        if strongest < Border.SIGN or strongest == Border.SENTENCE:
            return strongest
        first, last = self.characters(start, end)
        return Border.SENTENCE if any(unpaired(self.text[first:last])) else strongest

    def saying(self, places: Iterable[int]) -> frozenset[int]:
        """Keep the pieces that have a meaning."""
        return frozenset(filter(self.says.__getitem__, places))

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """Find the run of pieces that characters cover; None where they cut a piece in two."""
        first, last = bisect_left(self.starts, start), bisect_left(self.ends, end)
        is_run = first <= last < len(self)
        if is_run and self.starts[first] == start and self.ends[last] == end:
            return first, last + 1
        return None

    def before(self, character: int) -> int:
        """Count the pieces that begin before a character."""
        return bisect_left(self.starts, character)

    def element_starts(self, index: int) -> bool:
        """Tell whether an item of a list or a phrase may begin at a piece."""
        return self.borders[index] >= Border.COMMA or (index > 0 and self.is_stop[index - 1])

    def element_ends(self, index: int) -> bool:
        """Tell whether an item of a list or a phrase may end before a piece."""
        return self.borders[index] >= Border.COMMA or (index < len(self) and self.is_stop[index])

    def _border(self, index: int, gap: str) -> Border:
        """Say what a gap means between its two pieces."""
        strength = _strength(gap)
        if strength == Border.SENTENCE and "." in gap:
            return self._full_stop(index, gap)
        left, right = self.texts[index - 1], self.texts[index]
        if len(gap) == 1 and strength > Border.SIGN:
            # "t(9;22)", "46,XX", "1:10", "N,N-dimethyl", "HLA-B*27"
            if left[-1].isdigit() and (right[0].isdigit() or len(right) == 1):
                return Border.SIGN
            if gap == "," and (len(left) == 1 or left.isdigit()) and len(right) < 3:
                return Border.SIGN
            if gap == "*" and right[0].isdigit():
                return Border.SIGN
        if strength == Border.SEPARATOR and LINE_END.search(gap):
            return self._line_end(index, gap)
        return strength

    def _full_stop(self, index: int, gap: str) -> Border:
        if gap.count(".") > 1 or not set(gap) <= set(". "):
            return Border.SENTENCE
        left, right = self.texts[index - 1], self.texts[index]
        if gap == ".":
            is_number = left[-1].isdigit() and right[0].isdigit()
            return Border.SIGN if is_number or len(left) == 1 == len(right) else Border.SENTENCE
        is_short = (len(left) == 1 and left.isalpha()) or left.lower() in _SHORTENED
        goes_on = right[0].islower() or left.lower() in _SHORTENED
        return Border.SIGN if is_short and goes_on else Border.SENTENCE

    def _line_end(self, index: int, gap: str) -> Border:
        stripped, right = gap.strip(), self.texts[index]
        is_hyphened = stripped in _HYPHENS and gap[0] in _HYPHENS
        if right[0].islower() and (is_hyphened or self.texts[index - 1][-1] in _SOFT):
            return Border.SIGN  # a word that goes on in the next line
        return Border.SENTENCE if len(LINE_END.findall(gap)) > 1 else Border.SEPARATOR


@lru_cache(maxsize=16384)
def piece_key(text: str) -> str:
    """Make the key of a piece."""
    return key(text)


def key_of(texts: Iterable[str]) -> str:
    """Make the key of a text from its pieces."""
    return " ".join(filter(None, map(piece_key, texts)))


def unpaired(text: str) -> tuple[int, int]:
    """Count the closing brackets without an opening one, and the opening ones left open."""
    if BRACKETS.isdisjoint(text):
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


def _decoded(text: str) -> tuple[str, list[int] | None]:
    """Decode entities of HTML. RETURNS: the text, and the original place of each character."""
    if not ENTITY.search(text):
        return text, None
    parts, offsets, last = [], list[int](), 0
    for entity in ENTITY.finditer(text):
        signs = html.unescape(entity[0])
        if signs == entity[0]:
            continue
        parts += [text[last : entity.start()], signs]
        offsets += [*range(last, entity.start()), *[entity.start()] * len(signs)]
        last = entity.end()
    return "".join([*parts, text[last:]]), [*offsets, *range(last, len(text))]


def _cut(plain: str) -> tuple[list[str], list[int], list[int]]:
    """Cut a text into pieces. RETURNS: texts, first characters, characters behind the last."""
    texts, starts, ends = list[str](), list[int](), list[int]()
    for piece in _PIECE.finditer(plain):
        text, (start, end) = piece[0], piece.span()
        if text.isascii() and text.isalpha():  # most are, and are never cut
            texts.append(text)
            starts.append(start)
            ends.append(end)
            continue
        if raised := _RAISED.search(text):
            text = text[: raised.start()]
        cuts = [0, *(cut.start() for cut in _CUTS.finditer(text)), len(text)]
        for begin, stop in pairwise(cuts):
            texts.append(text[begin:stop])
            starts.append(start + begin)
            ends.append(start + stop)
    return texts, starts, ends


@lru_cache(maxsize=4096)
def _strength(gap: str) -> Border:
    """Say how much a gap parts its pieces, whatever these are; its line ends are hard ones."""
    signs = gap.strip(_SPACES)
    if not gap:
        return Border.NONE
    if not signs:
        return Border.SEPARATOR if len(gap) >= _COLUMN else Border.SPACE
    is_tight = signs == gap
    if ("/" in gap and not is_tight) or (set(gap) & _DASHES) or "--" in gap:
        return Border.SEPARATOR
    if not is_tight and signs in _HYPHENS and gap[0] not in _HYPHENS:
        return Border.SEPARATOR  # before a word or between spaces, not "alpha- and beta-"
    return max(_strength_of(sign, is_tight) for sign in gap)


def _strength_of(sign: str, is_tight: bool) -> Border:
    if sign in _SPACES:
        return Border.SPACE
    if sign in _WITHIN_NAMES or (is_tight and sign in "/_[]"):
        return Border.SIGN
    if sign in _COMMAS:
        return Border.COMMA
    if sign in _STOPS or sign == ".":
        return Border.SENTENCE
    return Border.SEPARATOR


def _is_joint(gap: str) -> bool:
    """Tell whether a hyphen joins two parts of a word, also over the end of a line."""
    return len(gap) == 1 or (gap[1:].isspace() and LINE_END.search(gap) is not None)
