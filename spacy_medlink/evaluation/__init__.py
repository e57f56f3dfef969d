"""Metrics over ranked answers and over spans: pure functions that know no knowledge base."""

from .calibration import coverage_curve, reliability
from .composites import split_composite
from .confusion import confusion
from .metrics import compute_metrics, compute_totals
from .names import paper_key
from .outcome import Outcome, first_right
from .records import Proposal, Record, pack, unpack
from .rollup import distance
from .significance import compare_systems, mcnemar
from .spans import Link, link_scores
from .splits import near_references
from .verdicts import VERDICTS, count_verdicts, verdict

__all__ = [
    "VERDICTS", "Link", "Outcome", "Proposal", "Record", "compare_systems", "compute_metrics",
    "compute_totals", "confusion", "count_verdicts", "coverage_curve", "distance", "first_right",
    "link_scores", "mcnemar", "near_references", "pack", "paper_key", "reliability",
    "split_composite", "unpack", "verdict",
]  # fmt: skip
