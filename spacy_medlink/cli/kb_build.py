"""`medlink kb build` and `kb add-mentions`: make knowledge bases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..kb.filters import Filters
from ..kb.from_sources import KbSettings
from ..types import Facts
from ..util.progress import show_progress
from ..util.sides import load
from .options import with_options
from .output import Overwrite
from .parsing import allowed_in
from .reports import bad_line_report, curation_report, summary
from .sources import ReaderOptions, with_formats


@with_options
def command(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE", help="Terminology: a file or directory, or several to combine."
        ),
    ],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of the source, such as obo, jsonl, umls, snomed, omop, mesh, icd, fhir, "
            "tsv, csv, owl, skos, biosyn or gazetteer. For several sources, give it once for all "
            "or once for each. By default it is recognised by content and name.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The knowledge base to write.")] = None,
    *,
    filters: Filters,
    allow_ids: Annotated[
        Path | None, typer.Option(help="File of ids to keep; all others are left out.")
    ] = None,
    settings: KbSettings,
    reading: ReaderOptions,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="List all problems of the sources and write nothing. Exit code 1 if a build "
            "would stop.",
        ),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Build a knowledge base, and replace the one at --output at the end."""
    options = reading.given()
    if dry_run:
        _check(with_formats(places, formats or [], options), options)
        return
    if output is None:
        raise typer.BadParameter("name the knowledge base to write.", param_hint="--output")
    allowed = allowed_in(allow_ids, "--allow-ids")
    built = spacy_medlink.build_knowledge_base(
        out=output,
        sources=with_formats(places, formats or [], options),
        filters=filters.model_copy(update={"allow_ids": allowed}),
        options=options,
        progress=show_progress,
        overwrite=overwrite,
        inputs=[allow_ids],
        **dict(settings),
    )
    typer.echo(summary(built))
    for line in bad_line_report(built.report.bad_lines):
        typer.echo(line, err=True)
    if settings.curation is not None:
        for line in curation_report(settings.curation.name, built.kb.manifest["curation"]):
            typer.echo(line, err=True)


def add_mentions_command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base to start from.")],
    gold: Annotated[
        list[Path], typer.Argument(metavar="GOLD", help="Gold mentions to learn names from.")
    ],
    output: Annotated[Path, typer.Option(help="The knowledge base to write.")],
    new_concepts: Annotated[
        bool,
        typer.Option("--new-concepts", help="Add a concept for each id that KB does not have."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a knowledge base that also has the mentions of annotated text as names."""
    from ..evaluation import load_gold
    from ..fitting.mention_names import add_mention_names

    knowledge = spacy_medlink.KnowledgeBase(kb)
    files = [load_gold(path, knowledge, nil_only=True) for path in gold]
    added = add_mention_names(output, knowledge, files, new_concepts, overwrite)
    counts = added.entry
    new = f", {counts['new_concepts']:,} of them new" if new_concepts else ""
    typer.echo(f"{counts['names']:,} names added to {counts['concepts']:,} concepts{new}: {output}")
    for reason, count in counts["no_effect"].items():
        if count:
            typer.echo(f"{count:,} mentions gave no name: {reason}", err=True)


def _check(sources: Sequence[tuple[str, Path]], options: Facts) -> None:
    checked = load("medlink_checks", "sources", "check of sources")(sources, options)
    for problem in checked.problems:
        line = f", line {problem.line}" if problem.line else ""
        typer.echo(f"{problem.severity}: {problem.path}{line}: {problem.text}")
    warnings = len(checked.problems) - checked.errors
    typer.echo(
        f"{checked.errors:,} errors, {warnings:,} warnings; {checked.concepts:,} concepts and "
        f"{checked.names:,} names were read"
    )
    if checked.errors:
        raise typer.Exit(1)
