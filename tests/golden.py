"""Records as lines of JSON, as the files have them that say what a reader must read.

`name` is only there where it is not the first of `names`; what is empty is left out.
"""

import json
from pathlib import Path
from typing import Any

from spacy_medlink.types import CodeMap, Concept, Name, Record, Relation, Retired


def described(record: Record) -> str:
    """Write a record as such a line."""
    if not isinstance(record, Concept):
        said = {"retired": record.id, "to": record.replaced_by, "as": record.reason}
        return json.dumps(said, ensure_ascii=False)
    facts: dict[str, Any] = {"id": record.id, "names": [*map(_filled, record.names)]}
    if not record.names or record.name != record.names[0].text:
        facts["name"] = record.name
    for field in ("types", "definition", "codes", "parents"):
        if value := getattr(record, field):
            facts[field] = value
    for field in ("relations", "maps"):
        if value := getattr(record, field):
            facts[field] = [*map(_filled, value)]
    return json.dumps(facts, ensure_ascii=False)


def _filled(values: tuple[Any, ...]) -> list[Any]:
    last = max((at for at, value in enumerate(values) if value), default=-1)
    return [*values[: last + 1]]


def record_of(line: str) -> Record:
    """Read a record from such a line."""
    facts = json.loads(line)
    if "retired" in facts:
        return Retired(facts["retired"], facts["to"], facts["as"])
    names = tuple(Name(*one) for one in facts["names"])
    return Concept(
        facts["id"], facts.get("name") or names[0].text, names,
        tuple(facts.get("types", ())), facts.get("definition", ""),
        {name: tuple(own) for name, own in facts.get("codes", {}).items()},
        tuple(facts.get("parents", ())),
        tuple(Relation(*one) for one in facts.get("relations", ())),
        tuple(CodeMap(*one) for one in facts.get("maps", ())),
    )  # fmt: skip


def records_of(path: Path) -> list[Record]:
    """Read a file of such lines."""
    return [*map(record_of, path.read_text("utf-8").splitlines())]
