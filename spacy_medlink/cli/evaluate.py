"""`medlink evaluate`: measures linking against gold mentions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..components.pipelines import STARTER, is_pipeline, linked_spans, linker_of, open_pipeline
from ..errors import Errors, MedlinkError, Warnings
from .metrics_report import metrics_report
from .opening import AUTO, Device, Source
from .output import Overwrite
from .parsing import choices, depths, one_of

if TYPE_CHECKING:
    from spacy.language import Language

    from ..evaluation import GoldSet, Settings
    from ..types import Progress

_TIERS = ("exact", "ngram", "dense")
_SHOWN = 10  # of each oddity of a gold file


def command(
    source: Source,
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
    composites: Annotated[
        str,
        typer.Option(
            help="Mentions of several concepts: any is right, or biosyn: taken apart, all parts "
            "must be."
        ),
    ] = "any",
    train: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Training mentions: measure without those known from here, and on unseen codes.",
        ),
    ] = "",
    reference: Annotated[
        str,
        typer.Option(
            help="Measure without mentions known from here, too: dictionary for the names of the "
            "knowledge base, or a file, which is --train."
        ),
    ] = "",
    min_distance: Annotated[
        float,
        typer.Option(min=0, max=1, help="... and without those nearer than this (Levenshtein)."),
    ] = 0.2,
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
            help="Leave out mentions whose gold concept the knowledge base lacks (else wrong).",
        ),
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Links that score less are NIL.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option(help="Measure exact look-up, n-grams and TF-IDF beside the linker.")
    ] = True,
    base: Annotated[
        str, typer.Option(metavar="DIR", help="An untrained encoder to compare with, too.")
    ] = "",
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Metrics of another system: test the difference."),
    ] = None,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Find the mentions in the raw text, too.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Stop where a mention is not what its offsets say, or two documents have one id.",
        ),
    ] = False,
    with_text: Annotated[
        bool,
        typer.Option(
            "--with-text",
            help="Keep mentions and their surroundings in the metrics: private, but what the "
            "error browser of `medlink report` shows.",
        ),
    ] = False,
    keep: Annotated[
        int, typer.Option(min=1, max=100, help="Candidates of each mention to keep.")
    ] = 5,
    output: Annotated[Path | None, typer.Option(help="Write the metrics here, JSON.")] = None,
    overwrite: Overwrite = False,
    device: Device = AUTO,
) -> None:
    """Measure linking against gold mentions."""
    from ..evaluation import Settings
    from ..evaluation.report import METRICS_FILE, dump_metrics
    from ..evaluation.settings import COMPOSITES, PROTOCOLS
    from ..util.files import save_text
    from ..util.outputs import check_output
    from ..util.progress import show_progress

    if output is not None:
        inputs: list[Path | str | None] = [gold, source, train or None, reference or None, against]
        check_output(output, METRICS_FILE, inputs, overwrite=overwrite)
    settings = Settings(
        ks=depths(k),
        tiers=choices(tiers, _TIERS, "--tiers"),
        each_tier=all_tiers,
        protocol=one_of(protocol, PROTOCOLS, "--protocol"),
        threshold=threshold,
        train=train,
        reference=reference,
        min_distance=min_distance,
        composites=one_of(composites, COMPOSITES, "--composites"),
        only_known=only_known,
        baselines=baselines,
        base=base,
        keep=keep,
        with_text=with_text,
    )
    metrics = evaluate_linker(
        source=source,
        gold=gold,
        settings=settings,
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


def evaluate_linker(
    *,
    source: str,
    gold: Path,
    settings: "Settings | None" = None,
    gold_scheme: str = "",
    against: Path | None = None,
    end_to_end: bool = False,
    strict: bool = False,
    device: str = "cpu",
    progress: "Progress | None" = None,
) -> dict[str, Any]:
    """Measure linking against gold mentions.

    A pipeline is measured with the settings of its config: filters, lexicon, composite mentions,
    fusion and threshold. Assets are measured with the default settings.

    source (str): assets, a saved pipeline, an installed package, or "starter".
    gold (Path): file of gold mentions. settings (Optional[Settings]): how to measure.
    gold_scheme (str): vocabulary of the gold ids; "" tries ids, retired ids and codes.
    against (Optional[Path]): metrics of another system on the same mentions, compared under
        "against".
    end_to_end (bool): run the pipeline over the raw texts too, under "end_to_end".
    strict (bool): raise if offsets do not match the text of a mention, or document ids recur.
    device (str): device of the networks.
    RETURNS (Dict[str, Any]): the metrics of `evaluation.measure`.
    RAISES (MedlinkError): E201-E204, E305 for the source, E107 and E4xx for the gold mentions,
        E410-E411 for the other metrics.
    """
    from ..components.sources import open_assets
    from ..evaluation import Settings, load_gold, measure, measure_pipeline
    from ..evaluation.report import compare_metrics, read_metrics
    from ..util.progress import no_progress

    settings = settings or Settings()
    progress = progress or no_progress
    _check_files(settings)
    other = read_metrics(against) if against is not None else None
    linker, discard = None, frozenset[str]()
    if is_pipeline(source):
        nlp = _pipeline(source, "en", device, settings.threshold, settings.tiers)
        component = linker_of(nlp)
        assets, linker = component.assets, component.linker
        if component.opened.shared.is_used:
            _say(Warnings.without_context.format(source=source))
        discard = frozenset(component.labels_discard or ())
    else:
        assets = open_assets(
            None if source == STARTER and not Path(source).exists() else source, device
        )
    gold_set = load_gold(gold, assets.kb, strict, gold_scheme)
    _warn(gold_set, next(iter(assets.kb)).id, settings.only_known)
    metrics = measure(assets, gold_set, settings, progress, linker=linker, discard=discard)
    for name, reason in metrics.get("left_out", {}).items():
        _say(Warnings.baseline_left_out.format(name=name, reason=reason))
    if other is not None and against is not None:
        metrics["against"] = compare_metrics(metrics, other, against)
    if end_to_end:
        metrics["end_to_end"] = measure_pipeline(
            lambda lang: _pipeline(source, lang, device, settings.threshold, settings.tiers),
            assets.kb,
            gold_set,
            progress,
            lambda nlp, doc: linked_spans(doc, linker_of(nlp).spans_key),
        )
    return metrics


def _check_files(settings: "Settings") -> None:
    """Check before the work that all needed files exist."""
    if settings.train and settings.reference and not settings.by_dictionary:
        raise Errors.reference_given_twice()
    if settings.train_file and not Path(settings.train_file).is_file():
        raise Errors.source_missing(path=settings.train_file)
    if settings.base and not Path(settings.base).is_dir():
        raise Errors.source_missing(path=settings.base)


def _pipeline(
    source: str, lang: str, device: str, threshold: float | None, tiers: Sequence[str] = ()
) -> "Language":
    """Open a pipeline; options of the command line replace its settings."""
    given: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    if tiers:
        given["tiers"] = list(tiers)
    try:
        return open_pipeline(source, lang, device, **given)
    except MedlinkError as error:
        if error.code != Errors.unknown_language.code:
            raise
        return open_pipeline(source, "xx", device, **given)


def _warn(gold: "GoldSet", known: str, only_known: bool) -> None:
    """Warn of oddities of the gold mentions, which the figures alone would hide."""
    for bad, message in (
        (gold.mismatches, Warnings.gold_mismatches),
        (gold.repeated, Warnings.repeated_docs),
    ):
        if bad:
            shown = "; ".join(f"line {one.line}: {one.problem}" for one in bad[:_SHOWN])
            _say(message.format(count=len(bad), path=gold.path, examples=shown))
    linked = [case for case in gold.cases() if case.gold.ids]
    missing = [case for case in linked if not case.right]
    if missing:
        message = Warnings.gold_unknown_left_out if only_known else Warnings.gold_not_in_kb
        _say(
            message.format(
                missing=len(missing), n=len(linked), example=missing[0].gold.ids[0], known=known
            )
        )


def _say(message: str) -> None:
    import warnings

    warnings.warn(message, stacklevel=3)
