"""A measured system, as reports take it."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ..records import Record
from .metrics_file import Metrics, read_metrics, read_records


class Run:
    """The metrics of one file.

    name (str): how the report calls it. metrics (Metrics): what `read_metrics` gives.
    """

    def __init__(self, name: str, metrics: Metrics) -> None:
        self.name, self.metrics = name, metrics

    @cached_property
    def records(self) -> list[Record]:
        """The mentions."""
        return read_records(self.metrics, self.name)


def open_runs(paths: Sequence[Path]) -> list[Run]:
    """Read files of metrics and give each a name of its own.

    RAISES (MedlinkError): E107, E410 for the files.
    """
    runs: list[Run] = []
    for path in paths:
        name = path.name.removesuffix(".gz").removesuffix(".json")
        taken = {run.name for run in runs}
        if name in taken:
            name = next(f"{name} {n}" for n in range(2, 10**6) if f"{name} {n}" not in taken)
        runs.append(Run(name, read_metrics(path)))
    return runs
