"""The data of the error browser: what the page's script filters and shows."""

import json
from collections.abc import Sequence
from typing import Any

from ..outcome import VERDICTS
from ..records import Record
from .run import Run

_FLAGS = ("abbreviation", "composite")


def browser_data(runs: Sequence[Run]) -> str:
    """Write the mentions of runs as JSON that is safe inside a `script` element.

    RETURNS (str): {"verdicts", "concepts": {id: [name, types]}, "runs": [{"name", "mentions"}]}.
    """
    concepts: dict[str, Any] = {}
    for run in runs:
        concepts.update(run.metrics["concepts"])
    data = {
        "verdicts": VERDICTS,
        "concepts": concepts,
        "runs": [
            {"name": run.name, "mentions": [_mention(record) for record in run.records]}
            for run in runs
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Nothing in it may end the element, or begin a comment, early.
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _mention(record: Record) -> dict[str, Any]:
    """Use short names: there may be ten thousands of mentions."""
    place = None if record.start < 0 else [record.start, record.end]
    found = {
        "d": record.doc, "p": place, "t": record.text, "l": record.left, "a": record.after,
        "y": record.type, "g": record.gold, "r": record.right, "k": record.rank,
        "f": record.retrieved, "v": VERDICTS.index(record.verdict), "n": record.abstained,
        "u": record.rollup, "c": [list(one) for one in record.candidates],
        "o": record.lang if record.lang != "en" else "",
        "x": [flag for flag in _FLAGS if "yes" in record.labels.get(flag, ())],
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in (None, [], "", False)}
