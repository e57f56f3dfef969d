"""Confusion of kinds of concepts: gold kinds against predicted kinds."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

OTHER = "other"
NIL = "NIL"
_LARGEST = 12


def confusion(pairs: Iterable[tuple[str, str]], largest: int = _LARGEST) -> dict[str, Any]:
    """Count (gold kind, predicted kind); kinds beyond the most frequent ones become "other".

    RETURNS (Dict[str, Any]): "kinds", the most frequent first, and "counts", a row for each gold
        kind and a column for each predicted kind.
    """
    counts = Counter(pairs)
    sizes: Counter[str] = Counter()
    for (gold, predicted), count in counts.items():
        sizes[gold] += count
        sizes[predicted] += count
    ordered = sorted(sizes, key=lambda kind: (-sizes[kind], kind))
    kinds = ordered[:largest] + ([OTHER] if len(ordered) > largest else [])
    place = {kind: min(number, len(kinds) - 1) for number, kind in enumerate(ordered)}
    table = [[0] * len(kinds) for _ in kinds]
    for (gold, predicted), count in counts.items():
        table[place[gold]][place[predicted]] += count
    return {"kinds": kinds, "counts": table}
