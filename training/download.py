"""Get corpora and terminologies: what is there is taken, what is open comes, the rest is named.

`python -m training.download gsc-plus medmentions-st21pv`
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.files import save_text, sha256_of
from spacy_medlink.util.outputs import files_in, marked

from .corpora.layout import gold_files
from .corpora.registry import CORPORA
from .fetching.place import MANIFEST, downloads, is_placed, place, where
from .fetching.sources import Source, find_source
from .verbs import IfAny, Overwrite, run_verb

COLLECTED = "collected.json"
_FORMAT = "spacy-medlink collected sources"
_KIND = marked("a list of collected sources", f'"format": "{_FORMAT}"')


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sources and corpora; a wrong one lists them.")
    ] = None,
    corpora: Annotated[Path, typer.Option(help="Gets a directory for each.")] = Path("corpora"),
    file: Annotated[
        list[Path] | None, typer.Option(help="Take this file, got by hand; may be given again.")
    ] = None,
    release: Annotated[str, typer.Option(help="Release of the UMLS, such as 2024AB.")] = "",
    if_any: IfAny = False,
    overwrite: Overwrite = False,
) -> None:
    """Get sources, checked and unpacked; the licence of each is shown first."""
    there: dict[str, object] = {}
    missing: list[str] = []
    for name in dict.fromkeys(names or ()):
        if gold := gold_files(name, corpora):
            typer.echo(f"{name}: in place, as {', '.join(path.name for path in gold.values())}")
            there[name] = {path.name: sha256_of(path) for path in gold.values()}
            continue
        source = find_source(name)
        output = corpora / source.name
        try:
            if not file and not overwrite and is_placed(source, output):
                typer.echo(f"{source.name}: in place")
            else:
                typer.echo(f"{source.name}: {source.licence}. See {source.homepage}")
                place(source, output, typer.echo, file or (), release, overwrite)
            there[source.name] = _described(output)
        except MedlinkError as error:
            if not if_any:
                raise
            missing.append(name)
            typer.echo(f"{name} is missing. {error}", err=True)
            for line in _instructions(name, source, corpora):
                typer.echo(line, err=True)
    corpora.mkdir(parents=True, exist_ok=True)
    # An equal list gives equal bytes, so that no later step of a workflow runs.
    text = json.dumps({"format": _FORMAT, "sources": there}, indent=1) + "\n"
    save_text(corpora / COLLECTED, _KIND, text)
    if missing:
        typer.echo(f"The workflow continues without: {', '.join(missing)}", err=True)


def _described(directory: Path) -> dict[str, object]:
    """Describe a source; another source or release gets another description."""
    if (directory / MANIFEST).is_file():
        return {MANIFEST: sha256_of(directory / MANIFEST)}
    return {name: (directory / name).stat().st_size for name in sorted(files_in(directory))}


def _instructions(name: str, source: Source, corpora: Path) -> Iterator[str]:
    """Say where to get the files of a source, and where to put them."""
    output = corpora / source.name
    for url, path in where(source, output):
        yield f"    {url}\n      -> {path}"
    yield f"    any file of it -> {downloads(source, output)}, or unpacked -> {output}"
    if name in CORPORA:
        yield f"    or as gold mentions -> {corpora / name}.train.jsonl (and .dev, .test)"


if __name__ == "__main__":
    run_verb(main)
