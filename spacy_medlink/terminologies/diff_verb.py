"""`medlink kb diff`: compares two knowledge bases."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..cli.opening import open_kb
from ..cli.output import table
from ..cli.reports import counted

if TYPE_CHECKING:
    from .diff import KbDiff

_FORMAT = "spacy-medlink kb diff"
_SHOWN = 10  # changes of each kind
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
        Path | None, typer.Option(help="Gold mentions, to report how their links change.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every change as a line of JSON.")
    ] = False,
) -> None:
    """Compare two knowledge bases: concepts, names, codes, types, parents, definitions, sources."""
    from .diff import changes, diff, gold_changes

    bases = open_kb(old), open_kb(new)
    if not as_json:
        difference = diff(*bases, gold, _SHOWN)
        typer.echo("\n".join(_lines(difference)) if difference.counts else "Nothing changed.")
        return
    names = {"old": bases[0].path.name, "new": bases[1].path.name}
    typer.echo(json.dumps({"format": _FORMAT, **names}, ensure_ascii=False))
    for change in chain(changes(*bases), gold_changes(*bases, gold) if gold else ()):
        fields = {name: value for name, value in change._asdict().items() if value}
        typer.echo(json.dumps(fields, ensure_ascii=False))


def _lines(difference: "KbDiff") -> Iterator[str]:
    totals = [
        (f"{total.what} {total.label}".strip(), total.before, total.after)
        for total in difference.totals if total.before != total.after
    ]  # fmt: skip
    if totals:
        yield table(totals, ("", "before", "after")) + "\n"
    rows = [
        (change_type, count, counted(difference.labels.get(change_type, {}), _MOST_LABELS))
        for change_type, count in sorted(difference.counts.items())
    ]
    yield table(rows, ("change", "count", ""))
    for change_type, examples in sorted(difference.examples.items()):
        changes = [change._asdict() for change in examples]
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


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
