"""`medlink kb search`: finds concepts by name."""

from pathlib import Path
from typing import Annotated

import typer

from .opening import open_kb
from .output import echo_json, table


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, or a part of one.")],
    limit: Annotated[int, typer.Option(min=1, help="At most so many concepts.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find concepts by name: exact matches, then names that hold the text; else those near it."""
    from ..kb.browse import search_concepts

    matches = search_concepts(open_kb(kb), text, limit)
    if as_json:
        echo_json([match._asdict() for match in matches])
    elif matches:
        typer.echo(table(matches, ("id", "name", "matched", "how")))
    else:
        typer.echo(f"No name holds {text!r} or is near it.", err=True)
