"""Reports about measured linkers: files of metrics, comparisons, and a page for people."""

from .comparison import compare_metrics
from .metrics_file import METRICS_FILE, Run, dump_metrics, open_runs, read_metrics, read_records
from .page import write_report

__all__ = [
    "METRICS_FILE", "Run", "compare_metrics", "dump_metrics", "open_runs", "read_metrics",
    "read_records", "write_report",
]  # fmt: skip
