"""Lines of a user's file that changed nothing, counted by reason, so that each is reported."""

from collections.abc import Iterable
from typing import Any

_LINES_KEPT = 10

NoEffect = dict[str, dict[str, Any]]
"""Reason to {"count": lines, "lines": the first of their numbers}, as manifests hold it."""

# Reasons, in the words that the user reads.
UNKNOWN_ID = "unknown id"
REPEATED = "repeats an earlier line"


def no_effect(found: Iterable[tuple[str, int]]) -> NoEffect:
    """Count lines by reason.

    found (Iterable[Tuple[str, int]]): (reason, line number), in the order of the file; a line that
        holds several mentions may come several times.
    """
    counted: NoEffect = {}
    for reason, line in found:
        own = counted.setdefault(reason, {"count": 0, "lines": []})
        own["count"] += 1
        if len(own["lines"]) < _LINES_KEPT and line not in own["lines"]:
            own["lines"].append(line)
    return dict(sorted(counted.items()))
