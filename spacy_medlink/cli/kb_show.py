"""`medlink kb show`: one concept with all that is known of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Errors, MedlinkError
from ..types import ISA, Retired
from .opening import open_kb
from .output import echo_json, table

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from ..types import Concept

_SHOWN = 10  # children, relations, maps


def command(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The knowledge base, or assets.")],
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the concept; retired ids are followed.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a concept."""
    concept = show_concept(kb=kb, id=id)
    if as_json:
        echo_json(concept)
        return
    typer.echo(table(list(_rows(concept))))


def show_concept(*, kb: Path, id: str) -> dict[str, Any]:
    """Read a concept.

    RETURNS (Dict[str, Any]): "id", "retired" (of a retired id what became of it, step by step, each
        with "id", "replaced_by", "reason"), "name", "names" (with language, source, term type),
        "types", "definition", "codes", "chosen_codes" (that `_.cui` has by the preferred name,
        where there are several in a vocabulary), "maps" (codes of which more is said: "relation",
        "source", "note"), "parents", "children", "ancestors" (id, name, levels up) and "relations"
        (id, name, relation, source, and whether it is what the other one is to the concept,
        "inverse"; of the hierarchy only those to parents).
    RAISES (MedlinkError): E101-E103 for the file, E106 when there is no such concept, E640 when it
        is retired and the knowledge base has nothing that replaces it.
    """
    base = open_kb(kb)
    steps = base.history(id)
    found = steps[-1].replaced_by if steps else id
    if found not in base:
        raise _missing(kb, id, steps)
    concept = base[found]
    return {
        "id": concept.id,
        "retired": [step._asdict() for step in steps],
        "name": concept.name,
        "types": list(concept.types),
        "definition": concept.definition,
        "codes": {name: list(codes) for name, codes in concept.codes.items()},
        "chosen_codes": _chosen(base, concept),
        "maps": [one._asdict() for one in base.maps(concept.id) if any(one[2:])],
        "names": [name._asdict() for name in concept.names],
        "parents": [_named(base, parent) for parent in concept.parents],
        "children": [_named(base, child) for child in base.children(concept.id)],
        "ancestors": [
            {**_named(base, ancestor), "levels": levels}
            for ancestor, levels in base.ancestors(concept.id).items()
        ],
        "relations": [
            {**_named(base, one.id), **one._asdict()}
            for inverse in (False, True)
            for one in base.relations(concept.id, inverse=inverse)
            if not (inverse and one.relation == ISA)
        ],
    }


def _chosen(kb: "KnowledgeBase", concept: "Concept") -> dict[str, str | None]:
    from ..building.starter.code_names import code_chooser

    chooser = code_chooser(kb)
    return {
        vocabulary: chooser.choose(concept.row, concept.codes, vocabulary, concept.name).code
        for vocabulary, codes in concept.codes.items()
        if len(codes) > 1
    }


def _missing(kb: Path, id: str, steps: Sequence[Retired]) -> MedlinkError:
    if not steps:
        return Errors.unknown_concept(path=kb, id=id)
    last = steps[-1]
    fate = "; ".join(map(_step, steps))
    if last.replaced_by:
        fate += ", which this knowledge base does not have"
    return Errors.retired_for_good(path=kb, fate=fate)


def _step(step: Retired) -> str:
    """Say what became of a retired id."""
    why = f" ({step.reason})" if step.reason else ""
    return f"{step.id} is retired{why}, " + (
        f"replaced by {step.replaced_by}" if step.replaced_by else "and nothing replaces it"
    )


def _named(kb: "KnowledgeBase", id: str) -> dict[str, Any]:
    # A parent may be outside of what the filters kept.
    return {"id": id, "name": kb[id].name if id in kb else ""}


def _rows(concept: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "id", concept["id"]
    for step in concept["retired"]:
        yield "retired", _step(Retired(**step))
    yield "name", concept["name"]
    if concept["types"]:
        yield "types", ", ".join(concept["types"])
    if concept["definition"]:
        yield "definition", concept["definition"]
    for vocabulary, codes in concept["codes"].items():
        chosen = concept["chosen_codes"].get(vocabulary)
        yield f"code {vocabulary}", ", ".join(codes) + (f" (cui: {chosen})" if chosen else "")
    yield from _first("map", [_mapped(one) for one in concept["maps"]])
    for name in concept["names"]:
        about = [name["lang"], name["source"], name["tty"], "obsolete" if name["obsolete"] else ""]
        yield "known as", f"{name['text']} [{', '.join(filter(None, about))}]"
    for parent in concept["parents"]:
        yield "parent", _said(parent)
    yield from _first("child", [_said(child) for child in concept["children"]])
    related = [one for one in concept["relations"] if one["relation"] != ISA]
    yield from _first("relation", [_related(one) for one in related])


def _first(title: str, values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lay out some values, and how many there are beside them."""
    yield from ((title, value) for value in values[:_SHOWN])
    if len(values) > _SHOWN:
        yield title, f"... and {len(values) - _SHOWN:,} more"


def _said(concept: dict[str, Any]) -> str:
    return f"{concept['id']} {concept['name']}".strip()


def _mapped(one: dict[str, Any]) -> str:
    said = ", ".join(filter(None, (one["relation"], one["note"])))
    return f"{one['vocabulary']} {one['code']}: {said} [{one['source']}]"


def _related(one: dict[str, Any]) -> str:
    """Write a relation so that it reads from left to right; ... is the concept that is shown."""
    other = _said(one)
    said = f"{other} {one['relation']} ..." if one["inverse"] else f"{one['relation']} {other}"
    return f"{said} [{one['source']}]" if one["source"] else said
