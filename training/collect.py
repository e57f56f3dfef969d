"""Collect the corpora of a workflow: use those that exist, download open ones, report missing ones.

`python -m training.collect gsc-plus medmentions-st21pv`
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.util.files import save_text, sha256_of
from spacy_medlink.util.outputs import files_in, marked, read_json

from .corpora.registry import CORPORA
from .download import download_settings
from .fetching.fetch import TRIES, is_offline
from .fetching.place import MANIFEST, Settings, download, where
from .fetching.sources import Source, find_source
from .verbs import run

COLLECTED = "collected.json"
PARTS = ("train", "dev", "test")
_FORMAT = "spacy-medlink collected sources"
_KIND = marked("a list of collected sources", f'"format": "{_FORMAT}"')
_TRIES_AT_FIRST = 2  # on a machine without a network, nobody waits half a minute for each file
SettingsOf = Callable[[Source, Path], Settings]
Tell = Callable[[str], None]


class Missing(NamedTuple):
    """A requested corpus that could not be had, its source, and why."""

    name: str
    source: Source
    why: str


def gold_files(name: str, corpora: Path) -> dict[str, Path]:
    """Find the parts of a corpus that the user has put there in the project's format.

    RETURNS (Dict[str, Path]): of "train", "dev", "test", such as
        {"dev": corpora/gsc-plus.dev.jsonl.gz}.
    """
    stems = dict.fromkeys((name, name.replace("-", "_")))
    return {
        part: path
        for part in PARTS
        for stem in stems
        for ending in (".jsonl", ".jsonl.gz")
        if (path := corpora / f"{stem}.{part}{ending}").is_file()
    }


def collect(
    names: Sequence[str], corpora: Path, settings_of: SettingsOf, tell: Tell
) -> list[Missing]:
    """Put each source into a directory of `corpora`, and list there what is present.

    settings_of (Callable): gives the settings for a download to a directory.
    RETURNS (List[Missing]): what is still missing.
    RAISES (MedlinkError): E704 for a name that is neither a source nor in a gold file.
    """
    missing: list[Missing] = []
    there: dict[str, Any] = {}
    tries = _TRIES_AT_FIRST
    for name in dict.fromkeys(names):
        files = gold_files(name, corpora)
        if files:
            tell(f"{name}: in place, as {', '.join(path.name for path in files.values())}")
            there[name] = {path.name: sha256_of(path) for path in files.values()}
            continue
        source = find_source(name)
        output = corpora / source.name
        if source.name in there or any(source == one.source for one in missing):
            continue
        try:
            if not _has(source, output, tell):
                download(source, output, settings_of(source, output)._replace(tries=tries), tell)
                tries = TRIES
            there[source.name] = _described(output)
        except MedlinkError as error:
            tries = 1 if is_offline(error) else tries
            missing.append(Missing(name, source, str(error)))
    _note(corpora, there)
    return missing


def _has(source: Source, output: Path, tell: Tell) -> bool:
    """Say that a source is in place, or on which terms it is about to be downloaded.

    RAISES (MedlinkError): E718 where something else is there.
    """
    about = read_json(output / MANIFEST)
    if isinstance(about, dict) and about.get("name") == source.name:
        lost = [name for name in about.get("unpacked", ()) if not (output / name).is_file()]
        if not lost:
            tell(f"{source.name}: in place")
            return True
    elif output.is_dir() and any(output.iterdir()):
        tell(f"{source.name}: in place, unpacked by hand")
        return True
    tell(f"{source.name}: {source.licence}. See {source.homepage}")
    return False


def _described(directory: Path) -> dict[str, Any]:
    """Describe a source; another source or release gets another description."""
    if (directory / MANIFEST).is_file():
        return {MANIFEST: sha256_of(directory / MANIFEST)}
    return {name: (directory / name).stat().st_size for name in sorted(files_in(directory))}


def _note(corpora: Path, there: dict[str, Any]) -> None:
    """Write the list of what is present. An equal list gives equal bytes, so no later step runs."""
    corpora.mkdir(parents=True, exist_ok=True)
    facts = {"format": _FORMAT, "sources": there}
    save_text(corpora / COLLECTED, _KIND, json.dumps(facts, indent=1) + "\n")


def instructions(missing: Sequence[Missing], corpora: Path) -> Iterator[str]:
    """Yield for each missing source the reason, where to get its files and where to put them."""
    for name, source, why in missing:
        yield f"{name} is missing. {why}"
        output = corpora / source.name
        for url, path in where(source, output):
            yield f"    {url}\n      -> {path}"
        yield f"    or unpacked -> {output}"
        if name in CORPORA:
            files = corpora / f"{name}.train.jsonl"
            yield f"    or as gold mentions -> {files} (and .dev, .test; docs/corpora.md)"


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sources and corpora; a wrong one lists them.")
    ] = None,
    corpora: Annotated[Path, typer.Option(help="Directory for all of them.")] = Path("corpora"),
    release: Annotated[str, typer.Option(help="Release of the UMLS, such as 2024AB.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Fail where one is missing.")] = False,
) -> None:
    """Collect sources; what is missing is left out, with a word on where to put it."""

    def settings_of(source: Source, output: Path) -> Settings:
        return download_settings(source, output, release)

    missing = collect(names or [], corpora, settings_of, typer.echo)
    for line in instructions(missing, corpora):
        typer.echo(line, err=True)
    left = ", ".join(one.name for one in missing)
    if missing and strict:
        raise Errors.sources_missing(names=left)
    if missing:
        typer.echo(f"The workflow goes on without: {left}", err=True)


if __name__ == "__main__":
    run(main)
