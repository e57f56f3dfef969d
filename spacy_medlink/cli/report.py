"""`medlink report`: the metrics of `medlink evaluate` as a page for people."""

from pathlib import Path
from typing import Annotated

import typer

from .output import Overwrite


def command(
    metrics: Annotated[
        list[Path],
        typer.Argument(metavar="METRICS", help="Files that `medlink evaluate --output` wrote."),
    ],
    output: Annotated[Path, typer.Option(help="Directory for report.html.")] = Path("report"),
    before: Annotated[
        Path | None,
        typer.Option(metavar="METRICS", help="An earlier run on the same mentions: what changed?"),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make a report of measured linkers: one page that opens from disk."""
    from ..evaluation.report import open_runs, write_report

    inputs = [*metrics, *filter(None, [before])]
    typer.echo(write_report(output, open_runs(metrics), "", inputs, overwrite, before))
