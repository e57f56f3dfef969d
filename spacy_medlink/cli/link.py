"""`medlink link`: finds and links the mentions of a text."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import spacy_medlink

from ..types import Data
from .opening import AUTO, As, Device, Source
from .output import echo_json, table
from .parsing import comma_list, read_text

_HEADER = ("mention", "id", "CUI", "preferred name", "matched name", "score", "context")
_NIL = "NIL"
_CANDIDATES = 5  # of a mention, in JSON
_STDIN = "-"


def command(
    source: Source,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The text; - reads standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Read the text from a file.")] = None,
    as_format: As = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Links with a lower probability become NIL.")
    ] = None,
    types: Annotated[
        str, typer.Option(help="Link only to these types or semantic groups: T047,CHEM.")
    ] = "",
    within: Annotated[
        str | None,
        typer.Option(
            help="Link only within this part of the hierarchy: an expression as in SNOMED's ECL."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain each link: tiers, filters, runner-up, ties.")
    ] = False,
    lang: Annotated[str, typer.Option(help="Language of the text, for assets: en, es.")] = "en",
    device: Device = AUTO,
) -> None:
    """Find and link the mentions in a text, one a line."""
    if (text is None) == (file is None):
        raise typer.BadParameter("give either a TEXT or --file.", param_hint="TEXT")
    if as_format:
        from ..annotate.formats import format_named

        format_named(as_format)  # an unknown format raises before the work
    text = _typed(text) if file is None else read_text(file)
    settings = {
        "top_k": _CANDIDATES, "threshold": threshold, "types": list(comma_list(types)) or None,
        "within": within,
    }  # fmt: skip
    given: Data = {name: value for name, value in settings.items() if value is not None}
    links = spacy_medlink.TextLinker.open(source, lang=lang, device=device, **given)(
        text, explain=explain
    )
    if as_format:
        typer.echo(links.to_format(as_format, file.name if file else "1"), nl=False)
    elif as_json:
        echo_json([_plain(link) for link in links])
    elif explain and links:
        typer.echo("\n\n".join(str(link["explanation"]) for link in links))
    elif links:
        from ..text.context import KINDS

        rows = [
            (link["mention"], *(link["ids"] or [_NIL]), link["cui"] or "-", link["name"] or "",
             link["matched"] or "", f"{link['score']:.3f}" if link["ids"] else "-",
             ", ".join(match_kind for match_kind in KINDS if link.get(match_kind)))
            for link in links
        ]  # fmt: skip
        columns = len(_HEADER) if any(row[-1] for row in rows) else len(_HEADER) - 1
        typer.echo(table([row[:columns] for row in rows], _HEADER[:columns]))
    else:
        typer.echo("No mention was found.", err=True)


def _typed(text: str | None) -> str:
    """Take the text from the command line or standard input; other bytes than UTF-8 are refused."""
    try:
        if text == _STDIN:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return (text or "").encode().decode()
    except UnicodeError as error:
        raise typer.BadParameter("the text is not UTF-8.", param_hint="TEXT") from error


def _plain(link: Data) -> Data:
    explanation = link.get("explanation")
    return {**link, "explanation": explanation.as_dict()} if explanation is not None else link
