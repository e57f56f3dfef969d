"""Run a verb of the workflow from the command line: what is wrong is one line, exit code 1."""

import sys
from collections.abc import Callable

import typer

from spacy_medlink.errors import MedlinkError


def run(main: Callable[..., None]) -> None:
    """Parse the command line for a typer function and call it."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(main)
    try:
        app()
    except MedlinkError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)
