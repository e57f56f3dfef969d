"""`medlink kb build` and `kb add-mentions`: make knowledge bases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..types import Data, Facts
from ..util.progress import show_progress
from ..util.sides import load
from .output import Overwrite
from .parsing import allowed_in, comma_list, pairs
from .reports import bad_line_report, curation_report, summary
from .sources import COLUMNS_HELP, ENCODING_HELP, SEPARATOR_HELP, VOCABULARY_HELP, with_formats


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
    languages: Annotated[str, typer.Option(help="Keep names of these languages: en,es.")] = "",
    kept_sources: Annotated[
        str, typer.Option("--sources", help="Keep names of these vocabularies: SNOMEDCT_US.")
    ] = "",
    types: Annotated[
        str,
        typer.Option(help="Keep concepts of these types, or groups of UMLS types: T047,DISO."),
    ] = "",
    term_types: Annotated[str, typer.Option(help="Keep names of these term types: PT,SY.")] = "",
    include_obsolete: Annotated[
        bool, typer.Option("--include-obsolete", help="Keep obsolete and suppressed names.")
    ] = False,
    allow_ids: Annotated[
        Path | None, typer.Option(help="File of ids to keep; all others are left out.")
    ] = None,
    curation: Annotated[
        Path | None, typer.Option(help="File of rules: names to deny, force or add, ids to retire.")
    ] = None,
    maps: Annotated[
        list[Path] | None,
        typer.Option(
            "--maps",
            metavar="FILE",
            help="Mapping set (SSSOM, .sssom.tsv, or FHIR's ConceptMap) that adds codes to "
            "concepts; may be given several times.",
        ),
    ] = None,
    id_scheme: Annotated[
        str, typer.Option(help="Use the codes of this vocabulary as ids of the concepts: UMLS.")
    ] = "",
    columns: Annotated[str, typer.Option(help=COLUMNS_HELP)] = "",
    separator: Annotated[str, typer.Option(help=SEPARATOR_HELP)] = "",
    vocabulary: Annotated[str, typer.Option(help=VOCABULARY_HELP)] = "",
    encoding: Annotated[str, typer.Option(help=ENCODING_HELP)] = "",
    lang: Annotated[
        str, typer.Option(help="Language of names, if the source does not state it.")
    ] = "",
    dialect: Annotated[
        str,
        typer.Option(
            help="Whose preferred names of SNOMED CT to use: en-GB, or the id of a language "
            "reference set."
        ),
    ] = "",
    everything: Annotated[
        bool,
        typer.Option("--all", help="Keep all valid concepts of OMOP, not only the standard ones."),
    ] = False,
    update: Annotated[
        Path | None,
        typer.Option(help="The previous knowledge base. Ids that only it has are kept as retired."),
    ] = None,
    skip_bad_lines: Annotated[
        bool,
        typer.Option(
            "--skip-bad-lines",
            help="Count and report bad lines instead of stopping.",
        ),
    ] = False,
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
    from ..kb.filters import Filters
    from ..kb.vocabularies import GROUPS, type_named

    options: Data = {
        "columns": pairs(columns, "--columns"), "lang": lang, "separator": separator,
        "source": vocabulary, "encoding": encoding, "dialect": dialect,
    }  # fmt: skip
    given_options = {name: value for name, value in options.items() if value}
    if everything:
        given_options["standard"] = False
    if dry_run:
        _check(with_formats(places, formats or [], given_options), given_options)
        return
    if output is None:
        raise typer.BadParameter("name the knowledge base to write.", param_hint="--output")
    filters = Filters(
        languages=comma_list(languages),
        sources=comma_list(kept_sources),
        types=tuple(name for name in comma_list(types) if name not in GROUPS),
        groups=tuple(name for name in map(type_named, comma_list(types)) if name in GROUPS),
        term_types=comma_list(term_types),
        include_obsolete=include_obsolete,
        allow_ids=allowed_in(allow_ids, "--allow-ids"),
    )
    built = spacy_medlink.build_knowledge_base(
        out=output,
        sources=with_formats(places, formats or [], given_options),
        filters=filters,
        id_scheme=id_scheme,
        curation=curation,
        maps=maps or [],
        options=given_options,
        update=update,
        skip_bad_lines=skip_bad_lines,
        progress=show_progress,
        overwrite=overwrite,
        inputs=[allow_ids],
    )
    typer.echo(summary(built))
    for line in bad_line_report(built.report.bad_lines):
        typer.echo(line, err=True)
    if curation is not None:
        for line in curation_report(curation.name, built.kb.manifest["curation"]):
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
