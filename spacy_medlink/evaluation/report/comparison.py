"""Compares two systems on the same mentions, with tests of significance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import Errors
from ..intervals import reciprocal
from ..records import Record
from ..significance import compare_systems, mcnemar
from .metrics_file import Metrics, read_records


def compare_metrics(ours: Metrics, theirs: Metrics, path: Path) -> dict[str, Any]:
    """Compare two systems, mention by mention.

    theirs (Metrics): of the other system. path (Path): its file.
    RETURNS (Dict[str, Any]): "name" of the other file, and the result of `compare_systems` for
        "mrr" and each "acc@k" that both have; "mcnemar" for acc@1.
    RAISES (MedlinkError): E411 if their mentions or conditions differ.
    """
    own, other = read_records(ours), read_records(theirs, path)
    _check(ours, theirs, own, other, path)
    pairs = [(one, two) for one, two in zip(own, other, strict=True) if one.gold]
    docs = [one.doc for one, _ in pairs]
    ranks = np.array([[one.rank, two.rank] for one, two in pairs], np.int64).reshape(-1, 2)
    depths = [k for k in ours["ks"] if k in theirs["ks"]]
    found: dict[str, Any] = {"name": path.name, "tiers_used": theirs["tiers_used"]}
    for k in depths:
        hits = ((ranks > 0) & (ranks <= k)).astype(np.float64)
        found[f"acc@{k}"] = compare_systems(hits[:, 0], hits[:, 1], docs)
    found["mrr"] = compare_systems(reciprocal(ranks[:, 0]), reciprocal(ranks[:, 1]), docs)
    found["mcnemar"] = mcnemar(ranks[:, 0] == 1, ranks[:, 1] == 1)
    return found


def _check(
    ours: Metrics,
    theirs: Metrics,
    own: Sequence[Record],
    other: Sequence[Record],
    path: Path,
) -> None:
    def refuse(reason: str) -> Exception:
        return Errors.other_gold(path=path, reason=reason)

    if ours["protocol"] != theirs["protocol"]:
        raise refuse(f"ranks count {theirs['protocol']}, not {ours['protocol']}")
    if len(own) != len(other):
        raise refuse(f"{len(other):,} mentions, not {len(own):,}")
    for one, two in zip(own, other, strict=True):
        if _identity(one) != _identity(two):
            raise refuse(f"mention {one.number + 1:,} is another one")


def _identity(record: Record) -> tuple[object, ...]:
    return record.doc, record.start, record.end, tuple(record.gold)
