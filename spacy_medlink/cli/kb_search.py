"""`medlink kb search`: which concepts a text may name."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from .opening import open_kb
from .output import echo_json, table


class Found(NamedTuple):
    """A concept, the name that matched, and how.

    how (str): "exact", case, accents and plural aside; "part" of the name; or "near" it, where it
        is misspelled.
    """

    id: str
    name: str
    matched: str
    how: str


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, or a part of one.")],
    limit: Annotated[int, typer.Option(min=1, help="At most so many concepts.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find concepts by name: exact matches, then names that hold the text; else those near it."""
    found = search_concepts(kb=kb, text=text, limit=limit)
    if as_json:
        echo_json([one._asdict() for one in found])
    elif found:
        typer.echo(table(found, ("id", "name", "matched", "how")))
    else:
        typer.echo(f"No name holds {text!r} or is near it.", err=True)


def search_concepts(*, kb: Path, text: str, limit: int = 20) -> list[Found]:
    """Find concepts by name.

    RETURNS (List[Found]): exact matches, then names that begin with the text, then others; where
        there are none, names that are a few letters away.
    RAISES (MedlinkError): E101-E103 for the file.
    """
    from ..kb.near import near_names
    from ..text.normalisation import key

    base = open_kb(kb)
    found: dict[str, Found] = {}
    for concept in base.find(text):
        names = [name.text for name in concept.names if key(name.text) == key(text)]
        matched = text if text in names else names[0] if names else concept.name
        found[concept.id] = Found(concept.id, concept.name, matched, "exact")
    if len(found) < limit:
        for concept, name in base.search(text.strip(), limit):
            found.setdefault(concept.id, Found(concept.id, concept.name, name.text, "part"))
    if not found:
        near = near_names(base, text, limit)
        return [Found(one.concept.id, one.concept.name, one.name, "near") for one in near]
    return list(found.values())[:limit]
