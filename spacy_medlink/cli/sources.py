"""Terminology files on the command line: their formats, and the columns of tables."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from .parsing import one_of

COLUMNS_HELP = (
    "Columns of a table, by header or by number from 1: id=CODE,name=2. Keys: id, name, synonyms, "
    "lang, type, source, tty, definition, parents, and code:VOCABULARY for codes, such as "
    "code:ICD10CM=3. Without it, columns are found by their usual headers."
)
_BY_ENDING = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".obo": "obo",
    ".owl": "owl", ".rdf": "owl", ".ttl": "owl", ".nt": "owl",
}  # fmt: skip

_BY_FILE = {"concept.csv": "omop", "mrconso.rrf": "umls"}


def with_formats(
    sources: Sequence[Path], formats: Sequence[str], options: Mapping[str, Any]
) -> list[tuple[str, Path]]:
    """Pair sources with formats.

    formats (Sequence[str]): one for all or one each; without any, the format is found by the suffix
        of a file or the content of a directory.
    options (Mapping[str, Any]): for the readers.
    RAISES (typer.BadParameter): for formats or options that do not fit.
    """
    formats = formats or [_by_ending(path) for path in sources]
    for format in dict.fromkeys(formats):
        _check(format, options)
    if len(formats) not in (1, len(sources)):
        message = f"{len(formats)} formats for {len(sources)} sources."
        raise typer.BadParameter(message, param_hint="--from")
    each = formats if len(formats) == len(sources) else [formats[0]] * len(sources)
    return list(zip(each, sources, strict=True))


def _by_ending(path: Path) -> str:
    if path.is_dir():
        held = {file.name.lower().removesuffix(".gz") for file in path.iterdir()}
        known = (format for name, format in _BY_FILE.items() if name in held)
        if format := next(known, ""):
            return format
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending not in _BY_ENDING:
        message = f"the name of {path} does not tell its format; give --from FORMAT."
        raise typer.BadParameter(message, param_hint="--from")
    return _BY_ENDING[ending]


def _check(format: str, options: Mapping[str, Any]) -> None:
    from ..kb.readers import FORMATS, get_reader

    one_of(format, sorted(FORMATS), "--from")
    taken = inspect.signature(get_reader(format)).parameters
    for name in (name for name, value in options.items() if value and name not in taken):
        message = f"the format {format} has no such setting."
        raise typer.BadParameter(message, param_hint=f"--{name}")
