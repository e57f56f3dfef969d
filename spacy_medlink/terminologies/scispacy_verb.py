"""`medlink import scispacy-kb`: makes a knowledge base of scispaCy's."""

from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..cli.output import Overwrite
from ..cli.reports import summary
from ..util.progress import show_progress


def command(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="scispaCy's concepts: .jsonl or .json, plain or .gz."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(show_default="FILE's name", help="The knowledge base to write."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build a knowledge base from scispaCy's; see also `medlink kb build --from scispacy`."""
    out = output or Path(path.name.partition(".")[0] + ".kb")
    built = spacy_medlink.build_knowledge_base(
        out=out,
        sources=[("scispacy", path)],
        progress=show_progress,
        overwrite=overwrite,
    )
    typer.echo(summary(built))
    typer.echo(f"Next: medlink build {out} --encoder MODEL --output {out.stem}.assets", err=True)
