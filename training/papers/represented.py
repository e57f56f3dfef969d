"""Figures that `python -m training.represent --output` wrote, as rows of a table."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_medlink.errors import Errors

from .measuring import Part, Row

_TASKS = {"mcsm": "mcsm", "relations": "relations"}


def read_represented(files: Sequence[tuple[str, Path]]) -> tuple[str, list[Row]]:
    """Read figures of one task.

    files (Sequence[Tuple[str, Path]]): name of the system and its file; a name may come again, so
        that a frozen and a tuned classifier share a row.
    RETURNS (Tuple[str, List[Row]]): the task, as published.tsv names the corpus, and the rows.
    RAISES (MedlinkError): E107 without a file, E410 for another kind of file, or several tasks.
    """
    rows: dict[str, dict[str, Part]] = {}
    tasks = set()
    for name, path in files:
        found = _read(path)
        tasks.add(found["task"])
        if len(tasks) > 1:
            raise Errors.not_metrics(path=path, reason=f"of another task, {found['task']}")
        rows.setdefault(name, {}).update(parts_of(found))
    return tasks.pop(), [Row(name, parts) for name, parts in rows.items()]


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        found = json.loads(path.read_text("utf-8"))
        is_known = found["task"] in _TASKS
    except (ValueError, KeyError, TypeError) as error:
        raise Errors.not_metrics(path=path, reason=f"no figures ({error})") from error
    if not is_known:
        raise Errors.not_metrics(path=path, reason=f"no published table has {found['task']}")
    return dict(found)


def parts_of(found: Mapping[str, Any]) -> dict[str, Part]:
    """Make parts of a table of what a measure gives, by its "task"."""
    if found["task"] == "mcsm":
        figures = {name: own["mcsm"] for name, own in found["types"].items()}
        return {"full": Part(found["concepts"], figures)}
    share = found["accuracy"]
    part = "tuned" if found["tuned"] else "frozen"
    return {part: Part(found["n_test"], {"accuracy": None if share is None else 100 * share})}
