"""The comparison of two knowledge bases as one HTML page that opens from disk."""

from collections.abc import Mapping, Sequence
from typing import Any

from .templates import environment, resource

_MOST_LABELS = 8
_HEADLINE = ("concepts", "names", "retired ids")
# The fields of a change, and their headings.
COLUMNS = {
    "id": "id", "other": "now", "text": "name", "lang": "language", "label": "vocabulary",
    "before": "before", "after": "after",
}  # fmt: skip


def render_kb_diff(found: Mapping[str, Any], title: str) -> str:
    """Render a comparison.

    found (Mapping[str, Any]): "counts" by kind, "labels" (counts by kind and label), "totals" (with
        "what", "label", "before", "after"), "gold_links", and "examples" (changes by kind), as
        `medlink kb diff` writes them as JSON.
    RETURNS (str): HTML with its style; all texts of the knowledge bases are escaped.
    """
    page = environment()
    page.filters |= {"number": "{:,}".format, "change": "{:+,}".format}
    totals = found["totals"]
    return page.from_string(resource("kb_diff.html.j2")).render(
        title=title,
        style=resource("page.css"),
        headline=[total for total in totals if total["what"] in _HEADLINE],
        parts=[
            total
            for total in totals
            if total["what"] not in _HEADLINE and total["before"] != total["after"]
        ],
        kinds=[_kind(kind, found) for kind in sorted(found["counts"])],
        gold_links=found["gold_links"],
    )


def counted(counts: Mapping[str, int]) -> str:
    """Write the first eight counts in a line, highest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name} {count:,}" for name, count in ordered[:_MOST_LABELS]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def used_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Get the fields that occur in some change, with their headings."""
    return {column: title for column, title in COLUMNS.items() if any(row[column] for row in rows)}


def _kind(kind: str, found: Mapping[str, Any]) -> dict[str, Any]:
    rows = found["examples"].get(kind, [])
    return {
        "name": kind,
        "anchor": kind.replace(" ", "-"),
        "count": found["counts"][kind],
        "labels": counted(found["labels"].get(kind, {})),
        "rows": rows,
        "columns": used_columns(rows),
    }
