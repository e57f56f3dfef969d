"""Compares two runs on the same mentions: significance of figures, and links that changed.

Links are those at the threshold: right, wrong and missed.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import Errors
from ..end_to_end import NIL
from ..intervals import compare_systems, reciprocal
from ..outcome import Metrics, Outcome
from .metrics_file import Run, read_metrics, read_records
from .tables import Cell, Table

LINK_VERDICTS = ("right", "wrong", "missed", "rightly none")
_MOST_ROWS = 1_000


def compare_metrics(ours: Metrics, theirs: Metrics, path: Path) -> Metrics:
    """Compare two systems, mention by mention.

    theirs (Metrics): of the other system. path (Path): its file.
    RETURNS (Metrics): "name" of the other file, and the result of `compare_systems` for
        "mrr" and each "acc@k" that both have.
    RAISES (MedlinkError): E411 if their mentions or conditions differ.
    """
    our_records, their_records = read_records(ours), read_records(theirs, path)
    check_same(ours, theirs, our_records, their_records, path)
    pairs = [
        (ours_is, theirs_is)
        for ours_is, theirs_is in zip(our_records, their_records, strict=True)
        if ours_is.gold
    ]
    docs = [ours_is.doc for ours_is, _ in pairs]
    ranks = np.array(
        [[ours_is.rank, theirs_is.rank] for ours_is, theirs_is in pairs], np.int64
    ).reshape(-1, 2)
    depths = [k for k in ours["ks"] if k in theirs["ks"]]
    compared: Metrics = {"name": path.name, "tiers_used": theirs["tiers_used"]}
    for k in depths:
        hits = ((ranks > 0) & (ranks <= k)).astype(np.float64)
        compared[f"acc@{k}"] = compare_systems(hits[:, 0], hits[:, 1], docs)
    compared["mrr"] = compare_systems(reciprocal(ranks[:, 0]), reciprocal(ranks[:, 1]), docs)
    return compared


def check_same(
    ours: Metrics,
    theirs: Metrics,
    our_records: Sequence[Outcome],
    their_records: Sequence[Outcome],
    path: Path,
) -> None:
    """Check that two systems were asked about the same mentions. RAISES (MedlinkError): E411."""

    def refuse(reason: str) -> Exception:
        return Errors.other_gold(path=path, reason=reason)

    if ours["protocol"] != theirs["protocol"]:
        raise refuse(f"ranks count {theirs['protocol']}, not {ours['protocol']}")
    if len(our_records) != len(their_records):
        raise refuse(f"{len(their_records):,} mentions, not {len(our_records):,}")
    for record, other in zip(our_records, their_records, strict=True):
        if _identity(record) != _identity(other):
            raise refuse(f"mention {record.number + 1:,} is another one")


def _identity(record: Outcome) -> tuple[object, ...]:
    return record.doc, record.start, record.end, tuple(record.gold)


def count_links(records: Sequence[Outcome]) -> dict[str, int]:
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


def _link_verdict(record: Outcome) -> str:
    if record.abstained:
        return "missed" if record.gold else "rightly none"
    return "right" if record.is_right else "wrong"


def _answer(record: Outcome) -> str:
    return NIL if record.abstained or not record.candidates else record.candidates[0].id


def _named(run: Run, record: Outcome) -> str:
    id = _answer(record)
    return f"{run.metrics['concepts'][id][0]} ({id})" if id in run.metrics["concepts"] else id
