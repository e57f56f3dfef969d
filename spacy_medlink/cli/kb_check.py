"""`medlink kb check`: lists all problems of terminology files before a build."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import echo_json
from .parsing import pairs
from .sources import COLUMNS_HELP, with_formats

if TYPE_CHECKING:
    from ..kb.check import Checked


def command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE", help="Terminology: a file or directory, or several for one KB."
        ),
    ],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="Format of the source, as for `kb build`; by default what the name ends with "
            "says (.csv, .tsv, .txt, .jsonl, .obo).",
        ),
    ] = None,
    columns: Annotated[str, typer.Option(help=COLUMNS_HELP)] = "",
    limit: Annotated[
        int, typer.Option(min=0, help="At most so many problems of each kind; 0: all.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List all problems of terminology files; exit code 1 if a build would stop at one."""
    from ..kb.check import check_sources

    named = pairs(columns, "--columns")
    options = {"columns": named} if named else {}
    found = check_sources(with_formats(sources, formats or [], options), options)
    if as_json:
        echo_json(_as_dict(found))
    else:
        for line in _lines(found, limit):
            typer.echo(line)
    if found.errors:
        raise typer.Exit(1)


def _lines(found: "Checked", limit: int) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for one in found.problems:
        seen[one.kind] += 1
        if not limit or seen[one.kind] <= limit:
            line = f", line {one.line}" if one.line else ""
            yield f"{one.severity}: {one.path}{line}: {one.text}"
    for kind, count in seen.items():
        if limit and count > limit:
            yield f"... and {count - limit:,} more of the kind: {kind}"
    warnings = len(found.problems) - found.errors
    yield (
        f"{found.errors:,} errors, {warnings:,} warnings; {found.concepts:,} concepts and "
        f"{found.names:,} names were read"
    )


def _as_dict(found: "Checked") -> dict[str, Any]:
    return {
        "errors": found.errors,
        "warnings": len(found.problems) - found.errors,
        "concepts": found.concepts,
        "names": found.names,
        "problems": [one._asdict() for one in found.problems],
    }
