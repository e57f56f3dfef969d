"""Explanations as text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .explain import Explanation

_DECIDED = {
    "identifier": "the document writes its identifier",
    "memory": "corrections say so",
    "exact": "its name is nearer to the mention",
    "type": "its type fits the entity label",
    "source": "its source comes first",
    "preferred": "it matched by its preferred name",
    "id": "nothing but the order of ids",
}


def as_text(explanation: "Explanation") -> str:
    """Write an explanation for reading, without a line break at the end."""
    return "\n".join(_lines(explanation))


def _lines(own: "Explanation") -> Iterator[str]:
    label = f" [{own.label}]" if own.label else ""
    yield f"{_one_line(own.mention)}{label} -> {_link(own)}"
    yield from _forms(own)
    if own.identifiers:
        yield f"  the document writes {', '.join(own.identifiers)}"
    yield from _filters(own)
    for place, candidate in enumerate(own.candidates, 1):
        yield from _candidate(place, candidate)
    if own.parts:
        yield "  composite mention, linked by its parts:"
        for part in own.parts:
            yield f"    {part['text']} -> {part['id']} {part['name']} ({part['score']:.4f})"
    if own.backed_off:
        yield f"  near ties under it: {', '.join(own.backed_off)}"
    if own.runner_up is not None:
        yield _runner_up(own.runner_up)
    if own.tied:
        yield f"  ambiguous, nothing tells apart: {', '.join(own.tied)}"


def _link(own: "Explanation") -> str:
    link = own.link
    return f"NIL: {link['reason']}" if link["id"] == "NIL" else f"{link['id']} {link['name']}"


def _forms(own: "Explanation") -> Iterator[str]:
    if len(own.forms) < 2:
        return
    for form in own.forms:
        best = f"best {form['id']} {form['score']:.4f}" if form["id"] else "nothing found"
        kept = ", kept" if form["kept"] else ""
        why = form["why"] + (", as a name alone" if form["as_name"] else "")
        yield f"  form {_one_line(form['text'])!r} ({why}): {best}{kept}"


def _filters(own: "Explanation") -> Iterator[str]:
    filters = own.filters
    if not filters["given"]:
        return
    yield f"  filter {filters['given']}: {filters['passing']:,} of {filters['names']:,} names pass"
    for one in filters["removed"]:
        yield f"    removed {one['id']} {one['name']} ({one['score']:.4f})"
    if (better := filters["better"]) is not None:
        yield f"    NIL, for {better['id']} {better['name']} says it better, outside the filter"


def _candidate(place: int, one: dict[str, Any]) -> Iterator[str]:
    matched = one["matched"]
    facts = ", ".join(part for part in (matched["lang"], matched["source"], matched["tty"]) if part)
    prob = "" if one["prob"] is None else f", probability {one['prob']:.3f}"
    yield f"  {place}. {one['id']} {one['name']}: {one['score']:.4f}{prob}"
    yield f"     matched {matched['text']!r}" + (f" ({facts})" if facts else "")
    tiers = ", ".join(f"{tier} {_tier(values)}" for tier, values in one["tiers"].items())
    if tiers:
        yield f"     {tiers}"


def _tier(values: dict[str, Any]) -> str:
    rank = f" (rank {values['rank']})" if "rank" in values else ""
    return f"{values['score']:.4f}{rank}"


def _runner_up(second: dict[str, Any]) -> str:
    text = f"  runner-up {second['id']} {second['name']}, {second['margin']:.4f} behind"
    return f"{text}; decided: {_DECIDED[second['decided']]}" if second["decided"] else text


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else f"{words[:97]}..."
