"""Reports about measured linkers: files of metrics, comparisons, and pages for people."""

from .comparison import compare_metrics
from .metrics_file import dump_metrics, read_metrics, read_records

__all__ = ["compare_metrics", "dump_metrics", "read_metrics", "read_records"]
