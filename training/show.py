"""Print files that are worth reading at the end of a run."""

from pathlib import Path
from typing import Annotated

import typer

from .verbs import run_verb


def main(files: Annotated[list[Path], typer.Argument(help="Text files.")]) -> None:
    """Print text files, one after the other."""
    for file in files:
        typer.echo(f"\n{file.read_text(encoding='utf-8').rstrip()}\n")


if __name__ == "__main__":
    run_verb(main)
