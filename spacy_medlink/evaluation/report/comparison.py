"""Compares two systems on the same mentions, with tests of significance."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import Errors
from ..intervals import reciprocal
from ..outcome import Metrics
from ..records import Record
from ..significance import compare_systems, mcnemar
from .metrics_file import read_records


def compare_metrics(ours: Metrics, theirs: Metrics, path: Path) -> Metrics:
    """Compare two systems, mention by mention.

    theirs (Metrics): of the other system. path (Path): its file.
    RETURNS (Metrics): "name" of the other file, and the result of `compare_systems` for
        "mrr" and each "acc@k" that both have; "mcnemar" for acc@1.
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
    compared["mcnemar"] = mcnemar(ranks[:, 0] == 1, ranks[:, 1] == 1)
    return compared


def check_same(
    ours: Metrics,
    theirs: Metrics,
    our_records: Sequence[Record],
    their_records: Sequence[Record],
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


def _identity(record: Record) -> tuple[object, ...]:
    return record.doc, record.start, record.end, tuple(record.gold)
