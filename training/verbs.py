"""What the verbs share: options, their run from the command line, and a table as their result."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.extras import missing
from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import PathLike, check_output, companion, marked

from .loop.interruption import EXIT_CODE, StoppedError

Device = Annotated[
    str,
    typer.Option(
        help="auto (a GPU if there is one), cpu, cuda, cuda:1, mps, or a GPU id as in spaCy."
    ),
]
"""The option `--device` of a verb that runs a network."""

IfAny = Annotated[
    bool,
    typer.Option(
        "--if-any",
        help="If something is missing, continue without it and say so.",
    ),
]
"""The option `--if-any` of a step that a workflow has whether or not its inputs are there."""

Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace a file that this command did not write, and delete other files in a "
        "directory that it did.",
    ),
]

Set = Annotated[
    list[str] | None, typer.Option("--set", help="Change a value of the recipe: section.key=value.")
]
"""The option `--set` of a verb that reads a recipe, a config or a plan."""


@contextmanager
def stoppable() -> Iterator[None]:
    """End with exit code 130 where Ctrl-C stops a training; the first rank says so."""
    try:
        yield
    except (StoppedError, KeyboardInterrupt) as stop:
        if os.environ.get("RANK", "0") == "0":  # as torchrun counts
            typer.echo(str(stop) or "Stopped.", err=True)
        raise typer.Exit(EXIT_CODE) from stop


def run_verb(main: Callable[..., None]) -> None:
    """Parse the command line for a typer function and call it."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(main)
    try:
        try:
            app()
        except ImportError as error:
            raise missing(error, "This command") from error
    except MedlinkError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)


def as_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Write rows as a Markdown table, with a column for each key; numbers with one digit."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    cells = [[row.get(head, "") for head in heads] for row in rows]
    lines = [heads, ["---"] * len(heads)]
    lines += [
        [f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row] for row in cells
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def per_cent(metrics: Mapping[str, Any], ks: Sequence[int]) -> dict[str, float | None]:
    """Take the accuracies at these depths out of metrics, None where there is none."""
    values = {f"acc@{k}": metrics[f"acc@{k}"] for k in ks}
    return {name: None if value is None else 100 * value for name, value in values.items()}


class Outputs:
    """Two files that are written together.

    output (Path): the JSON file. what (str): its content, such as "a comparison"; the file says so.
    inputs (Iterable[Path]): what must not be replaced. overwrite (bool): replace files of something
        else.
    RAISES (MedlinkError): E120-E124 for what is there.
    """

    def __init__(
        self, output: Path, what: str, inputs: Iterable[PathLike | None], overwrite: bool
    ) -> None:
        self._format = f"spacy-medlink {what.partition(' ')[2]}"
        json_kind, page = marked(what, f'"format": "{self._format}"'), output.with_suffix(".md")
        self._kinds = {
            output: json_kind,
            page: companion(f"the table of {what}", json_kind, output),
        }
        self._inputs, self._overwrite = list(inputs), overwrite
        for path, file_kind in self._kinds.items():
            check_output(path, file_kind, self._inputs, overwrite=overwrite)

    def write(self, figures: Mapping[str, object], table: str) -> None:
        """Write facts as JSON and their table, and print the table."""
        whole = json.dumps({"format": self._format, **figures}, indent=2, ensure_ascii=False)
        for (path, file_kind), text in zip(self._kinds.items(), (whole, table), strict=True):
            save_text(path, file_kind, text + "\n", self._inputs, overwrite=self._overwrite)
        typer.echo(table)
