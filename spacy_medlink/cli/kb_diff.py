"""`medlink kb diff`: what changed from one knowledge base to the next."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..outputs import marked
from .output import Overwrite, echo_json, table, write_text

if TYPE_CHECKING:
    from ..kb.diff import KbDiff

_FORMAT = "spacy-medlink kb diff"
_DIFF = marked("a comparison of knowledge bases", f'"format": "{_FORMAT}"')


def command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The knowledge base before.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The knowledge base after.")],
    gold: Annotated[
        Path | None, typer.Option(help="Gold mentions: say what becomes of their links.")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Changes of each kind to list.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write JSON to this file too.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Compare two knowledge bases."""
    found = compare_knowledge_bases(old=old, new=new, gold=gold, examples=examples)
    if output is not None:
        text = json.dumps({"format": _FORMAT, **_as_dict(found)}, indent=2, ensure_ascii=False)
        write_text(output, text + "\n", _DIFF, [old, new, gold], overwrite)
    if as_json:
        echo_json(_as_dict(found))
        return
    if not found.counts:
        typer.echo("Nothing changed.")
        return
    typer.echo(table(sorted(found.counts.items()), ("change", "count")))
    for kind, changes in sorted(found.examples.items()):
        if changes:
            rows = [(change.id, change.other, change.text, change.lang) for change in changes]
            typer.echo(f"\n{kind}\n{table(rows)}")


def compare_knowledge_bases(
    *, old: Path, new: Path, gold: Path | None = None, examples: int = 5
) -> "KbDiff":
    """Compare two knowledge bases, and say what becomes of gold links.

    examples (int): changes of each kind to keep.
    RAISES (MedlinkError): E101-E103 for the files, E107, E401-E404 for the gold mentions.
    """
    from ..kb import KnowledgeBase
    from ..kb.diff import diff

    return diff(KnowledgeBase(old), KnowledgeBase(new), gold, examples)


def _as_dict(found: "KbDiff") -> dict[str, Any]:
    return {
        "counts": dict(sorted(found.counts.items())),
        "gold_links": found.gold_links,
        "examples": {
            kind: [change._asdict() for change in changes]
            for kind, changes in sorted(found.examples.items())
        },
    }
