"""Exports of annotation tools as records of gold: MedCATtrainer, Label Studio, Prodigy."""

from collections.abc import Iterator, Mapping
from typing import Any

Record = dict[str, Any]
"""A document as a line of a gold file has it."""

_NIL = frozenset({"NIL", "CUI-LESS", "CUILESS", "NONE"})
_CONCEPTS = ("textarea", "choices", "taxonomy")  # results of Label Studio that hold ids


def is_export(data: Any) -> bool:
    """Tell whether JSON is what MedCATtrainer or Label Studio exports."""
    if isinstance(data, list):
        return bool(data) and isinstance(data[0], Mapping) and "annotations" in data[0]
    return isinstance(data, Mapping) and "projects" in data


def read_export(data: Any) -> Iterator[Record]:
    """Make records of an export.

    RAISES (ValueError, LookupError, TypeError, AttributeError): where parts of it are missing or of
        another kind.
    """
    if isinstance(data, list):
        yield from map(_of_label_studio, data)
    else:
        for project in data["projects"]:
            yield from map(_of_medcat, project["documents"])


def of_prodigy(task: Mapping[str, Any]) -> Record:
    """Make a record of an annotated task of Prodigy; what was not accepted has no mentions.

    The id of a span is its `kb_id`, or what was chosen of the task's options. A span without one
    is left out.
    """
    accepted = task.get("answer", "accept") == "accept"
    chosen = task.get("accept") or []
    mentions = [
        _mention(span["start"], span["end"], ids, span.get("label") or "")
        for span in (task["spans"] if accepted else ())
        if (ids := _ids([span["kb_id"]] if span.get("kb_id") else chosen)) is not None
    ]
    doc_id = (task.get("meta") or {}).get("doc_id") or ""
    return {"doc_id": str(doc_id), "text": task["text"], "mentions": mentions}


def _of_medcat(document: Mapping[str, Any]) -> Record:
    """Keep what an annotator has confirmed, changed or added."""
    mentions = [
        _mention(one["start"], one["end"], [one["cui"]], "")
        for one in document["annotations"]
        if any(one.get(key) for key in ("correct", "alternative", "manually_created"))
        and not any(one.get(key) for key in ("deleted", "killed", "irrelevant"))
    ]
    name = document.get("name") or document.get("id") or ""
    return {"doc_id": str(name), "text": document["text"], "mentions": mentions}


def _of_label_studio(task: Mapping[str, Any]) -> Record:
    """Keep the regions of the last annotation that have a concept."""
    text = _text_of(task["data"])
    annotations = [one for one in task["annotations"] if not one.get("was_cancelled")]
    results = annotations[-1]["result"] if annotations else []
    regions: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        regions.setdefault(str(result.get("id")), []).append(result)
    mentions = []
    for own in regions.values():
        ids = _ids([value for one in own for value in _concepts(one)])
        if ids is None or "start" not in own[0]["value"]:
            continue
        labels = [label for one in own for label in one["value"].get("labels", ())]
        start, end = _characters(text, own[0]["value"])
        mentions.append(_mention(start, end, ids, labels[0] if labels else ""))
    return {"doc_id": str(task.get("id") or ""), "text": text, "mentions": mentions}


def _text_of(data: Mapping[str, Any]) -> str:
    """Get the text of a task: its field "text", or else its only string."""
    strings = [value for value in data.values() if isinstance(value, str)]
    text = data.get("text", strings[0] if len(strings) == 1 else None)
    if not isinstance(text, str):
        raise ValueError('a task has no field "text"')
    return text


def _characters(text: str, value: Mapping[str, Any]) -> tuple[int, int]:
    """Get the offsets of a region in characters; browsers count in units of UTF-16."""
    units = text.encode("utf-16-le", "surrogatepass")
    places = (value["start"], value["end"])
    start, end = (len(units[: 2 * one].decode("utf-16-le", "surrogatepass")) for one in places)
    said = value.get("text")
    return (start, end) if said in (None, text[start:end]) else places


def _concepts(result: Mapping[str, Any]) -> list[str]:
    """List the ids that a result gives its region; text behind the id does not count."""
    if result.get("type") not in _CONCEPTS:
        return []
    values = result["value"].get("text") if result["type"] == "textarea" else None
    values = values or result["value"].get(result["type"]) or []
    values = [values] if isinstance(values, str) else values
    last = (value[-1] if isinstance(value, list) else value for value in values)
    return [value.split()[0].strip("|,;") for value in last if value.strip()]


def _ids(values: list[str]) -> list[str] | None:
    """Keep ids: [] for a mention that is no concept, None where nothing is said."""
    said = [value.strip() for value in values if value.strip()]
    return [id for id in said if id.upper() not in _NIL] if said else None


def _mention(start: int, end: int, ids: list[str], type: str) -> Record:
    return {"start": start, "end": end, "ids": ids, "type": type}
