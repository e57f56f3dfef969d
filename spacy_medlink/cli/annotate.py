"""`medlink annotate`: links the mentions of many documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import spacy_medlink

from ..annotate.settings import AnnotateSettings
from ..errors import MedlinkError
from ..util.progress import show_progress
from .opening import AUTO, Device, Source
from .options import with_options

if TYPE_CHECKING:
    from ..annotate.run import Annotation

SET_ASIDE = 3  # exit code: done, but some documents could not be linked
_GOES_ON = ("E109", "E155")  # errors after which a run can be resumed: disk, processes


@with_options
def command(
    source: Source,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="Documents: .jsonl, .csv, .tsv (plain or .gz), .parquet, .xlsx, or a directory "
            "of .txt.",
        ),
    ],
    output: Annotated[
        Path, typer.Option(help="File for the links: .jsonl, .jsonl.gz or .parquet.")
    ],
    settings: AnnotateSettings,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace the file at --output at the end, and discard unfinished work of a run "
            "with other options.",
        ),
    ] = False,
    device: Device = AUTO,
) -> None:
    """Find and link the mentions of many documents.

    A run that was stopped continues when you give the same command again. Exit code 3 says that
    some documents could not be read or linked; all others were.
    """
    with _saying_what_is_kept(output):
        done = spacy_medlink.annotate_file(
            source, path, output, **dict(settings), device=device, overwrite=overwrite,
            progress=show_progress,
        )  # fmt: skip
    if done.resumed:
        typer.echo(f"{done.resumed:,} parts were done already by an earlier run.", err=True)
    if done.aside is not None:
        typer.echo(f"{done.set_aside:,} set aside, with the reason: {done.aside}", err=True)
    typer.echo(_summary(done, output))
    if done.set_aside:
        raise typer.Exit(SET_ASIDE)


def _summary(done: "Annotation", out: Path) -> str:
    counts = [
        f"{done.linked + done.set_aside:,} documents", f"{done.mentions:,} mentions",
        f"{done.links:,} links", f"{done.nil:,} NIL", f"{done.set_aside:,} set aside",
    ]  # fmt: skip
    if done.repeated.documents:
        counts.append(f"{done.repeated.documents:,} with the id of another")
    return f"{', '.join(counts)}: {out}"


@contextmanager
def _saying_what_is_kept(out: Path) -> Iterator[None]:
    """Report the finished parts of a run that stops early, and how to resume it."""
    try:
        yield
    except (KeyboardInterrupt, MedlinkError) as error:
        code = error.code if isinstance(error, MedlinkError) else ""
        if not code or code in _GOES_ON:
            from ..annotate.journal import Journal

            typer.echo(
                f"Stopped. {len(Journal(out, {}).done()):,} parts are done and kept beside {out}; "
                "run the same command again to continue.",
                err=True,
            )
        if not code:
            raise typer.Exit(130) from error
        raise
