"""Links at the threshold: right, wrong and missed; and what changed since an earlier run."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..end_to_end import NIL
from ..records import Record
from .comparison import check_same
from .metrics_file import Run, read_metrics
from .tables import Cell, Table

LINK_VERDICTS = ("right", "wrong", "missed", "rightly none")
_MOST_ROWS = 1_000


def count_links(records: Sequence[Record]) -> dict[str, int]:
    """Count the links that are right, wrong and missed, and the mentions rightly without one."""
    counts = Counter(map(_link_verdict, records))
    return {verdict: counts[verdict] for verdict in LINK_VERDICTS}


def tables_of_changes(run: Run, before: Path) -> list[Table]:
    """Compare the links of a run with those of an earlier one, mention by mention.

    RAISES (MedlinkError): E107, E410 for the file, E411 if its mentions are others.
    """
    earlier = Run(before.name, read_metrics(before))
    check_same(run.metrics, earlier.metrics, run.records, earlier.records, before)
    pairs = list(zip(earlier.records, run.records, strict=True))
    moves = Counter((_link_verdict(old), _link_verdict(new)) for old, new in pairs)
    counts: list[list[Cell]] = [
        [old, *(moves[old, new] for new in LINK_VERDICTS)] for old in LINK_VERDICTS
    ]
    changed = [(old, new) for old, new in pairs if _answer(old) != _answer(new)]
    rows: list[list[Cell]] = [
        [
            new.doc, new.start, new.text or "", ", ".join(new.gold) or NIL,
            _link_verdict(old), _named(earlier, old), _link_verdict(new), _named(run, new),
        ]
        for old, new in sorted(changed, key=lambda pair: _link_verdict(pair[1]) == "right")
    ]  # fmt: skip
    header = ["document", "start", "mention", "gold", "was", "link before", "is", "link now"]
    note = f"{len(changed):,} of {len(pairs):,} mentions have another link than in {earlier.name}."
    shown = f"The first {_MOST_ROWS:,}, those that are not right first."
    tables = [
        Table("changes", "What changed", ["before \\ now", *LINK_VERDICTS], counts, note),
        Table("changed_mentions", "Mentions with another link", header, rows[:_MOST_ROWS], shown),
    ]
    return [table for table in tables if table.rows]


def _link_verdict(record: Record) -> str:
    if record.abstained:
        return "missed" if record.gold else "rightly none"
    return "right" if record.is_right else "wrong"


def _answer(record: Record) -> str:
    return NIL if record.abstained or not record.candidates else record.candidates[0].id


def _named(run: Run, record: Record) -> str:
    id = _answer(record)
    return f"{run.metrics['concepts'][id][0]} ({id})" if id in run.metrics["concepts"] else id
