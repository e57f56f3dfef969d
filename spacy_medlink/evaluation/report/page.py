"""The report as one HTML page that opens from disk and fetches nothing."""

import json
from collections.abc import Sequence
from typing import Any

from ..confusion import NIL
from ..outcome import VERDICTS
from ..records import Record
from .figures import accuracy_chart, coverage_chart, reliability_chart, type_confusion
from .metrics_file import Run
from .plain import is_number, shown
from .tables import Table
from .templates import environment, resource

GENERATOR = '<meta name="generator" content="medlink report">'
_MAIN = "(the linker)"


def render_report(title: str, runs: Sequence[Run], tables: Sequence[Table]) -> str:
    """Render a report as a page that needs no other file.

    RETURNS (str): HTML with its style, pictures, script and data; all texts from the metrics are
        escaped.
    """
    page = environment()
    page.filters |= {
        "shown": shown, "numeric": _numeric, "has_fractions": _has_fractions, "facts": _facts,
        "is_main": lambda row: any(str(cell).endswith(_MAIN) for cell in row[:2]),
    }  # fmt: skip
    charts = (
        ("Accuracy at k", accuracy_chart(runs)),
        ("Precision against coverage, as the threshold rises", coverage_chart(runs)),
        ("Reliability of the probabilities", reliability_chart(runs)),
    )
    confusions = [(run.name, type_confusion(run)) for run in runs]
    return page.from_string(resource("report.html.j2")).render(
        title=title,
        runs=runs,
        tables={table.name: table for table in tables},
        charts=[(caption, chart) for caption, chart in charts if chart],
        confusions=[(name, own) for name, own in confusions if own and _has_kinds(own)],
        has_text=any(record.text is not None for run in runs for record in run.records),
        generator=GENERATOR,
        style=resource("page.css"),
        script=resource("browser.js"),
        mentions=browser_data(runs),
    )


def _has_kinds(found: dict[str, Any]) -> bool:
    return len({*found["kinds"]} - {NIL}) > 1


def _numeric(table: Table) -> list[bool]:
    places = range(len(table.header))
    return [all(is_number(row[place]) for row in table.rows) for place in places]


def _has_fractions(table: Table) -> bool:
    return any(isinstance(cell, float) for row in table.rows for cell in row)


def _facts(run: Run) -> str:
    facts = {"kb": run.metrics["kb"], **run.metrics["manifest"]}
    return json.dumps(facts, indent=2, ensure_ascii=False)


_FLAGS = ("abbreviation", "composite")


def browser_data(runs: Sequence[Run]) -> str:
    """Write the mentions of runs as JSON that is safe inside a `script` element.

    RETURNS (str): {"verdicts", "concepts": {id: [name, types]}, "runs": [{"name", "mentions"}]}.
    """
    concepts: dict[str, Any] = {}
    for run in runs:
        concepts.update(run.metrics["concepts"])
    data = {
        "verdicts": VERDICTS,
        "concepts": concepts,
        "runs": [
            {"name": run.name, "mentions": [_mention(record) for record in run.records]}
            for run in runs
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # No text may end the element early, or begin a comment.
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _mention(record: Record) -> dict[str, Any]:
    """Make a mention's JSON with short keys: there may be ten thousands of mentions."""
    place = None if record.start < 0 else [record.start, record.end]
    found = {
        "d": record.doc, "p": place, "t": record.text, "l": record.left, "a": record.after,
        "y": record.type, "g": record.gold, "r": record.right, "k": record.rank,
        "f": record.retrieved, "v": VERDICTS.index(record.verdict), "n": record.abstained,
        "u": record.rollup, "c": [list(one) for one in record.candidates],
        "o": record.lang if record.lang != "en" else "",
        "x": [flag for flag in _FLAGS if "yes" in record.labels.get(flag, ())],
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in (None, [], "", False)}
