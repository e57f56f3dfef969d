"""`medlink kb diff`: compares two knowledge bases."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..types import Data
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
        fields = {name: value for name, value in change._asdict().items() if value}
        typer.echo(json.dumps(fields, ensure_ascii=False))


def _rendered(difference: "KbDiff", format: str) -> str:
    content = _as_dict(difference)
    if format == "json":
        return json.dumps({"format": _FORMAT, **content}, indent=2, ensure_ascii=False)
    return "\n".join(_lines(difference, content)) if difference.counts else "Nothing changed."


def _lines(difference: "KbDiff", content: Data) -> Iterator[str]:
    totals = [
        (f"{total.what} {total.label}".strip(), total.before, total.after)
        for total in difference.totals if total.before != total.after
    ]  # fmt: skip
    if totals:
        yield table(totals, ("", "before", "after")) + "\n"
    rows = [
        (change_type, count, _counted(difference.labels.get(change_type, {})))
        for change_type, count in sorted(difference.counts.items())
    ]
    yield table(rows, ("change", "count", ""))
    for change_type, changes in content["examples"].items():
        if not changes:
            continue
        more = difference.counts[change_type] - len(changes)
        used = {
            column: title
            for column, title in _COLUMNS.items()
            if any(change[column] for change in changes)
        }
        cells = [[_short(total[column]) for column in used] for total in changes]
        yield f"\n{change_type}\n{table(cells, list(used.values()))}"
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


def _as_dict(difference: "KbDiff") -> Data:
    return {
        "totals": [vars(total) for total in difference.totals],
        "counts": dict(sorted(difference.counts.items())),
        "labels": {
            change_type: dict(sorted(label_counts.items()))
            for change_type, label_counts in sorted(difference.labels.items())
        },
        "gold_links": difference.gold_links,
        "examples": {
            change_type: [change._asdict() for change in changes]
            for change_type, changes in sorted(difference.examples.items())
        },
    }
