"""What MedCATtrainer, Label Studio and Prodigy export becomes records of gold.

The ids of a mention are None where nothing is said of a concept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Record = dict[str, Any]
"""A document as a line of a gold file has it."""
Json = Mapping[str, Any]

_NIL = frozenset({"NIL", "CUI-LESS", "CUILESS", "NONE"})
_TASK = frozenset({"annotations", "completions", "predictions", "annotation_id", "lead_time"})
_KEPT = frozenset({"correct", "alternative", "manually_created"})
_PRODIGY = frozenset({"spans", "answer", "_task_hash", "_input_hash"})
# Ways to count: in units of UTF-16, and CRLF as one. A browser does both, Python neither.
COUNTS = ((True, True), (True, False), (False, True), (False, False))
_CONCEPTS = ("textarea", "choices", "taxonomy")  # results of Label Studio that hold ids


def is_label_studio(task: Json) -> bool:
    """Tell whether a record is a task of Label Studio, also in its form JSON-MIN."""
    lists = (value for value in task.values() if isinstance(value, list) and value)
    regions = (value[0] for value in lists if isinstance(value[0], Mapping))
    return not _TASK.isdisjoint(task) or any("labels" in region for region in regions)


def is_prodigy(task: Json) -> bool:
    """Tell whether an object is a task of Prodigy."""
    return "text" in task and not _PRODIGY.isdisjoint(task)


def of_prodigy(task: Json) -> Record:
    """Make a record of an annotated task of Prodigy; what was not accepted has no mentions.

    The id of a span is its `kb_id`, or what was chosen of the task's options. A span without one
    is left out.
    """
    accepted = task.get("answer", "accept") == "accept"
    chosen = task.get("accept") or []
    mentions = [
        _mention(
            (span["start"], span["end"]),
            ids_of([span["kb_id"]] if span.get("kb_id") else chosen),
            span.get("label") or "",
        )
        for span in ((task.get("spans") or ()) if accepted else ())
    ]
    doc_id = (task.get("meta") or {}).get("doc_id") or ""
    return {"doc_id": str(doc_id), "text": task["text"], "mentions": mentions}


def of_medcat(document: Json) -> Record:
    """Keep what an annotator has confirmed, changed or added; without such marks, everything."""
    text = document["text"]
    mentions = [
        placed(text, annotation, annotation.get("value"), [annotation["cui"]], "", reversed(COUNTS))
        for annotation in document["annotations"]
        if _KEPT.isdisjoint(annotation) or any(annotation.get(key) for key in _KEPT)
        if not any(annotation.get(key) for key in ("deleted", "killed", "irrelevant"))
    ]
    name = document.get("name") or document.get("id") or ""
    return {"doc_id": str(name), "text": text, "mentions": mentions}


def of_label_studio(tasks: Iterable[Json]) -> Iterator[Record]:
    """Make records of tasks; those that nobody has annotated are left out."""
    annotated = [(task, results) for task in tasks if (results := _results(task)) is not None]
    likelihood = _likelihood_of_texts(annotated)
    for task, results in annotated:
        text = _text_of(task["data"], likelihood)
        mentions = list(_regions(text, results))
        doc_id = task.get("id") or task["data"].get("doc_id") or ""
        yield {"doc_id": str(doc_id), "text": text, "mentions": mentions}


def _results(task: Json) -> list[Json] | None:
    """Get what the true annotation says, or else the last one; None where there is none.

    A task that has no place for annotations is no export, but what was given to Label Studio.
    """
    keys = ("annotations", "completions", "predictions")
    given = next((task[key] for key in keys if key in task), None)
    if given is None and "data" not in task:
        raise ValueError("JSON-MIN does not say to which region a concept belongs")
    annotations = [each for each in given or () if not each.get("was_cancelled")]
    if not annotations:
        return None
    true = [each for each in annotations if each.get("ground_truth")]
    results = (true or annotations)[-1]["result"]
    return [result for result in results if "value" in result]  # relations have none


def _regions(text: str, of_task: Iterable[Json]) -> Iterator[Record]:
    """Make mentions of the regions that have a concept."""
    regions: dict[str, list[Json]] = {}
    for result in of_task:
        regions.setdefault(str(result.get("id")), []).append(result)
    for results in regions.values():
        ids = ids_of([value for result in results for value in _concepts(result)])
        region = next(
            (result["value"] for result in results if "labels" in result["value"]),
            results[0]["value"],
        )
        if isinstance(region.get("start"), str):
            raise ValueError("regions of HyperText or Paragraphs have no offsets in a plain text")
        if "start" not in region:
            continue
        labels = [label for result in results for label in result["value"].get("labels", ())]
        label = labels[0] if labels else ""
        yield placed(text, region, region.get("text"), ids, label, COUNTS)


_Likelihood = Callable[[str], tuple[int, bool, bool]]


def _likelihood_of_texts(annotated: Iterable[tuple[Json, list[Json]]]) -> _Likelihood:
    """Rank the fields of tasks: an export does not say which of them was shown as the text.

    RETURNS (Callable): of a field's name, how many regions have recorded what stands in it, whether
        the text was shown under this name (`to_name`), and whether it is "text".
    """
    fitting, shown = Counter[str](), set[str]()
    for task, results in annotated:
        for result in results:
            shown.add(str(result.get("to_name")))
            region = result["value"]
            if isinstance(region.get("text"), str) and isinstance(region.get("start"), int):
                fitting.update(
                    key
                    for key, text in task["data"].items()
                    if isinstance(text, str) and _span(text, region, region["text"], COUNTS)
                )
    return lambda key: (fitting[key], key in shown, key == "text")


def _text_of(data: Json, likelihood: _Likelihood) -> str:
    """Get the text of a task: its likeliest string."""
    strings = [key for key, value in data.items() if isinstance(value, str)]
    first, *others = sorted(strings, key=likelihood, reverse=True) or [""]
    if not first or (others and likelihood(first) == likelihood(others[0])):
        raise ValueError(
            f"which field of a task is the text ({', '.join(strings[:9]) or 'none is a string'})? "
            'Say it with a field "text", as in `jq "map(.data.text = .data.FIELD)"`'
        )
    return str(data[first])


def placed(
    text: str,
    region: Json,
    recorded: object,
    ids: list[str] | None,
    label: str,
    counts: Iterable[tuple[bool, bool]],
) -> Record:
    """Make a mention, with the offsets in characters at which the text is what the tool recorded.

    Without a recorded text the first way to count is taken. Where none fits, the mention has the
    recorded text, too, so that the reader of gold finds the mismatch.
    """
    wanted = recorded if isinstance(recorded, str) else ""
    if span := _span(text, region, wanted, counts):
        return _mention(span, ids, label)
    span = (region["start"], region["end"])
    return _mention(span, ids, label) | ({"mention": wanted} if wanted else {})


def _span(
    text: str, region: Json, wanted: str, counts: Iterable[tuple[bool, bool]]
) -> tuple[int, int] | None:
    """Find the offsets of a region in characters, at which the text is the wanted one, if any."""
    for units, joined in counts:
        span = _characters(text, region["start"], region["end"], units, joined)
        if span and (not wanted or _plain(text[slice(*span)]) == _plain(wanted)):
            return span
    return None


def _characters(
    text: str, start: int, end: int, units: bool, joined: bool
) -> tuple[int, int] | None:
    """Turn offsets into those of characters; None where the text is too short.

    units (bool): whether they count units of UTF-16. joined (bool): whether CRLF counts as one.
    """
    if not 0 <= start < end:
        return None
    characters = list[int]()  # of each offset
    for nth, character in enumerate(text):
        width = 2 if units and character > "\uffff" else 1
        if joined and character == "\r" and text[nth + 1 : nth + 2] == "\n":
            width = 0
        characters += [nth] * width
        if len(characters) >= end:
            return characters[start], characters[end - 1] + 1
    return None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _concepts(result: Json) -> list[str]:
    """List the ids that a result gives its region; text behind the id does not count."""
    if result.get("type") not in _CONCEPTS:
        return []
    values = result["value"].get("text") if result["type"] == "textarea" else None
    values = values or result["value"].get(result["type"]) or []
    values = [values] if isinstance(values, str) else values
    last = (value[-1] if isinstance(value, list) else value for value in values)
    return [value.split()[0].strip("|,;") for value in last if value.strip()]


def ids_of(values: list[str]) -> list[str] | None:
    """Keep ids: [] for a mention that is no concept, None where nothing is said."""
    ids = [value.strip() for value in values if value.strip()]
    return [id for id in ids if id.upper() not in _NIL] if ids else None


def _mention(span: tuple[int, int], ids: list[str] | None, type: str) -> Record:
    return {"start": span[0], "end": span[1], "ids": ids, "type": type}
