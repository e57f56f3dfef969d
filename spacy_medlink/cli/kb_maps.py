"""`medlink kb maps`: writes the codes of all concepts as a mapping set."""

from pathlib import Path
from typing import Annotated

import typer

from .output import Overwrite


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="Knowledge base.")],
    output: Annotated[Path, typer.Option(help="The mapping set to write: FILE.sssom.tsv.")],
    overwrite: Overwrite = False,
) -> None:
    """Write the codes of all concepts, and what these mean, as a mapping set (SSSOM)."""
    from ..kb import KnowledgeBase
    from ..kb.sssom import write_sssom

    count = write_sssom(KnowledgeBase(kb), output, overwrite=overwrite)
    typer.echo(f"{count:,} mappings: {output}")
