"""Tasks for Prodigy's recipes of spans: one JSON object a line, with what was linked.

https://prodi.gy/docs/api-interfaces#spans_manual
"""

from collections.abc import Iterable, Iterator
from typing import Any

from .shared import Record, as_json, links_of

_NIL = "NIL"


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a task for each document; a span has its concept, or NIL, in `kb_id`."""
    for record in records:
        yield f"{as_json(_task(record))}\n"


def _task(record: Record) -> dict[str, Any]:
    spans = [
        {"start": mention["start"], "end": mention["end"], "label": mention["type"],
         "kb_id": next((link.id for link in links_of(mention)), _NIL)}
        for mention in record["mentions"]
    ]  # fmt: skip
    return {"text": record["text"], "spans": spans, "meta": {"doc_id": record["doc_id"]}}
