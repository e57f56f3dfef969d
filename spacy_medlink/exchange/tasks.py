"""Tasks for annotation tools: Label Studio's with predictions, and Prodigy's with spans.

https://labelstud.io/guide/predictions, https://prodi.gy/docs/api-interfaces#spans_manual
"""

from collections.abc import Iterable, Iterator

from ..annotate.formats import Format, Record
from ..types import Data
from .shared import SYSTEM, as_json, framed, links_of, said_in

_NIL = "NIL"
# Names of the tags in the labeling configuration: Text, Labels, and the TextArea of each region.
_TEXT, _LABELS, _CONCEPT = "text", "label", "concept"


def write_label_studio(records: Iterable[Record]) -> Iterator[str]:
    """Write a list of tasks, each with regions that have a label and a concept."""
    yield from framed("[", map(_task, records), "]")


def write_prodigy(records: Iterable[Record]) -> Iterator[str]:
    """Write a task a line; a span has its concept, or NIL, in `kb_id`."""
    for record in records:
        spans = [
            {"start": mention["start"], "end": mention["end"], "label": mention["type"],
             "kb_id": next((link.id for link in links_of(mention)), _NIL)}
            for mention in record["mentions"]
        ]  # fmt: skip
        meta = {"doc_id": record["doc_id"]}
        yield f"{as_json({'text': record['text'], 'spans': spans, 'meta': meta})}\n"


def _task(record: Record) -> Data:
    regions = [
        region
        for nth, mention in enumerate(record["mentions"], 1)
        for region in _regions(f"m{nth}", record, mention)
    ]
    data = {"text": record["text"], "doc_id": record["doc_id"]}
    return {"data": data, "predictions": [{"model_version": SYSTEM, "result": regions}]}


def _regions(id: str, record: Record, mention: Record) -> list[Data]:
    """Write a mention as its label and its concept, two results of one region."""
    # Browsers count in units of UTF-16.
    start, end = (_units(record["text"][: mention[end]]) for end in ("start", "end"))
    span = {"start": start, "end": end}
    ids = [link.id for link in links_of(mention)] or [_NIL]
    parts: list[tuple[str, str, Data]] = [
        (_LABELS, "labels", {"labels": [mention["type"]], "text": said_in(record, mention)}),
        (_CONCEPT, "textarea", {"text": ids}),
    ]
    score = {} if mention["prob"] is None else {"score": mention["prob"]}
    return [
        {"id": id, "from_name": name, "to_name": _TEXT, "type": type,
         "value": {**span, **value}, **score}
        for name, type, value in parts
    ]  # fmt: skip


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


LABEL_STUDIO = Format(write_label_studio)
PRODIGY = Format(write_prodigy, (".jsonl", ".jsonl.gz"))
