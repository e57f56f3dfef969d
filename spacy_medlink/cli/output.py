"""Plain tables, and JSON."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace a file that this command did not write, and delete other files in a "
        "directory that it did.",
    ),
]


def table(rows: Sequence[Sequence[object]], header: Sequence[str] = ()) -> str:
    """Lay out rows in columns two blanks apart, numbers to the right.

    RETURNS (str): the lines, without a line break at the end; "" without rows.
    """
    cells = [[_text(cell) for cell in row] for row in rows]
    if header and rows:
        cells.insert(0, list(header))
    if not cells:
        return ""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    to_right = [
        all(isinstance(cell, int | float) or cell is None for cell in column)
        for column in zip(*rows, strict=True)
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, to_right, strict=True)
        ).rstrip()
        for line in cells
    )


def echo_json(value: object) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _text(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.1f}"
    return " ".join(str(cell).split())
