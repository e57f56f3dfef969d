"""`medlink kb add-mentions`: adds the mentions of annotated text as names of their concepts."""

from pathlib import Path
from typing import Annotated

import typer

from .output import Overwrite


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base to start from.")],
    gold: Annotated[
        list[Path], typer.Argument(metavar="GOLD", help="Gold mentions to learn names from.")
    ],
    output: Annotated[Path, typer.Option(help="The knowledge base to write.")],
    new_concepts: Annotated[
        bool,
        typer.Option("--new-concepts", help="Let ids that KB lacks become concepts."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a knowledge base that has the mentions of annotated text as names, too."""
    from ..evaluation import load_gold
    from ..fitting.mention_names import add_mention_names
    from ..kb import KnowledgeBase

    knowledge = KnowledgeBase(kb)
    files = [load_gold(path, knowledge, nil_only=True) for path in gold]
    added = add_mention_names(output, knowledge, files, new_concepts, overwrite)
    counts = added.facts
    new = f", {counts['new_concepts']:,} of them new" if new_concepts else ""
    typer.echo(f"{counts['names']:,} names added to {counts['concepts']:,} concepts{new}: {output}")
    for reason, count in counts["no_effect"].items():
        if count:
            typer.echo(f"{count:,} mentions gave no name: {reason}", err=True)
