"""`medlink evaluate` and `report`: measure linking against gold mentions, and show it."""

from pathlib import Path
from typing import Annotated

import typer

from ..retrieval.tier import known_tiers
from .metrics_report import metrics_report
from .opening import AUTO, Device, Source
from .output import Overwrite
from .parsing import choices, depths, one_of

_METRICS = ("links", "char-iou")
_DICTIONARY = "dictionary"  # in place of a file of training mentions


def command(
    source: Source,
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Gold mentions, JSON Lines, plain or .gz.")
    ],
    metric: Annotated[
        str,
        typer.Option(
            help="links, or char-iou: the scorer of the SNOMED CT entity-linking challenge, "
            "which also takes tables of annotations (.csv) and writes one to --output."
        ),
    ] = "links",
    k: Annotated[str, typer.Option("--k", help="Depths of accuracy.")] = "1,5",
    tiers: Annotated[str, typer.Option(help="Use these tiers only: exact,ngram,dense.")] = "",
    all_tiers: Annotated[
        bool, typer.Option("--all-tiers", help="Also measure each tier alone.")
    ] = False,
    protocol: Annotated[
        str,
        typer.Option(help="What a rank counts: concepts, or, as in the papers, names or entries."),
    ] = "concepts",
    composites: Annotated[
        str,
        typer.Option(
            help="Mentions of several concepts: any (one of them is enough), or biosyn (each part "
            "must be right)."
        ),
    ] = "any",
    identifiers: Annotated[
        bool, typer.Option(help="Use identifiers that documents have beside their mentions.")
    ] = True,
    train: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Training mentions: also measure without the mentions and codes that occur in "
            "them. `--train dictionary` means the names of the knowledge base.",
        ),
    ] = None,
    gold_scheme: Annotated[
        str,
        typer.Option(
            metavar="VOCABULARY",
            help="The gold ids are codes of this vocabulary, which the knowledge base maps.",
        ),
    ] = "",
    only_known: Annotated[
        bool,
        typer.Option(
            "--only-known",
            help="Leave out mentions whose concept is not in the knowledge base. By default they "
            "count as wrong.",
        ),
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Links with a lower probability become NIL.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option(help="Also measure exact look-up and n-grams, for comparison.")
    ] = True,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Metrics of another system, to test the difference."),
    ] = None,
    end_to_end: Annotated[
        bool,
        typer.Option(
            "--end-to-end",
            help="Find mentions in the raw text instead of using those of GOLD.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Stop if a mention differs from the text at its offsets, or if two documents "
            "have the same id.",
        ),
    ] = False,
    with_text: Annotated[
        bool,
        typer.Option(
            "--with-text",
            help="Keep mentions and their context in the metrics, for the error browser of "
            "`medlink report`. The text may be private.",
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write the metrics into this JSON file.")
    ] = None,
    overwrite: Overwrite = False,
    device: Device = AUTO,
) -> None:
    """Measure linking against gold mentions."""
    from ..annotate.evaluate import evaluate
    from ..evaluation import Settings
    from ..evaluation.report import METRICS_FILE, dump_metrics
    from ..evaluation.settings import COMPOSITES, PROTOCOLS
    from ..util.files import save_text
    from ..util.outputs import check_output
    from ..util.progress import show_progress

    if one_of(metric, _METRICS, "--metric") == _METRICS[1]:
        _measure_characters(source, gold, output, threshold, overwrite, device)
        return
    files = [file for file in train or () if file != _DICTIONARY]
    if len(files) > 1:
        raise typer.BadParameter("one file, and dictionary", param_hint="--train")
    if output is not None:
        inputs: list[Path | str | None] = [gold, source, *files, against]
        check_output(output, METRICS_FILE, inputs, overwrite=overwrite)
    settings = Settings(
        ks=depths(k),
        tiers=choices(tiers, known_tiers(), "--tiers"),
        each_tier=all_tiers,
        protocol=one_of(protocol, PROTOCOLS, "--protocol"),
        threshold=threshold,
        train="".join(files),
        by_dictionary=_DICTIONARY in (train or ()),
        resolve_identifiers=identifiers,
        composites=one_of(composites, COMPOSITES, "--composites"),
        only_known=only_known,
        baselines=baselines,
        with_text=with_text,
    )
    metrics = evaluate(
        source,
        gold,
        settings,
        gold_scheme=gold_scheme,
        against=against,
        end_to_end=end_to_end,
        strict=strict,
        device=device,
        progress=show_progress,
    )
    if output is not None:
        save_text(output, METRICS_FILE, dump_metrics(metrics), inputs, overwrite=overwrite)
    typer.echo(metrics_report(metrics, settings.ks))


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
    from ..evaluation.report import open_runs, write_report

    inputs = [*metrics, *filter(None, [before])]
    typer.echo(write_report(output, open_runs(metrics), "", inputs, overwrite, before))


def _measure_characters(
    source: str, gold: Path, output: Path | None, threshold: float | None, overwrite: bool,
    device: str,
) -> None:  # fmt: skip
    from ..annotate.evaluate import evaluate_characters
    from ..kb.annotated_notes import ANNOTATIONS_FILE, dump_annotations
    from ..util.files import save_text
    from ..util.outputs import check_output
    from ..util.progress import show_progress

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
