"""The report as one HTML page that opens from disk and fetches nothing."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ...util.files import save_text
from ...util.outputs import marked
from ..outcome import VERDICTS, Metrics, Outcome
from .comparison import count_links, tables_of_changes
from .metrics_file import Run
from .tables import Cell, Table, make_tables

PAGE = "report.html"
_GENERATOR = '<meta name="generator" content="medlink report">'
_REPORT = marked("the page of a report", _GENERATOR)
_MAIN = "(the linker)"


def write_report(
    directory: Path,
    runs: Sequence[Run],
    title: str = "",
    inputs: Sequence[Path] = (),
    overwrite: bool = False,
    before: Path | None = None,
) -> Path:
    """Write the page of a report; other files in the directory are not changed.

    inputs (Sequence[Path]): the files of metrics. overwrite (bool): replace a file of this name
        that belongs to no report. before (Optional[Path]): metrics of an earlier run on the same
        mentions; the report says what changed in the first run since.
    RETURNS (Path): the page.
    RAISES (MedlinkError): as `tables_of_changes`, E109 when it cannot be written, E120-E124 for
        what is there.
    """
    title = title or f"Linking measured: {', '.join(run.name for run in runs)}"
    changes = [] if before is None else tables_of_changes(runs[0], before)
    text = render_report(title, runs, [*changes, *make_tables(runs)])
    save_text(directory / PAGE, _REPORT, text, inputs, overwrite=overwrite)
    return directory / PAGE


def render_report(title: str, runs: Sequence[Run], tables: Sequence[Table]) -> str:
    """Render a report as a page that needs no other file.

    RETURNS (str): HTML with its style, script and data; all texts from the metrics are escaped.
    """
    page = Environment(autoescape=True, undefined=StrictUndefined)
    page.filters |= {
        "shown": shown, "numeric": _numeric, "has_fractions": _has_fractions, "facts": _facts,
        "links": lambda run: count_links(run.records),
        "is_main": lambda row: any(str(cell).endswith(_MAIN) for cell in row[:2]),
    }  # fmt: skip
    return page.from_string(_resource("report.html.j2")).render(
        title=title,
        runs=runs,
        tables={table.name: table for table in tables},
        has_text=any(record.text is not None for run in runs for record in run.records),
        generator=_GENERATOR,
        style=_resource("page.css"),
        script=_resource("browser.js"),
        mentions=browser_data(runs),
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def shown(cell: Cell) -> str:
    """Write a cell for people: fractions in per cent with one digit."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{100 * cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _numeric(table: Table) -> list[bool]:
    columns = zip(*table.rows, strict=True)
    return [
        all(cell is None or isinstance(cell, int | float) for cell in column) for column in columns
    ]


def _has_fractions(table: Table) -> bool:
    return any(isinstance(cell, float) for row in table.rows for cell in row)


def _facts(run: Run) -> str:
    conditions = {"kb": run.metrics["kb"], **run.metrics["manifest"]}
    return json.dumps(conditions, indent=2, ensure_ascii=False)


_FLAGS = ("abbreviation", "composite")


def browser_data(runs: Sequence[Run]) -> str:
    """Write the mentions of runs as JSON that is safe inside a `script` element.

    RETURNS (str): {"verdicts", "concepts": {id: [name, types]}, "runs": [{"name", "mentions"}]}.
    """
    concepts: Metrics = {}
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


def _mention(record: Outcome) -> Metrics:
    """Make a mention's JSON with short keys: there may be ten thousands of mentions."""
    span = None if record.start < 0 else [record.start, record.end]
    mention = {
        "d": record.doc, "p": span, "t": record.text, "l": record.left, "a": record.after,
        "y": record.type, "g": record.gold, "r": record.right, "k": record.rank,
        "f": record.retrieved, "v": VERDICTS.index(record.verdict), "n": record.abstained,
        "u": record.rollup, "c": [list(proposal) for proposal in record.candidates],
        "o": record.lang if record.lang != "en" else "",
        "x": [flag for flag in _FLAGS if "yes" in record.labels.get(flag, ())],
    }  # fmt: skip
    return {name: value for name, value in mention.items() if value not in (None, [], "", False)}
