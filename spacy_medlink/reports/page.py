"""The report as one HTML page that opens from disk and fetches nothing."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ..evaluation.confusion import NIL
from .browser import browser_data
from .figures import accuracy_chart, coverage_chart, reliability_chart, type_confusion
from .plain import is_number, shown
from .run import Run
from .tables import Table

GENERATOR = '<meta name="generator" content="medlink report">'
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{generator}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#systems">Skip to the figures</a>
<header class="top">
<h1>{title}</h1>
{summary}
<nav aria-label="Sections"><ul>{contents}</ul></nav>
</header>
<main>
{body}
</main>
<footer>Made by spacy-medlink. Nothing on this page is loaded from a network.</footer>
{script}
</body>
</html>
"""
_FILTER = """<form id="filter" role="search" aria-label="Filter mentions">
<label{hidden}>Run <select name="run">{runs}</select></label>
<label>Outcome <select name="verdict"><option value="errors">errors</option>
<option value="">all</option>{verdicts}</select></label>
<label>Kind <select name="kind"><option value="">all</option><option>abbreviation</option>
<option>composite</option></select></label>
<label class="wide">Words in mention, names, ids or document
<input name="words" type="search" autocomplete="off"></label>
</form>
<p id="count" class="quiet" role="status" aria-live="polite"></p>
<p id="corrections" role="status" aria-live="polite" hidden>Corrected: <b>0</b>
<button type="button">Save corrections.jsonl</button>
<span class="quiet">for <code>medlink build --memory</code> or <code>medlink learn</code></span></p>
<ol id="results"></ol>
<button id="more" type="button" hidden>Show more</button>
<noscript><p>The browser of mentions needs JavaScript; mentions.csv holds the same.</p></noscript>
"""
_MAIN = "(the linker)"
_MANY_ROWS = 8  # longer tables are folded


def render_report(title: str, runs: Sequence[Run], tables: Sequence[Table]) -> str:
    """Render a report as a page that needs nothing else.

    RETURNS (str): HTML with its style, pictures, script and data inside.
    """
    sections = [section for section in _sections(runs, tables) if section[2]]
    contents = "".join(
        f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in sections
    )
    body = "\n".join(
        f'<section id="{name}"><h2>{escape(heading)}</h2>\n{content}</section>'
        for name, heading, content in sections
    )
    script = (
        f'<script type="application/json" id="mentions">{browser_data(runs)}</script>\n'
        f"<script>\n{_resource('browser.js')}</script>"
    )
    return _PAGE.format(
        generator=GENERATOR, title=escape(title), style=_resource("page.css"),
        summary=_summary(runs), contents=contents, body=body, script=script,
    )  # fmt: skip


def _sections(runs: Sequence[Run], tables: Sequence[Table]) -> list[tuple[str, str, str]]:
    """List (anchor, heading, content) in the order of the page; empty content is left out."""
    by_name = {table.name: table for table in tables}

    def content(*names: str) -> str:
        return "".join(_table(by_name[name]) for name in names if name in by_name)

    retrieval = [table for table in tables if table.name == "retrieval"]
    groups = [table for table in tables if table.name.startswith("by_")]
    return [
        (
            "systems",
            "Systems",
            content("systems") + _figures(runs) + "".join(map(_folded, retrieval)),
        ),
        ("splits", "Fair parts of the test data", content("splits")),
        ("against", "Against another system", content("against")),
        ("groups", "By kind of mention", "".join(map(_folded, groups))),
        ("nil", "NIL and links", content("nil")),
        ("lost", "Where mentions were lost", content("lost")),
        ("rollup", "Right but for the depth", content("rollup")),
        ("types", "Types taken for one another", "".join(map(_confusion, runs))),
        ("end_to_end", "End to end, from raw text", content("end_to_end")),
        ("mentions-browser", "Mentions", _browser(runs)),
        ("gold", "The gold mentions", content("gold")),
        ("run", "How it was measured", "".join(map(_manifest, runs))),
    ]


