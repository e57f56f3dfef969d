"""`medlink report`: the metrics of `medlink evaluate` as pages for people."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .output import Overwrite


def command(
    metrics: Annotated[
        list[Path],
        typer.Argument(metavar="METRICS", help="Files that `medlink evaluate --output` wrote."),
    ],
    output: Annotated[
        Path, typer.Option(help="Directory for report.html, report.md and CSV files.")
    ] = Path("report"),
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    overwrite: Overwrite = False,
) -> None:
    """Make a report of measured linkers: one page that opens from disk, Markdown, CSV."""
    for path in make_report(metrics=metrics, output=output, title=title, overwrite=overwrite):
        typer.echo(path)


def make_report(
    *, metrics: Sequence[Path], output: Path, title: str = "", overwrite: bool = False
) -> list[Path]:
    """Make a report of measured linkers.

    metrics (Sequence[Path]): files of metrics, one a linker. output (Path): a directory.
    title (str): of the report; default: the files' names. overwrite (bool): replace files with the
        same names that belong to no report.
    RETURNS (List[Path]): the files written, the page first.
    RAISES (MedlinkError): E107, E410 for the metrics, E109, E120-E124 for the directory.
    """
    from ..evaluation.report import open_runs, write_report

    return write_report(output, open_runs(metrics), title, metrics, overwrite)
