"""Composite mentions: "breast and ovarian cancer" is two mentions, each linked by itself.

The rules are those of BioSyn's protocol (Sung et al. 2020, section 4.1, after Leaman and Lu 2016):
the parts of a coordination share the words before or after it. The knowledge base selects the
reading: all parts of the right one score higher than the whole mention does.
"""

import re
from collections.abc import Mapping, Sequence

from ..text.identifiers import is_identified
from ..types import Candidate, Mention
from .decision import Part, is_believed

_SEPARATOR = re.compile(
    r"\s*,\s*(?:(?:and/or|and|or|und|oder|y|et|ou)\s+)?|\s+(?:and/or|and|or|und|oder|y|et|ou|&)\s+|\s*/\s*",
    re.IGNORECASE,
)
_MOST_PARTS = 8
_LONGEST = 200  # characters; longer mentions are sentences
_NAMED = 0.95  # score of the exact tier from which the whole mention counts as a name


def readings(text: str) -> list[tuple[str, ...]]:
    """List the ways to read a text as several mentions; [] for a text without a coordination.

    EXAMPLE:
        >>> readings("breast and ovarian cancer")
        [('breast', 'ovarian cancer'), ('breast cancer', 'ovarian cancer')]
        >>> readings("SCA 1 and 2")
        [('SCA 1', '2'), ('SCA 1', 'SCA 2')]
    """
    if len(text) > _LONGEST:
        return []
    parts = [part.split() for part in _SEPARATOR.split(text.strip())]
    if not 2 <= len(parts) <= _MOST_PARTS or not all(parts):
        return []
    ways = [
        parts, _sharing_the_end(parts), _sharing_the_beginning(parts), _sharing_both(parts)
    ]  # fmt: skip
    texts = [tuple(" ".join(words) for words in reading) for reading in ways]
    return [reading for reading in dict.fromkeys(texts) if len(set(reading)) > 1]


def _sharing_the_end(parts: list[list[str]]) -> list[list[str]]:
    """Give every part the end of the last part: "breast and ovarian cancer"."""
    last = parts[-1]
    return [[*part, *last[len(part) :]] for part in parts[:-1]] + [last]


def _sharing_the_beginning(parts: list[list[str]]) -> list[list[str]]:
    """Give every part the beginning of the first part: "SCA 1 and 2"."""
    first = parts[0]
    return [first] + [[*first[: max(0, len(first) - len(part))], *part] for part in parts[1:]]


def _sharing_both(parts: list[list[str]]) -> list[list[str]]:
    """Let parts differ in one word, and share all others: "type 1 and 2 diabetes"."""
    beginning, end = parts[0][:-1], parts[-1][1:]
    different = [parts[0][-1:], *parts[1:-1], parts[-1][:1]]
    return [[*beginning, *words, *end] for words in different]


def composites(
    mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]], denied: Sequence[bool]
) -> dict[int, list[tuple[str, ...]]]:
    """Find the mentions that may be composite, and list their readings by their position.

    rankings: of the whole mentions. denied (Sequence[bool]): corrections call them no concept.
    """
    by_position: dict[int, list[tuple[str, ...]]] = {}
    for position, (mention, ranking) in enumerate(zip(mentions, rankings, strict=True)):
        named = ranking and (
            ranking[0].scores.get("exact", 0) >= _NAMED or is_identified(ranking[0].scores)
        )
        if not (named or denied[position]) and (
            ways := readings(mention.long_form or mention.text)
        ):
            by_position[position] = ways
    return by_position


def parts_of(
    mentions: Sequence[Mention], ways: Mapping[int, Sequence[tuple[str, ...]]]
) -> dict[tuple[int, str], Mention]:
    """Make mentions of all parts in the readings, by the position of the mention and the text."""
    return {(position, text): mentions[position]._replace(
            text=text, long_form="", expansions=(), identifiers=(), verbatim=(), vector=b""
        )
        for position, readings_of in ways.items() for way in readings_of for text in way
    }  # fmt: skip


def choose_parts(
    ways: Mapping[int, Sequence[tuple[str, ...]]],
    rankings_of_parts: Mapping[tuple[int, str], list[Candidate]],
    rankings: Sequence[Sequence[Candidate]],
    threshold: float | None,
) -> dict[int, list[Part]]:
    """Choose a reading of each composite mention that its parts match better than the whole.

    rankings_of_parts: of the mentions of `parts_of`; none for a part that does not count.
    rankings: of the whole mentions. threshold (Optional[float]): that every part must reach.
    RETURNS (Dict[int, List[Part]]): the parts, by the position of the mention.
    """
    linked = {}
    for position, readings_of in ways.items():
        whole = rankings[position][0].score if rankings[position] else 0.0
        best = _best_reading(
            [[Part(text, rankings_of_parts[position, text]) for text in way] for way in readings_of]
        )
        if best is None or _worst(best) < whole:
            continue
        if all(is_believed(part.ranking[0], threshold) for part in best):
            linked[position] = best
    return linked


def _best_reading(ways: Sequence[list[Part]]) -> list[Part] | None:
    """Select the reading whose worst part scores best; its parts must be different concepts."""
    different = [
        parts for parts in ways
        if all(part.ranking for part in parts)
        and len({part.ranking[0].row for part in parts}) == len(parts)
    ]  # fmt: skip
    return max(different, key=_worst, default=None)


def _worst(parts: Sequence[Part]) -> float:
    return min(round(part.ranking[0].score, 4) for part in parts)
