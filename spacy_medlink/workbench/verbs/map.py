"""`medlink map`: maps a table of local terms, or another knowledge base, to concepts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...cli.opening import AUTO, Device, is_kb, open_kb
from ...cli.options import with_options
from ...cli.output import Overwrite
from ...cli.parsing import choices, pairs
from ...errors import Warnings
from ...util.progress import show_progress
from ..mapping.settings import MapSettings

if TYPE_CHECKING:
    from ..mapping.run import Mapped
    from ..mapping.terms import Columns

SET_ASIDE = 3  # exit code: done, but some rows could not be read


@with_options
def command(
    terms: Annotated[
        Path,
        typer.Argument(
            metavar="TERMS",
            help="Table: .csv, .tsv (or .gz), .parquet or .xlsx; or a knowledge base.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            help="File for the mappings: .csv, .usagi.csv, .json (FHIR) or .sssom.tsv. Decisions "
            "in a .csv that exists already are kept.",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="ASSETS_OR_PIPELINE",
            help="What to map to: assets, a saved pipeline, a pipeline package, or starter.",
        ),
    ],
    *,
    columns: Annotated[
        str,
        typer.Option(
            help="Columns of TERMS with unusual headers: name=TERM, code=ID, frequency=N, "
            "context=WARD. There may be several of context, divided by |."
        ),
    ] = "",
    settings: MapSettings,
    overwrite: Overwrite = False,
    device: Device = AUTO,
) -> None:
    """Map local terms, or another terminology, to concepts: with candidates, ready for review.

    Exit code 3 says that rows were set aside; all others were mapped.
    """
    if settings.approved and settings.reviewed is None:
        raise typer.BadParameter("--approved needs --reviewed.", param_hint="--approved")
    from ...components.pipelines import linker_of, open_pipeline
    from ..mapping.run import CANDIDATES, map_terms

    nlp = open_pipeline(to, settings.lang.partition(",")[0] or "en", device, top_k=CANDIDATES)
    mapped = map_terms(
        open_kb(terms) if is_kb(terms) else terms,
        linker_of(nlp).opened.linker,
        output,
        columns=_columns(columns),
        inputs=[to],
        overwrite=overwrite,
        progress=show_progress,
        **dict(settings),
    )
    _tell(mapped, terms)
    typer.echo(_summary(mapped, output))
    if mapped.problems.aside:
        raise typer.Exit(SET_ASIDE)


def _columns(text: str) -> "Columns":
    """Read headers of columns by what they hold."""
    from ..mapping.terms import Columns

    given = pairs(text, "--columns") if text else {}
    choices(",".join(given), Columns._fields, "--columns")
    context = tuple(given.pop("context", ()))
    return Columns(**{column: headers[-1] for column, headers in given.items()}, context=context)


def _tell(mapped: "Mapped", path: Path) -> None:

    problems = mapped.problems
    if problems.western:
        line, count = problems.western[0], len(problems.western)
        message = Warnings.western_lines.format(path=path, count=count, line=line)
        typer.echo(message, err=True)
    for problem, count in problems.aside.items():
        first = problems.first[problem]
        typer.echo(f"{count:,} rows set aside: {problem} (the first is row {first}).", err=True)


def _summary(mapped: "Mapped", output: Path) -> str:
    total, reviewed = mapped.exact + mapped.probable + mapped.without, mapped.reviewed
    lines = [
        f"{total:,} terms: {mapped.exact:,} exact, {mapped.probable:,} probable, "
        f"{mapped.without:,} without: {output}"
    ]
    if reviewed.path is not None:
        lines.append(
            f"Reviewed before: {reviewed.kept:,} kept; {reviewed.gone:,} for terms that are no "
            f"longer in the list; {reviewed.invalid:,} with a concept that no longer exists "
            "(INVALID_TARGET)."
        )
        lines.append(
            f"Mapped again: {reviewed.same:,} as before, {reviewed.changed:,} changed, "
            f"{reviewed.new:,} new."
        )
    if reviewed.invalid:
        lines.append("Choose another concept where the status is INVALID_TARGET.")
    return "\n".join(lines)
