"""`medlink evaluate` and `report`: measure linking against gold mentions, and show it."""

from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..evaluation.settings import Settings
from ..types import Data
from ..util.files import save_text
from ..util.outputs import check_output
from ..util.progress import show_progress
from .opening import AUTO, Device, Source
from .options import with_options
from .output import Overwrite, table
from .parsing import one_of

_METRICS = ("links", "char-iou")
_ON_A_PAGE = ("retrieval", "reliability", "coverage")  # tables that `medlink report` has


@with_options
def command(
    source: Source,
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Gold mentions, JSON Lines, plain or .gz.")
    ],
    *,
    metric: Annotated[
        str,
        typer.Option(
            help="links, or char-iou: the scorer of the SNOMED CT entity-linking challenge, "
            "which also takes tables of annotations (.csv) and writes one to --output."
        ),
    ] = "links",
    settings: Settings,
    output: Annotated[
        Path | None, typer.Option(help="Write the metrics into this JSON file.")
    ] = None,
    overwrite: Overwrite = False,
    device: Device = AUTO,
) -> None:
    """Measure linking against gold mentions."""
    from ..evaluation.report import METRICS_FILE, dump_metrics

    if one_of(metric, _METRICS, "--metric") == _METRICS[1]:
        _measure_characters(source, gold, output, settings.threshold, overwrite, device)
        return
    inputs: list[Path | str | None] = [gold, source, settings.train_file, settings.against]
    if output is not None:
        check_output(output, METRICS_FILE, inputs, overwrite=overwrite)
    metrics = spacy_medlink.evaluate(
        source, gold, **dict(settings), device=device, progress=show_progress
    )
    if output is not None:
        save_text(output, METRICS_FILE, dump_metrics(metrics), inputs, overwrite=overwrite)
    typer.echo(_report(metrics))


def _report(metrics: Data) -> str:
    """Lay out the tables of `medlink report`, but for some; fractions in per cent."""
    from ..evaluation.report.metrics_file import Run
    from ..evaluation.report.tables import make_tables

    parts = []
    for each in make_tables([Run("the linker", metrics)]):
        if each.name not in _ON_A_PAGE:
            rows = [[100 * cell if isinstance(cell, float) else cell for cell in row]
                    for row in each.rows]  # fmt: skip
            lines = [f"{each.title}:", table(rows, each.header), each.note]
            parts.append("\n".join(filter(None, lines)))
    return "\n\n".join(parts)


def report_command(
    metrics: Annotated[
        list[Path],
        typer.Argument(metavar="METRICS", help="Files that `medlink evaluate --output` wrote."),
    ],
    output: Annotated[Path, typer.Option(help="Directory for report.html.")] = Path("report"),
    before: Annotated[
        Path | None,
        typer.Option(
            metavar="METRICS",
            help="Metrics of an earlier run on the same mentions, to show what changed.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make a report of metrics: one HTML page that needs no server."""
    if output.suffix.lower() in (".html", ".htm"):
        raise typer.BadParameter("name a directory: report.html goes there.", param_hint="--output")
    from ..evaluation.report import open_runs, write_report

    inputs = [*metrics, *filter(None, [before])]
    typer.echo(write_report(output, open_runs(metrics), "", inputs, overwrite, before))


def _measure_characters(
    source: str, gold: Path, output: Path | None, threshold: float | None, overwrite: bool,
    device: str,
) -> None:  # fmt: skip
    from ..annotate.evaluate import evaluate_characters
    from ..kb.annotated_notes import ANNOTATIONS_FILE, dump_annotations

    inputs: list[Path | str | None] = [gold, source]
    if output is not None:
        check_output(output, ANNOTATIONS_FILE, inputs, overwrite=overwrite)
    scores, made = evaluate_characters(
        source, gold, threshold=threshold, device=device, progress=show_progress
    )
    if output is not None:
        save_text(output, ANNOTATIONS_FILE, dump_annotations(made), inputs, overwrite=overwrite)
    shown = ((name, scores[name]) for name in ("macro", "weighted"))
    figures = ", ".join(
        f"{name} {'-' if value is None else f'{value:.4f}'}" for name, value in shown
    )
    typer.echo(
        f"Character IoU: {figures} ({scores['concepts']:,} concepts, {scores['gold']:,} gold and "
        f"{scores['predicted']:,} made annotations)"
    )
