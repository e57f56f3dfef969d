"""`medlink example`: the files that the documentation uses."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to write into; . is the current one.")
    ],
) -> None:
    """Write the example files of the documentation, so that you can try its commands."""
    from ..example import FILES, write_example

    write_example(directory)
    typer.echo(f"Wrote into {directory}: {', '.join(FILES)}")
