"""The summary that `medlink kb build` prints at its end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..kb.vocabularies import is_known
from .output import table

if TYPE_CHECKING:
    from ..kb.from_sources import Built
    from ..types import BadLine

_BAD_LINES_SHOWN = 10
_LABELS_SHOWN = 12
_VOCABULARIES_SHOWN = 60  # all, of an ontology


def summary(built: "Built") -> str:
    """Lay out the counts of a build, without zeros except for the most important counts."""
    kb, report = built.kb, built.report
    codes = kb.count_codes()
    unknown = {name: count for name, count in codes.items() if name != "URL" and not is_known(name)}
    rows: list[tuple[str, object]] = [
        ("knowledge base", str(kb.path)),
        ("concepts", report.concepts),
        ("names", report.names),
        ("retired ids", report.retired),
        ("united pieces", report.merged),
        ("without names", report.without_names),
        ("parents not found", report.missing_parents),
        ("skipped lines", len(report.bad_lines)),
        ("languages", counted(report.by_lang)),
        ("vocabularies", counted(report.by_source)),
        ("codes", counted(codes)),
        ("unknown vocabularies", counted(unknown, _VOCABULARIES_SHOWN)),
        ("relations", counted(report.by_relation)),
        (
            "mappings used",
            ", ".join(
                f"{maps['name']} {maps['used']:,} of {maps['lines']:,}"
                for maps in kb.manifest.get("maps", ())
            ),
        ),
        ("left out", counted(built.removed)),
        ("ids of the one before", counted(kb.manifest.get("updated_from", {}).get("ids", {}))),
    ]
    always = {"concepts", "names", "skipped lines"}
    return table([(name, _number(value)) for name, value in rows if value or name in always])


def bad_line_report(bad_lines: "Sequence[BadLine]") -> Iterator[str]:
    """Report which lines were skipped and why, the first ten lines only."""
    for bad in bad_lines[:_BAD_LINES_SHOWN]:
        yield f"skipped {bad.path}, line {bad.line}: {bad.problem}"
    if len(bad_lines) > _BAD_LINES_SHOWN:
        yield f"... and {len(bad_lines) - _BAD_LINES_SHOWN:,} more lines"


def counted(counts: Mapping[str, int], most: int = _LABELS_SHOWN) -> str:
    """Write counts in a line, highest first: "en 41,498, de 12"."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name or '(none)'} {count:,}" for name, count in ordered[:most]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
