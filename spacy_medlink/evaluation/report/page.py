"""The report as one HTML page that opens from disk and fetches nothing."""

import json
from collections.abc import Sequence
from typing import Any

from ..confusion import NIL
from .browser import browser_data
from .figures import accuracy_chart, coverage_chart, reliability_chart, type_confusion
from .plain import is_number, shown
from .run import Run
from .tables import Table
from .templates import environment, resource

GENERATOR = '<meta name="generator" content="medlink report">'
_MAIN = "(the linker)"


def render_report(title: str, runs: Sequence[Run], tables: Sequence[Table]) -> str:
    """Render a report as a page that needs nothing else.

    RETURNS (str): HTML with its style, pictures, script and data inside; all that comes from the
        metrics is escaped.
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
    """Tell whether several kinds of concept are compared."""
    return len({*found["kinds"]} - {NIL}) > 1


def _numeric(table: Table) -> list[bool]:
    """Tell which columns stand to the right."""
    places = range(len(table.header))
    return [all(is_number(row[place]) for row in table.rows) for place in places]


def _has_fractions(table: Table) -> bool:
    return any(isinstance(cell, float) for row in table.rows for cell in row)


def _facts(run: Run) -> str:
    facts = {"kb": run.metrics["kb"], **run.metrics["manifest"]}
    return json.dumps(facts, indent=2, ensure_ascii=False)
