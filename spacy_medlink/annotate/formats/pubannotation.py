"""PubAnnotation in JSON: documents with denotations and their attributes.

https://www.pubannotation.org/docs/annotation-format/
"""

from collections.abc import Iterable, Iterator
from typing import Any

from .shared import Record, framed, kinds_of, links_of, section_of

_NIL = "NIL"


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a list of documents; a denotation is a span with its concept or NIL."""
    return framed("[", map(_document, records), "]")


def _document(record: Record) -> dict[str, Any]:
    denotations: list[dict[str, Any]] = []
    attributes: list[dict[str, Any]] = []
    for mention in record["mentions"]:
        span = {"begin": mention["start"], "end": mention["end"]}
        for id, name in [(one.curie, one.name) for one in links_of(mention)] or [(_NIL, "")]:
            place = f"T{len(denotations) + 1}"
            denotations.append({"id": place, "span": span, "obj": id})
            attributes += [
                {"id": f"A{number}", "subj": place, "pred": key, "obj": value}
                for number, (key, value) in enumerate(_said(mention, name), len(attributes) + 1)
            ]
    return {"sourcedb": "local", "sourceid": record["doc_id"], "text": record["text"],
            "denotations": denotations, "attributes": attributes}  # fmt: skip


def _said(mention: Record, name: str) -> list[tuple[str, object]]:
    facts = [
        ("type", mention["type"]),
        ("name", name),
        ("score", mention["score"]),
        ("probability", mention["prob"]),
        ("section", section_of(mention)),
        *((kind, True) for kind in kinds_of(mention)),
    ]
    return [(key, value) for key, value in facts if value not in ("", None)]
