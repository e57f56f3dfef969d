"""Metrics over ranked answers and over spans: pure functions that know no knowledge base."""

from .metrics import compute_metrics
from .names import paper_key
from .outcome import Outcome, first_right
from .spans import Link, link_scores
from .splits import near_references

__all__ = [
    "Link", "Outcome", "compute_metrics", "first_right", "link_scores", "near_references",
    "paper_key",
]  # fmt: skip
