"""Results of `training.representations` as parts of a table."""

from collections.abc import Mapping
from typing import Any

from .measuring import Part


def parts_of(found: Mapping[str, Any]) -> dict[str, Part]:
    """Make parts of a table from the result of a measure; "task" is "mcsm" or "relations"."""
    if found["task"] == "mcsm":
        figures = {name: own["mcsm"] for name, own in found["types"].items()}
        return {"full": Part(found["concepts"], figures)}
    share = found["accuracy"]
    part = "tuned" if found["tuned"] else "frozen"
    return {part: Part(found["n_test"], {"accuracy": None if share is None else 100 * share})}
