"""Orders mentions for a review: the most useful corrections come first."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ..linking.decision import NOT_A_CONCEPT
from ..retrieval.concepts import MEMORY
from ..retrieval.memory import memory_key
from ..types import Facts

_UNKNOWN = 0.5  # doubt of a mention without any candidate


class Doubtful(NamedTuple):
    """A mention, as far as the order needs it.

    key (str): the same for mentions that one correction corrects. concept (str): of the best
    candidate, "" for none. doubt (float): probability that the link, or NIL, is wrong.
    """

    key: str
    concept: str
    doubt: float


def review_order(mentions: Sequence[Doubtful]) -> list[tuple[int, int]]:
    """Order mentions: uncertain, frequent and different ones first; one for each key.

    A correction of a key corrects an expected number of mentions: the sum of their doubts. Of the
    keys with the same best candidate the second counts half, the third a third, and so on, because
    texts like the same name are often right, or wrong, for the same reason.

    RETURNS (List[Tuple[int, int]]): place of the most doubtful mention of a key, and the number of
        mentions with that key; keys without any doubt are left out.
    """
    by_key: dict[str, list[int]] = defaultdict(list)
    for at, mention in enumerate(mentions):
        by_key[mention.key].append(at)
    by_concept: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for key, places in by_key.items():
        first = max(places, key=lambda at: (mentions[at].doubt, -at))
        worth = sum(mentions[at].doubt for at in places)
        if worth > 0:
            concept = mentions[first].concept or f" {key}"
            by_concept[concept].append((-worth, first, len(places)))
    ordered = [
        (worth / rank, first, count)
        for doubts in by_concept.values()
        for rank, (worth, first, count) in enumerate(sorted(doubts), 1)
    ]
    return [(first, count) for _, first, count in sorted(ordered)]


def doubt_of(record: Facts) -> Doubtful:
    """Describe a linked mention; mentions that corrections have decided have no doubt."""
    key = memory_key(record["mention"])
    best = next(iter(record["candidates"]), None)
    if record["reason"] == NOT_A_CONCEPT or (best and best["scores"].get(MEMORY)):
        return Doubtful(key, "", 0.0)
    if best is None:
        return Doubtful(key, "", _UNKNOWN)
    right = best["score"] if best["prob"] is None else best["prob"]
    right = min(max(right, 0.0), 1.0)
    return Doubtful(key, best["id"], 1 - right if record["ids"] else right)
