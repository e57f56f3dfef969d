"""Orders mentions for a review: the most useful corrections come first."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple


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
