"""Changes of a concept that two knowledge bases share: its facts and its names."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NameRow = tuple[str, str, str, str, bool]
"""Text, language, source, term type, obsolete."""

_FACTS = ("source", "term type", "obsolete")


class Change(NamedTuple):
    """One difference.

    kind (str): "concept new", "concept retired", "concept merged", "concept vanished" (gone, and
        the new base has no history of it), "concept renamed", "codes changed", "types changed",
        "parents changed", "definition changed", "relations changed" (without the hierarchy) and
        "maps changed" (both only if both bases have them); "name new", "name dropped", "name
        moved"; for names that stay "name source changed", "name term type changed", "name obsolete
        changed", "name language changed"; "successor changed" (of a retired id); "gold merged",
        "gold lost", "gold gained" (an id found again), "gold unknown" (in neither), "gold findable"
        and "gold unfindable" (an exact match of the mention has a gold id only now, or no longer).
    id, other (str): the concept, and the concept that replaces it or now has its name.
    text, lang (str): the name, or the mention; the preferred name where a fact has changed.
    label (str): the vocabulary of codes that have changed, or the relation.
    before, after (str): what has changed; values of a list are joined with ", ".
    """

    kind: str
    id: str
    other: str = ""
    text: str = ""
    lang: str = ""
    label: str = ""
    before: str = ""
    after: str = ""


class Facts(NamedTuple):
    """Columns of a concept, as its table has them."""

    types: str
    codes: str
    parents: str
    definition: str


def fact_changes(id: str, name: str, old: Facts, new: Facts) -> Iterator[Change]:
    """List the changes of a concept's facts; another order of values is no change.

    name (str): its preferred name now.
    """
    if old.codes != new.codes:
        had, has = _mapping(old.codes), _mapping(new.codes)
        yield from value_changes("codes changed", id, name, had, has)
    for kind, one, other in (
        ("types", old.types, new.types),
        ("parents", old.parents, new.parents),
    ):
        before, after = _list(one), _list(other)
        if one != other and set(before) != set(after):
            yield _change(f"{kind} changed", id, name, before, after)
    if old.definition != new.definition:
        said = (old.definition, new.definition)
        yield Change("definition changed", id, text=name, before=said[0], after=said[1])


def name_changes(
    id: str, had: Sequence[NameRow], has: Sequence[NameRow]
) -> tuple[list[Change], list[tuple[str, str]], list[tuple[str, str]]]:
    """Compare the names of a concept.

    RETURNS: the changes of names that stay; the names (text, language) that were dropped; the names
        that are new.
    """
    before = {name[:2]: name for name in had}
    after = {name[:2]: name for name in has}
    found = [
        Change(f"name {fact} changed", id, "", *key, before=_said(one), after=_said(other))
        for key in before if key in after
        for fact, one, other in zip(_FACTS, before[key][2:], after[key][2:], strict=True)
        if one != other
    ]  # fmt: skip
    gone = [key for key in before if key not in after]
    come = [key for key in after if key not in before]
    for text, lang in list(gone):
        langs = [other for own, other in come if own == text]
        if len(langs) == 1 and sum(own == text for own, _ in gone) == 1:
            found.append(
                Change("name language changed", id, "", text, langs[0], before=lang, after=langs[0])
            )
            gone.remove((text, lang))
            come.remove((text, langs[0]))
    return found, gone, come


def value_changes(
    kind: str,
    id: str,
    name: str,
    old: Mapping[str, Collection[str]],
    new: Mapping[str, Collection[str]],
) -> Iterator[Change]:
    """List the labels whose sets of values differ, such as vocabularies and their codes."""
    for label in sorted({*old, *new}):
        before, after = old.get(label, ()), new.get(label, ())
        if set(before) != set(after):
            yield _change(kind, id, name, before, after)._replace(label=label)


def _change(kind: str, id: str, name: str, old: Iterable[str], new: Iterable[str]) -> Change:
    return Change(kind, id, text=name, before=", ".join(old), after=", ".join(new))


def _list(text: str) -> list[str]:
    return list(json.loads(text)) if text else []


def _mapping(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(text) if text else {}
    return found


def _said(value: Any) -> str:
    return ("obsolete" if value else "in use") if isinstance(value, bool) else str(value)
