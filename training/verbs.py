"""Run a verb of the workflow from the command line; an error is one line and exit code 1."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import MedlinkError

from .loop.interruption import EXIT_CODE, StoppedError

Device = Annotated[
    str,
    typer.Option(
        help="auto (a GPU where there is one), cpu, cuda, cuda:1, mps, or a GPU id as spaCy has it."
    ),
]
"""The option `--device` of a verb that runs a network."""

IfAny = Annotated[
    bool,
    typer.Option(
        "--if-any",
        help="Where there is no annotated text that teaches, hand on what is there and say so.",
    ),
]
"""The option `--if-any` of a step that a workflow has whether or not gold mentions are there."""

Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace a file that this verb did not write, or lose what lies in a directory of "
        "its own besides.",
    ),
]

RunDirectory = Annotated[
    Path | None, typer.Option(help="Directory for checkpoint and log; OUTPUT_run if left out.")
]
MaxMinutes = Annotated[float | None, typer.Option(help="Budget of the training loop.")]
Resume = Annotated[bool, typer.Option(help="Go on from the checkpoint.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="Another value: section.key=value.")]
"""Options of the verbs that train."""


@contextmanager
def stoppable() -> Iterator[None]:
    """End with exit code 130 where Ctrl-C stops a training; the first rank says so."""
    try:
        yield
    except (StoppedError, KeyboardInterrupt) as stop:
        if os.environ.get("RANK", "0") == "0":  # as torchrun counts
            typer.echo(str(stop) or "Stopped.", err=True)
        raise typer.Exit(EXIT_CODE) from stop


def run(main: Callable[..., None] | None = None, **verbs: Callable[..., None]) -> None:
    """Parse the command line for a typer function and call it.

    main (Optional[Callable]): the one there is; or verbs (Callable): several, by the first word.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    if main is not None:
        app.command()(main)
    for name, verb in verbs.items():
        app.command(name)(verb)
    try:
        app()
    except MedlinkError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)
