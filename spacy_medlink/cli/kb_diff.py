"""`medlink kb diff`: compares two knowledge bases."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .opening import open_kb
from .output import table
from .parsing import one_of

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from ..kb.diff import KbDiff

_FORMAT = "spacy-medlink kb diff"
_LIMITS = {"text": 10, "json": 1000, "jsonl": 0}  # changes of each kind that are kept in memory
_WIDEST = 60  # characters of a cell
_MOST_LABELS = 8  # of a kind of changes
# The fields of a change, and their headings.
_COLUMNS = {
    "id": "id", "other": "now", "text": "name", "lang": "language", "label": "vocabulary",
    "before": "before", "after": "after",
}  # fmt: skip


def command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The knowledge base before.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The knowledge base after.")],
    gold: Annotated[
        Path | None, typer.Option(help="Gold mentions: say what becomes of their links.")
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            help="text (10 changes of each kind), json (1,000), or jsonl (every change, a line)."
        ),
    ] = "text",
) -> None:
    """Compare two knowledge bases: concepts, names, codes, types, parents, definitions, sources."""
    from ..kb.diff import diff

    bases, most = (open_kb(old), open_kb(new)), _LIMITS[one_of(format, _LIMITS, "--format")]
    if format == "jsonl":
        _write_lines(bases, gold)
    else:
        typer.echo(_rendered(diff(*bases, gold, most), format))


def _write_lines(bases: tuple["KnowledgeBase", "KnowledgeBase"], gold: Path | None) -> None:
    """Write every change on a line, without keeping changes in memory."""
    from ..kb.diff import changes, gold_changes

    names = {"old": bases[0].path.name, "new": bases[1].path.name}
    typer.echo(json.dumps({"format": _FORMAT, **names}, ensure_ascii=False))
    for change in chain(changes(*bases), gold_changes(*bases, gold) if gold else ()):
        said = {name: value for name, value in change._asdict().items() if value}
        typer.echo(json.dumps(said, ensure_ascii=False))


def _rendered(found: "KbDiff", format: str) -> str:
    facts = _as_dict(found)
    if format == "json":
        return json.dumps({"format": _FORMAT, **facts}, indent=2, ensure_ascii=False)
    return "\n".join(_lines(found, facts)) if found.counts else "Nothing changed."


def _lines(found: "KbDiff", facts: dict[str, Any]) -> Iterator[str]:
    totals = [
        (f"{one.what} {one.label}".strip(), one.before, one.after)
        for one in found.totals if one.before != one.after
    ]  # fmt: skip
    if totals:
        yield table(totals, ("", "before", "after")) + "\n"
    rows = [
        (kind, count, _counted(found.labels.get(kind, {})))
        for kind, count in sorted(found.counts.items())
    ]
    yield table(rows, ("change", "count", ""))
    for kind, changes in facts["examples"].items():
        if not changes:
            continue
        more = found.counts[kind] - len(changes)
        used = {
            column: title
            for column, title in _COLUMNS.items()
            if any(change[column] for change in changes)
        }
        cells = [[_short(one[column]) for column in used] for one in changes]
        yield f"\n{kind}\n{table(cells, list(used.values()))}"
        if more:
            yield f"... and {more:,} more"


def _counted(counts: Mapping[str, int]) -> str:
    """Write the first eight counts in a line, highest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name} {count:,}" for name, count in ordered[:_MOST_LABELS]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _as_dict(found: "KbDiff") -> dict[str, Any]:
    return {
        "totals": [vars(total) for total in found.totals],
        "counts": dict(sorted(found.counts.items())),
        "labels": {kind: dict(sorted(own.items())) for kind, own in sorted(found.labels.items())},
        "gold_links": found.gold_links,
        "examples": {
            kind: [change._asdict() for change in changes]
            for kind, changes in sorted(found.examples.items())
        },
    }
