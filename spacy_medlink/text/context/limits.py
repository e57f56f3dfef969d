"""How far a cue reaches: two tables of what ends it, for what is behind it and what is before it.

A rule is a row of FORWARD or BACKWARD; `tests/text/context/limits.tsv` has the examples of each.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .cues import KINDS
from .words import AND, ARTICLES, JOINTS, OR, Place, Span, Words, is_sign

_GAP = 20  # words that brackets, or a list, are looked for in
_ITEMS = frozenset(("historical", "uncertain"))
_NEGATED = frozenset(("negated",))
# "Pneumonia, which has been excluded": words between a comma and a cue that name nothing else.
_RELATIVE = frozenset("which that who que qui die der das che".split())
_LINKING = _RELATIVE | frozenset(
    "this these it but now since also was has have had been were is are el ya elle lo la".split()
)


class Limit(NamedTuple):
    """What ends the reach of a cue.

    find (Callable): gives the word that the reach ends before (FORWARD) or begins at (BACKWARD),
        None where the limit does not apply. kinds (FrozenSet[str]): of the cues that it ends.
    leaves (str): what is said of the mentions between this limit and the next one.
    """

    name: str
    find: Callable[[Words, Place], int | None]
    kinds: frozenset[str] = frozenset(KINDS)
    leaves: str = ""


def _end_behind(words: Words, at: Place) -> int | None:
    starts = [end.start for end in words.ends[at.cue.kind]]
    return _next(starts, at.stop)


def _bracket(words: Words, at: Place) -> int | None:
    start, all_words = at.start, words.words
    before, behind = all_words[max(0, start - _GAP) : start], all_words[start : start + _GAP]
    is_open = "(" in before and ")" not in before[before.index("(") :]
    return start + behind.index(")") if is_open and ")" in behind else None


def _compound(words: Words, at: Place) -> int | None:
    """End with the compound that a cue begins; one that a cue ends has no more words."""
    end = at.stop
    while words.is_joined(end):
        end += 2
    return end if end > at.stop or words.is_joined(at.start - 1) else None


def _reach_behind(words: Words, at: Place) -> int | None:
    if not at.cue.reach or words.is_joined(at.stop):
        return None
    comma = _next(words.commas, at.stop)
    return min(at.stop + at.cue.reach, len(words) if comma is None else comma)


def _cell_behind(words: Words, at: Place) -> int | None:
    """End with the cell; a cue without a mention in its own cell speaks of the next one."""
    cells = words.dashes if at.start - 1 in words.dashes else words.cells
    begin, end = _last(cells, at.start) or 0, _next(cells, at.stop)
    is_alone = end is not None and all(map(is_sign, words.words[at.stop : end]))
    is_alone &= (_last(words.mentions, at.start) or -1) < begin
    return _next(cells, end + 1) if end is not None and is_alone else end


def _item(words: Words, at: Place) -> int | None:
    in_list = words.before(at.start) in JOINTS
    if not (in_list and words.mentions and words.mentions[0] < at.start - 1):
        return None
    if not _looks_on(words, at):
        return None
    mention = _next(words.mentions, at.stop)
    return words.item_ends[min(at.stop, len(words) - 1) if mention is None else mention]


def _comma_behind_mention(words: Words, at: Place) -> int | None:
    if words.before(at.start) != "":
        return None
    comma = _next(words.commas, at.stop)
    return len(words) if comma is None else comma


def _result(words: Words, at: Place) -> int | None:
    return _next(words.results, at.stop + 1)


def _and_behind_mention(words: Words, at: Place) -> int | None:
    if words.before(at.start) != "":
        return None
    near = words.words[at.stop : at.stop + _GAP]
    if "," not in near:
        return None
    comma = at.stop + near.index(",")
    joint = next((word for word in words.words[comma : comma + _GAP] if word in AND | OR), "or")
    return comma if joint in AND else None


def _description(words: Words, at: Place) -> int | None:
    is_behind = words.before(at.start) == "" and words.has_word_of(at, "describing")
    if not is_behind or words.begins_mention(at.stop) or at.stop >= len(words):
        return None
    ends = (_next(places, at.stop) for places in (words.commas, words.ands))
    return min((end for end in ends if end is not None), default=None)


def _result_of_test(words: Words, at: Place) -> int | None:
    before = words.before(at.start)
    is_test = words.ends_with(at, "result") and bool(before) and str(before).isalnum()
    return at.stop if is_test and before not in words.sets.get("lead", ()) else None


def _closed_list(words: Words, at: Place) -> int | None:
    """End with "A, B or C" if one more item follows; "or vomiting" often is a pair in a list."""
    joint, last = words.joints[-1:], words.commas[-2:]
    if not joint or len(last) < 2 or not at.stop < last[0] < joint[0] < last[1]:
        return None
    return None if words.is_one_of(joint[0] + 1, "pair") else last[1]


def _run_on(words: Words, at: Place) -> int | None:
    """End before a mention that nothing joins to the one before it, in a text without signs."""
    first = bisect_left(words.mentions, at.stop)
    if not words.is_dictated or first >= len(words.mentions):
        return None
    return words.loose[first]


def _end_before(words: Words, at: Place) -> int | None:
    is_linked = words.before(at.start) in _RELATIVE
    stops = [end.stop for end in words.ends[at.cue.kind]]
    return _last(stops, at.start - is_linked)


def _reach_before(words: Words, at: Place) -> int | None:
    if not at.cue.reach:
        return None
    comma = _last(words.commas, at.start - 1)
    return max(at.start - at.cue.reach, comma or 0)


def _cell_before(words: Words, at: Place) -> int | None:
    begin, end = _last(words.cells, at.start), _next(words.cells, at.stop)
    mention = _next(words.mentions, at.stop)
    is_alone = begin is not None and all(map(is_sign, words.words[begin : at.start]))
    is_alone &= mention is None or (end is not None and mention > end)
    return _last(words.cells, begin - 1) if begin is not None and is_alone else begin


def _item_before(words: Words, at: Place) -> int | None:
    """Begin with the item, or the pair, that the cue stands behind; none if it is of another."""
    start = at.start
    mention = _last(words.mentions, start - 1) or 0
    item = words.item_starts[start - 1] if start else 0
    if words.has_word_of(at, "all"):
        return item if item > mention or words.words[mention] else None  # "trop neg"
    if mention < item and not _LINKING.issuperset(words.words[item:start]):
        return start
    return _pair_start(words, mention)


def _compound_before(words: Words, at: Place) -> int | None:
    is_end = words.is_joined(at.start - 1) and words.before(at.start - 1) != ""
    return at.start if is_end else None


def _test_before(words: Words, at: Place) -> int | None:
    if not words.ends_with(at, "result"):
        return None
    mention = _last(words.mentions, at.start - 1)
    between = words.words[mention + 1 : at.start] if mention is not None else []
    tests = words.sets.get("tests", frozenset())
    is_own = all(not word.isalnum() or word in tests or word in JOINTS for word in between)
    return None if is_own else at.start


def _run_on_before(words: Words, at: Place) -> int | None:
    return _last(words.chain_starts, at.start - 1) if words.is_dictated else None


FORWARD = (
    Limit("end phrase", _end_behind),
    Limit("brackets", _bracket),
    Limit("compound", _compound),
    Limit("number of words", _reach_behind),
    Limit("cell", _cell_behind),
    Limit("item", _item, _ITEMS),
    Limit("comma behind a treatment", _comma_behind_mention, frozenset(("historical",))),
    Limit("result", _result, _NEGATED),
    Limit("and", _and_behind_mention, _NEGATED),
    Limit("description", _description, _NEGATED),
    Limit("result of a test", _result_of_test, _NEGATED),
    Limit("closed list", _closed_list, _NEGATED),
    Limit("run on", _run_on, _NEGATED, leaves="uncertain"),
)
BACKWARD = (
    Limit("end phrase", _end_before),
    Limit("number of words", _reach_before),
    Limit("cell", _cell_before),
    Limit("item", _item_before),
    Limit("compound", _compound_before),
    Limit("result of a test", _test_before, _NEGATED),
    Limit("run on", _run_on_before),
)


def reaches_of(words: Words) -> dict[str, list[Span]]:
    """Tell which words the cues of each kind reach: the first, and the word after the last.

    A cue directly before a mention looks forward only.
    """
    reaches: dict[str, list[Span]] = {}
    for at in words.cues:
        kind = at.cue.kind
        if kind in KINDS and at.cue.forward:
            end = _nearest(words, at, False)
            doubt = min(end, _nearest(words, at, True))
            reaches.setdefault(kind, []).append((at.stop, doubt))
            if doubt < end:
                reaches.setdefault("uncertain", []).append((doubt, end))
        if kind in KINDS and _looks_back(words, at):
            found = [limit.find(words, at) for limit in BACKWARD if kind in limit.kinds]
            begin = max((place for place in found if place is not None), default=0)
            reaches.setdefault(kind, []).append((begin, at.start))
    return reaches


def _nearest(words: Words, at: Place, is_doubt: bool) -> int:
    """Find where the first limit ends what is behind a cue; behind the sentence without any."""
    kind = at.cue.kind
    limits = [row for row in FORWARD if kind in row.kinds and bool(row.leaves) == is_doubt]
    found = (row.find(words, at) for row in limits)
    return min((place for place in found if place is not None), default=len(words) + 1)


def _looks_on(words: Words, at: Place) -> bool:
    """Tell whether a mention, or the next item of its list, follows a cue."""
    is_item = words.before(at.start) in JOINTS and at.stop < len(words)
    goes_on = is_item and not is_sign(words.words[at.stop])
    return words.begins_mention(at.stop) or (goes_on and at.start in words.looking_on[at.cue.kind])


def _looks_back(words: Words, at: Place) -> bool:
    """Tell whether a cue speaks of what is before it; one before a mention does not.

    "Embolism was ruled out by CT": what follows is a mention, but the cue looks back.
    """
    kind, is_behind = at.cue.kind, words.before(at.start) == ""
    is_behind = is_behind and (kind == "historical" or at.start not in words.looking_on[kind])
    return at.cue.backward and (at.cue.forward or is_behind or not _looks_on(words, at))


def _pair_start(words: Words, mention: int) -> int:
    """Find where the item of a mention begins, or the pair that begins the sentence with it.

    "Epiglottitis and croup considered": both are. "Asthma, gout and croup ruled out": croup is.
    """
    start, texts = words.item_starts[mention], words.words
    is_pair = start > 1 and texts[start - 1] in AND | OR and not texts[start - 2]
    is_first = is_pair and all(word in ARTICLES for word in texts[: start - 2])
    return words.item_starts[start - 2] if is_first else start


def _next(places: Sequence[int], start: int) -> int | None:
    """Find the first of some places at or after a word."""
    row = bisect_left(places, start)
    return places[row] if row < len(places) else None


def _last(places: Sequence[int], start: int) -> int | None:
    """Find the last of some places up to a word."""
    row = bisect_right(places, start) - 1
    return places[row] if row >= 0 else None
