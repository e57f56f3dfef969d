"""`medlink evaluate`: how well gold mentions are linked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Errors, MedlinkError, Warnings
from .metrics_report import metrics_report
from .opening import STARTER, open_pipeline
from .output import write_json
from .parsing import choices, depths

if TYPE_CHECKING:
    from spacy.language import Language

    from ..measuring import GoldSet, Settings
    from ..types import Progress

_TIERS = ("exact", "ngram", "dense")
_PROTOCOLS = ("concepts", "names")


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="ASSETS_OR_PIPELINE",
            help="Directory of assets, saved pipeline, installed pipeline package, or starter.",
        ),
    ],
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Gold mentions, JSON Lines, plain or .gz.")
    ],
    k: Annotated[str, typer.Option("--k", help="Depths of accuracy.")] = "1,5",
    tiers: Annotated[str, typer.Option(help="Use these tiers only: exact,ngram,dense.")] = "",
    all_tiers: Annotated[
        bool, typer.Option("--all-tiers", help="Measure each tier alone, too.")
    ] = False,
    protocol: Annotated[
        str, typer.Option(help="What ranks count: concepts, or names as in the papers.")
    ] = "concepts",
    reference: Annotated[
        str,
        typer.Option(
            help="Measure without mentions known from here, too: a file of training mentions, or "
            "dictionary for the names of the knowledge base."
        ),
    ] = "",
    min_distance: Annotated[
        float,
        typer.Option(min=0, max=1, help="... and without those nearer than this (Levenshtein)."),
    ] = 0.2,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Links that score less are NIL.")
    ] = None,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Find the mentions in the raw text, too.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop where a mention is not what its offsets say.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write the metrics here, JSON.")] = None,
) -> None:
    """Measure linking against gold mentions."""
    from ..measuring import Settings
    from ..progress import show_progress

    if protocol not in _PROTOCOLS:
        raise typer.BadParameter(f"{protocol!r} is not concepts or names.", param_hint="--protocol")
    settings = Settings(
        ks=depths(k),
        tiers=choices(tiers, _TIERS, "--tiers"),
        each_tier=all_tiers,
        protocol=protocol,
        threshold=threshold,
        reference=reference,
        min_distance=min_distance,
    )
    metrics = evaluate_linker(
        source=source,
        gold=gold,
        settings=settings,
        end_to_end=end_to_end,
        strict=strict,
        progress=show_progress,
    )
    if output is not None:
        write_json(output, metrics)
    typer.echo(metrics_report(metrics, settings.ks))


def evaluate_linker(
    *,
    source: str,
    gold: Path,
    settings: "Settings | None" = None,
    end_to_end: bool = False,
    strict: bool = False,
    progress: "Progress | None" = None,
) -> dict[str, Any]:
    """Measure linking against gold mentions.

    source (str): assets, a saved pipeline, an installed package, or "starter".
    gold (Path): file of gold mentions. settings (Optional[Settings]): how to measure.
    end_to_end (bool): run the pipeline over the raw texts too, under "end_to_end".
    strict (bool): raise where a mention is not what its offsets say.
    RETURNS (Dict[str, Any]): the metrics of `measuring.measure`.
    RAISES (MedlinkError): E201-E204, E305 for the source, E107 and E4xx for the gold mentions.
    """
    from ..measuring import Settings, load_gold, measure, measure_pipeline
    from ..progress import no_progress
    from ..sources import open_assets

    settings = settings or Settings()
    progress = progress or no_progress
    if settings.reference not in ("", "dictionary") and not Path(settings.reference).is_file():
        raise Errors.source_missing(path=settings.reference)
    assets = open_assets(None if source == STARTER and not Path(source).exists() else source)
    gold_set = load_gold(gold, assets.kb, strict)
    _warn(gold_set, next(iter(assets.kb)).id)
    metrics = measure(assets, gold_set, settings, progress)
    if end_to_end:
        metrics["end_to_end"] = measure_pipeline(
            lambda lang: _pipeline(source, lang, settings.threshold), assets.kb, gold_set, progress
        )
    return metrics


def _pipeline(source: str, lang: str, threshold: float | None) -> "Language":
    given = {} if threshold is None else {"threshold": threshold}
    try:
        return open_pipeline(source, lang, **given)
    except MedlinkError as error:
        if error.code != Errors.unknown_language.code:
            raise
        return open_pipeline(source, "xx", **given)


def _warn(gold: "GoldSet", known: str) -> None:
    """Say what is odd about the gold mentions: the figures alone would hide it."""
    import warnings

    if gold.mismatches:
        first = gold.mismatches[0]
        message = Warnings.gold_mismatches.format(
            count=len(gold.mismatches), path=first.path, line=first.line, problem=first.problem
        )
        warnings.warn(message, stacklevel=2)
    linked = [case for case in gold.cases() if case.gold.ids]
    missing = [case for case in linked if not case.right]
    if missing:
        message = Warnings.gold_not_in_kb.format(
            missing=len(missing), n=len(linked), example=missing[0].gold.ids[0], known=known
        )
        warnings.warn(message, stacklevel=2)
