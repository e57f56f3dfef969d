"""`medlink example`: the files that the documentation uses."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to write into, such as . for this one.")
    ],
) -> None:
    """Write the files that the documentation uses, so that every command in it can be tried."""
    from ..example import FILES, write_example

    write_example(directory)
    typer.echo(f"{', '.join(FILES)}: {directory}")
