"""Terminology files on the command line: their formats, and the columns of tables."""

import inspect
from collections.abc import Sequence
from pathlib import Path

import typer

from ..types import Data, Facts
from ..util.setting_types import Options, option
from .parsing import one_of, pairs

_OPTIONS = {
    "source": "--vocabulary",
    "standard": "--all",
}  # where the option has another name than the setting


class ReaderOptions(Options):
    """What is told to readers, each of which takes some of it."""

    columns: str = option(
        "",
        "Columns of a table, by header or by number from 1: id=CODE,name=2. Keys: id, name, "
        "synonyms, lang, type, source, tty, definition, parents, and code:VOCABULARY for codes, "
        "such as code:ICD10CM=3. A key may be repeated: synonyms=3,synonyms=4. By default, "
        "columns are found by their usual headers.",
    )
    separator: str = option(
        "",
        "Separator of synonyms, types, parents and codes within a cell: '|', '; ', ', '. By "
        "default '|', ';' and line ends.",
    )
    source: str = option(
        "",
        "Vocabulary of a table or code list that does not say: ICD9CM, LOCAL.",
        _OPTIONS["source"],
    )
    encoding: str = option(
        "",
        "Encoding of a table or code list: latin-1, cp1250, cp932. By default UTF-8, and "
        "Windows-1252 for lines that are not UTF-8.",
    )
    lang: str = option("", "Language of names, if the source does not state it.")
    dialect: str = option(
        "",
        "Whose preferred names of SNOMED CT to use: en-GB, or the id of a language reference set.",
    )
    everything: bool = option(
        False,
        "Keep all valid concepts of OMOP, not only the standard ones.",
        _OPTIONS["standard"],
    )

    def given(self) -> Data:
        """List the options that were given, as readers take them."""
        values = {**dict(self), "columns": pairs(self.columns, "--columns")}
        if values.pop("everything"):
            values["standard"] = False
        return {name: value for name, value in values.items() if value or name == "standard"}


def with_formats(
    sources: Sequence[Path], formats: Sequence[str], options: Facts
) -> list[tuple[str, Path]]:
    """Pair sources with formats.

    formats (Sequence[str]): one for all or one each; none guesses them, and says what it guessed.
    options (Facts): for the readers.
    RAISES (typer.BadParameter): for formats or options that do not fit. As `format_of`.
    """
    from ..kb.readers.foreign import format_of

    if not formats:
        formats = [format_of(path) for path in sources]
        for path, format in zip(sources, formats, strict=True):
            typer.echo(f"{path.name}: read with --from {format}", err=True)
    for format in dict.fromkeys(formats):
        _check(format, options)
    if len(formats) not in (1, len(sources)):
        message = f"{len(formats)} formats for {len(sources)} sources."
        raise typer.BadParameter(message, param_hint="--from")
    each = formats if len(formats) == len(sources) else [formats[0]] * len(sources)
    return list(zip(each, sources, strict=True))


def _check(format: str, options: Facts) -> None:
    from ..kb.readers import formats, get_reader

    one_of(format, formats(), "--from")
    taken = inspect.signature(get_reader(format)).parameters
    for name in (name for name in options if name not in taken):
        message = f"the format {format} has no such setting."
        raise typer.BadParameter(message, param_hint=_OPTIONS.get(name, f"--{name}"))
