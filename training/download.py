"""Download a corpus or terminology, checked and unpacked.

`python -m training.download NAME [--output DIR] [--file LOCAL]`
"""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import Errors
from spacy_medlink.util.progress import show_progress

from .fetching.place import Settings, download, placed, take
from .fetching.sources import Source, find_source
from .verbs import Overwrite, run


def main(
    name: Annotated[str, typer.Argument(help="Name of the source; a wrong one lists them.")],
    output: Annotated[
        Path | None, typer.Option(help="Directory to make; corpora/NAME by default.")
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option(help="Take this file instead, got by hand; may be given again."),
    ] = None,
    release: Annotated[str, typer.Option(help="Release of the UMLS, such as 2024AB.")] = "",
    overwrite: Overwrite = False,
) -> None:
    """Download and unpack a corpus or terminology; its licence is shown first."""
    source = find_source(name)
    directory = output or Path("corpora") / source.name
    typer.echo(f"{source.name}: {source.licence}. See {source.homepage}")
    if file:
        take(source, file, directory, typer.echo, overwrite)
    else:
        settings = download_settings(source, directory, release)
        download(source, directory, settings._replace(overwrite=overwrite), typer.echo)
    typer.echo(f"{source.name} -> {directory}")


def download_settings(source: Source, output: Path, release: str) -> Settings:
    """Find the key and release that a source needs; neither if its files are in place.

    RAISES (MedlinkError): E715 without a key, E716 without a release.
    """
    key = os.environ.get(source.key, "").strip() if source.key else ""
    if source.key and not placed(source, output):
        if not key:
            raise Errors.no_api_key(name=source.name, variable=source.key)
        if not re.fullmatch(r"\d{4}A[AB]", release):
            raise Errors.release_needed(name=source.name)
    return Settings(release, key, show_progress)


if __name__ == "__main__":
    run(main)
