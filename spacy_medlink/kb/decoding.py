"""Decoding of rows of a knowledge base into concepts, names and facts.

RAISES (ValueError, TypeError, LookupError): for damaged rows; callers turn these into coded errors.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..types import Concept, Name
from . import schema

_MOST_ROWS = 1 << 32  # the most that the arrays of assets can count
_COUNTS = ("concepts", "names")


def concept_of(row: Sequence[Any], names: tuple[Name, ...]) -> Concept:
    """Make the concept of a row; names (Tuple[Name, ...]): its names."""
    number, id, name, first, _, types, codes, parents, definition = row
    return Concept(
        id=id, name=name, names=names, types=schema.load_list(types), definition=definition,
        codes=schema.load_codes(codes), parents=schema.load_list(parents), row=number,
        first_name=first,
    )  # fmt: skip


def name_of(row: Sequence[Any], labels: Mapping[int, str]) -> Name:
    """Make the name of a row; labels (Mapping[int, str]): texts by number."""
    text, lang, source, tty, obsolete = row
    return Name(text, labels[lang], labels[source], labels[tty], bool(obsolete))


def facts_of(values: Mapping[str, str]) -> dict[str, Any]:
    """Read the facts about a build, by their names, and check those that are counted with."""
    facts = {name: json.loads(value) for name, value in values.items()}
    for name in _COUNTS:
        if type(facts[name]) is not int or not 0 <= facts[name] < _MOST_ROWS:
            raise ValueError(f"{name} is {facts[name]!r}")
    return facts
