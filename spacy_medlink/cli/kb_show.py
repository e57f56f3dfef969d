"""`medlink kb show` and `search`: all facts of a concept, and concepts by name."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import spacy_medlink

from ..assets.manifest import MANIFEST
from ..types import ISA, Data, Retired
from .opening import open_kb
from .output import echo_json, table

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from ..types import Concept

_SHOWN = 10  # children, relations, maps
_FOUND = 20  # concepts of a search
_MANY = 1_000_000
_SLOW = "Reading {count:,} names; assets that `medlink build` makes of them answer at once."


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the concept; retired ids are followed.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a concept."""
    from ..kb.browse import describe_concept

    base = open_kb(kb)
    described = describe_concept(base, id)
    concept = {**described, "chosen_codes": _chosen(base, base[described["id"]])}
    if as_json:
        echo_json(concept)
        return
    typer.echo(table(list(_rows(concept))))


def search_command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, or a part of one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find concepts by name, id or code: exact matches, then names with the words of the text.

    Assets answer in a millisecond, by the index of their words: any order, beginnings of words,
    words with a letter wrong. In a knowledge base alone, all names are read.
    """
    from ..kb.browse import search_concepts

    if (kb / MANIFEST).is_file():
        assets = spacy_medlink.Assets(kb)
        matches = search_concepts(assets.kb, text, _FOUND, assets.beginning)
    else:
        names = open_kb(kb)
        if names.n_names > _MANY:
            typer.echo(_SLOW.format(count=names.n_names), err=True)
        matches = search_concepts(names, text, _FOUND)
    if as_json:
        echo_json([match._asdict() for match in matches])
    elif matches:
        typer.echo(table(matches, ("id", "name", "matched", "how")))
    else:
        typer.echo(f"No name holds {text!r} or is near it.", err=True)


def _chosen(kb: "KnowledgeBase", concept: "Concept") -> dict[str, str | None]:
    """Choose the codes that `_.cui` has for the preferred name, where a vocabulary has several."""
    from ..assets.starter import code_chooser

    chooser = code_chooser(kb)
    return {
        vocabulary: chooser.choose(concept.row, concept.codes, vocabulary, concept.name).code
        for vocabulary, codes in concept.codes.items()
        if len(codes) > 1
    }


def _rows(concept: Data) -> Iterator[tuple[str, str]]:
    from ..kb.browse import say_step

    yield "id", concept["id"]
    for step in concept["retired"]:
        yield "retired", say_step(Retired(**step))
    yield "name", concept["name"]
    if concept["types"]:
        yield "types", ", ".join(concept["types"])
    if concept["definition"]:
        yield "definition", concept["definition"]
    for vocabulary, codes in concept["codes"].items():
        chosen = concept["chosen_codes"].get(vocabulary)
        yield f"code {vocabulary}", ", ".join(codes) + (f" (cui: {chosen})" if chosen else "")
    yield from _first("map", [_mapped(relation) for relation in concept["maps"]])
    for name in concept["names"]:
        about = [name["lang"], name["source"], name["tty"], "obsolete" if name["obsolete"] else ""]
        yield "known as", f"{name['text']} [{', '.join(filter(None, about))}]"
    for parent in concept["parents"]:
        yield "parent", _said(parent)
    yield from _first("child", [_said(child) for child in concept["children"]])
    related = [relation for relation in concept["relations"] if relation["relation"] != ISA]
    yield from _first("relation", [_related(relation) for relation in related])


def _first(title: str, values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lay out the first values, and the number of the others."""
    yield from ((title, value) for value in values[:_SHOWN])
    if len(values) > _SHOWN:
        yield title, f"... and {len(values) - _SHOWN:,} more"


def _said(concept: Data) -> str:
    return f"{concept['id']} {concept['name']}".strip()


def _mapped(map_row: Data) -> str:
    relation = ", ".join(filter(None, (map_row["relation"], map_row["note"])))
    return f"{map_row['vocabulary']} {map_row['code']}: {relation} [{map_row['source']}]"


def _related(relation: Data) -> str:
    """Write a relation from left to right; "..." stands for the shown concept."""
    other = _said(relation)
    shown = (
        f"{other} {relation['relation']} ..."
        if relation["inverse"]
        else f"{relation['relation']} {other}"
    )
    return f"{shown} [{relation['source']}]" if relation["source"] else shown