def _summary(runs: Sequence[Run]) -> str:
    items = []
    for run in runs:
        metrics, what = run.metrics, run.metrics["manifest"]
        low, high = metrics.get("acc@1_ci95") or (None, None)
        first = metrics.get("acc@1")
        items.append(
            f"<li><span>{escape(run.name)}</span><b>{shown(first)} %</b><span>right at rank 1 of "
            f"{metrics['n']:,} mentions<br>95 % interval {shown(low)} to {shown(high)}<br>"
            f"{escape(what['gold']['name'])}</span></li>"
        )
    return f'<ul class="figures">{"".join(items)}</ul>'


def _figures(runs: Sequence[Run]) -> str:
    charts = (
        ("Accuracy at k", accuracy_chart(runs)),
        ("Precision against coverage, as the threshold rises", coverage_chart(runs)),
        ("Reliability of the probabilities", reliability_chart(runs)),
    )
    drawn = "".join(
        f"<figure><figcaption>{escape(title)}</figcaption>{chart}</figure>"
        for title, chart in charts
        if chart
    )
    return f'<h3>Curves</h3><div class="row">{drawn}</div>' if drawn else ""


def _table(table: Table) -> str:
    numeric = [
        all(is_number(row[place]) for row in table.rows) for place in range(len(table.header))
    ]
    head = "".join(
        f'<th scope="col"{_number(right)}>{escape(name)}</th>'
        for name, right in zip(table.header, numeric, strict=True)
    )
    rows = []
    for row in table.rows:
        first, *others = row
        main = ' class="main"' if any(str(cell).endswith(_MAIN) for cell in row[:2]) else ""
        cells = "".join(
            f"<td{_number(right)}>{escape(shown(cell))}</td>"
            for cell, right in zip(others, numeric[1:], strict=True)
        )
        rows.append(f'<tr{main}><th scope="row">{escape(shown(first))}</th>{cells}</tr>')
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    caption = "fractions in per cent" if any(_has_fraction(row) for row in table.rows) else ""
    return (
        f'<div class="scroll"><table><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _folded(table: Table) -> str:
    opened = " open" if len(table.rows) <= _MANY_ROWS else ""
    return (
        f"<details{opened}><summary>{escape(table.title)} ({len(table.rows)})</summary>"
        f"{_table(table)}</details>"
    )


def _confusion(run: Run) -> str:
    found = type_confusion(run)
    if found is None or len({*found["kinds"]} - {NIL}) < 2:
        return ""
    kinds = found["kinds"]
    head = "".join(f'<th scope="col" class="number">{escape(kind)}</th>' for kind in kinds)
    rows = []
    for kind, counts in zip(kinds, found["counts"], strict=True):
        total = sum(counts)
        cells = "".join(_shaded(count, total) for count in counts)
        rows.append(f'<tr><th scope="row">{escape(kind)}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table class="heat"><caption>{escape(run.name)}: rows are the gold '
        "concept's type, columns the answer's; shaded by share of the row</caption>"
        f'<thead><tr><th scope="col">gold \\ answer</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _shaded(count: int, total: int) -> str:
    if not count:
        return '<td class="quiet">·</td>'
    share = count / total
    return f'<td style="background: rgba(var(--heat), {0.08 + 0.4 * share:.2f})">{count:,}</td>'


def _browser(runs: Sequence[Run]) -> str:
    names = "".join(
        f'<option value="{n}">{escape(run.name)}</option>' for n, run in enumerate(runs)
    )
    verdicts = "".join(f"<option>{name}</option>" for name in runs[0].metrics["verdicts"])
    hidden = " hidden" if len(runs) == 1 else ""
    text = ""
    if not any(record.text is not None for run in runs for record in run.records):
        text = (
            '<p class="note">The metrics hold no text: mentions are named by document and offsets. '
            "Measure with <code>--with-text</code> to see them in their context.</p>"
        )
    return text + _FILTER.format(hidden=hidden, runs=names, verdicts=verdicts)


def _manifest(run: Run) -> str:
    facts: dict[str, Any] = {"kb": run.metrics["kb"], **run.metrics["manifest"]}
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    return f"<details><summary>{escape(run.name)}</summary><pre>{escape(text)}</pre></details>"


def _has_fraction(row: Sequence[Any]) -> bool:
    return any(isinstance(cell, float) for cell in row)


def _number(right: bool) -> str:
    return ' class="number"' if right else ""


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
