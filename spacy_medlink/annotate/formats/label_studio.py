"""Tasks for Label Studio with predictions: regions with a label and a concept.

https://labelstud.io/guide/predictions
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .shared import SYSTEM, Record, framed, links_of, said_in

_NIL = "NIL"


class Names(NamedTuple):
    """The names of the tags in a labeling configuration.

    text: of the Text. labels: of the Labels. concept: of the TextArea for each region.
    """

    text: str = "text"
    labels: str = "label"
    concept: str = "concept"


NAMES = Names()


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a list of tasks."""
    yield from framed("[", map(_task, records), "]")


def prediction_of(record: Record, names: Names = NAMES) -> dict[str, Any]:
    """Make the prediction of a document."""
    regions = [
        region
        for number, mention in enumerate(record["mentions"], 1)
        for region in _regions(f"m{number}", record, mention, names)
    ]
    return {"model_version": SYSTEM, "result": regions}


def _task(record: Record) -> dict[str, Any]:
    data = {"text": record["text"], "doc_id": record["doc_id"]}
    return {"data": data, "predictions": [prediction_of(record)]}


def _regions(id: str, record: Record, mention: Record, names: Names) -> list[dict[str, Any]]:
    """Write a mention as its label and its concept, two results of one region."""
    # Browsers count in units of UTF-16.
    start, end = (_units(record["text"][: mention[place]]) for place in ("start", "end"))
    place = {"start": start, "end": end}
    ids = [link.id for link in links_of(mention)] or [_NIL]
    parts: list[tuple[str, str, dict[str, Any]]] = [
        (names.labels, "labels", {"labels": [mention["type"]], "text": said_in(record, mention)}),
        (names.concept, "textarea", {"text": ids}),
    ]
    score = {} if mention["prob"] is None else {"score": mention["prob"]}
    return [
        {"id": id, "from_name": name, "to_name": names.text, "type": type,
         "value": {**place, **value}, **score}
        for name, type, value in parts
    ]  # fmt: skip


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
