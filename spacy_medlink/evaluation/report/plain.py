"""The tables as Markdown and as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence

from ...util.spreadsheets import escaped
from .metrics_file import Run
from .tables import Cell, Table


def to_markdown(title: str, runs: Sequence[Run], tables: Sequence[Table]) -> str:
    """Write a report as Markdown; fractions in per cent."""
    parts = [f"# {_escaped(title)}", *(_summary(run) for run in runs)]
    for table in tables:
        parts += [f"## {_escaped(table.title)}", _table(table)]
        if table.note:
            parts.append(_escaped(table.note))
    return "\n\n".join(parts) + "\n"


def to_csv(table: Table) -> str:
    """Write a table as CSV; fractions as they are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([harmless(cell) for cell in row] for row in table.rows)
    return text.getvalue()


def shown(cell: Cell) -> str:
    """Write a cell for people: fractions in per cent with one digit."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{100 * cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def harmless(cell: Cell) -> Cell:
    """Prevent spreadsheets from reading a text as a formula."""
    return escaped(cell) if isinstance(cell, str) else cell


def is_number(cell: Cell) -> bool:
    """Tell whether a cell is aligned to the right."""
    return cell is None or isinstance(cell, int | float)


def _summary(run: Run) -> str:
    manifest, kb = run.metrics["manifest"], run.metrics["kb"]
    return (
        f"{_escaped(run.name)}: {_escaped(manifest['gold']['name'])} (SHA-256 "
        f"{manifest['gold']['sha256'][:12]}) against {_escaped(manifest['assets']['name'])}, "
        f"{kb['concepts']:,} concepts, {kb['names']:,} names; measured {manifest['created']}."
    )


def _table(table: Table) -> str:
    numeric = [all(is_number(row[place]) for row in table.rows) for place in
               range(len(table.header))]  # fmt: skip
    lines = [
        _line(table.header),
        _line("---:" if right else "---" for right in numeric),
        *(_line(shown(cell) for cell in row) for row in table.rows),
    ]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    """Escape a text for Markdown and HTML."""
    text = " ".join(text.split())
    for char in "\\`*_{}[]|":
        text = text.replace(char, f"\\{char}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
