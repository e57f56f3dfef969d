"""End to end: the spans that a pipeline found and linked, against those of the gold standard."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .metrics import precision_recall

Verdict = Callable[["Link", "Link"], bool]


class Link(NamedTuple):
    """A linked span.

    start, end (int): offsets in its document, in characters.
    concepts (FrozenSet[int]): of a prediction, its concept; of gold, all that are acceptable, none
        where the knowledge base lacks them (the span then counts, and cannot be found).
    """

    doc: str
    start: int
    end: int
    concepts: frozenset[int]


def link_scores(gold: Iterable[Link], predicted: Iterable[Link]) -> dict[str, Any]:
    """Score predicted links against gold links, each span of a document counted once.

    RETURNS (Dict[str, Any]): "gold" and "predicted" (counts of spans); precision, recall and F1
        under "strict" (the same span, a right concept), "overlap" (spans that share a character,
        a right concept), "spans" and "spans_overlap" (the same without regard to the concept),
        and "document" (which concepts a document mentions, wherever).
    """
    wanted, found = _by_doc(gold), _by_doc(predicted)
    return {
        "gold": sum(map(len, wanted.values())),
        "predicted": sum(map(len, found.values())),
        "strict": _scores(
            wanted, found, lambda one, other: _same(one, other) and _meet(one, other)
        ),
        "overlap": _scores(
            wanted, found, lambda one, other: _touch(one, other) and _meet(one, other)
        ),
        "spans": _scores(wanted, found, _same),
        "spans_overlap": _scores(wanted, found, _touch),
        "document": _scores(_without_place(wanted), _without_place(found), _meet),
    }


def _scores(
    gold: dict[str, list[Link]], predicted: dict[str, list[Link]], agree: Verdict
) -> dict[str, float | None]:
    right = found = 0
    for doc, own in predicted.items():
        wanted = gold.get(doc, [])
        right += sum(any(agree(link, one) for one in wanted) for link in own)
        found += sum(any(agree(one, link) for link in own) for one in wanted)
    return precision_recall(right, _count(predicted), found, _count(gold))


def _by_doc(links: Iterable[Link]) -> dict[str, list[Link]]:
    grouped: dict[str, dict[Link, None]] = defaultdict(dict)
    for link in links:
        grouped[link.doc][link] = None
    return {doc: list(own) for doc, own in grouped.items()}


def _without_place(links: dict[str, list[Link]]) -> dict[str, list[Link]]:
    return {
        doc: list(dict.fromkeys(Link(doc, 0, 0, link.concepts) for link in own))
        for doc, own in links.items()
    }


def _count(links: dict[str, list[Link]]) -> int:
    return sum(map(len, links.values()))


def _same(one: Link, other: Link) -> bool:
    return (one.start, one.end) == (other.start, other.end)


def _touch(one: Link, other: Link) -> bool:
    return one.start < other.end and other.start < one.end


def _meet(one: Link, other: Link) -> bool:
    return not one.concepts.isdisjoint(other.concepts)
