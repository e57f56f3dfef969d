"""The pictures of a report: what is drawn, from the records of the runs."""

import math
from collections.abc import Sequence
from typing import Any

from ..calibration import coverage_curve, reliability
from ..confusion import NIL, confusion
from ..records import Record
from .charts import FRACTION_TICKS, Axis, Line, line_chart
from .run import Run
from .tables import systems_of

_MOST_LINES = 6
_TICKS = (1, 2, 3, 5, 10, 25, 50, 100, 200, 500, 1000)


def accuracy_chart(runs: Sequence[Run]) -> str:
    """Draw accuracy over its depth k, as deep as the rankings were judged.

    Of the baselines only the depths that were asked for are known.
    """
    deepest = max(max(run.metrics["ks"]) for run in runs)
    if deepest < 2:
        return ""
    lines = [Line(run.name, accuracy_points(run.records, max(run.metrics["ks"]))) for run in runs]
    lines = [*lines, *_baselines(runs[0], len(runs) > 1)][:_MOST_LINES]
    ticks = [(math.log(k), str(k)) for k in _TICKS if k <= deepest]
    axis = Axis("k (logarithmic)", ticks, 0.0, math.log(deepest))
    shown = [Line(line.name, [(math.log(k), y) for k, y in line.points]) for line in lines]
    return line_chart("Accuracy at k", axis, "accuracy at k, %", shown)


def _baselines(run: Run, named: bool) -> list[Line]:
    ks = run.metrics["ks"]
    return [
        Line(f"{run.name}: {name}" if named else name, [(k, own[f"acc@{k}"]) for k in ks])
        for name, own in systems_of(run)
        if own is not run.metrics and own["n"]
    ]


def accuracy_points(records: Sequence[Record], deepest: int) -> list[tuple[float, float]]:
    """Compute accuracy at every k from 1 to `deepest`, over mentions with a gold id."""
    linked = [record for record in records if record.gold]
    return [
        (k, sum(0 < record.rank <= k for record in linked) / len(linked))
        for k in range(1, deepest + 1)
        if linked
    ]


def coverage_chart(runs: Sequence[Run]) -> str:
    """Draw how precise the links are that remain as the threshold rises."""
    lines = []
    for run in runs:
        curve = coverage_curve([_confidence(one) for one in run.records], _right(run.records))
        points = [(point["coverage"] or 0.0, point["precision"] or 0.0) for point in curve]
        if len(points) > 1:
            lines.append(Line(run.name, points))
    if not lines:
        return ""
    axis = Axis("mentions linked (coverage), %", FRACTION_TICKS)
    return line_chart("Precision against coverage", axis, "links that are right, %", lines)


def calibration_of(run: Run) -> dict[str, Any] | None:
    """Compute the reliability of a run's probabilities; None where it has none."""
    known = [record for record in run.records if record.prob is not None]
    return reliability([record.prob or 0.0 for record in known], _right(known))


def reliability_chart(runs: Sequence[Run]) -> str:
    """Draw how often the linker was right where it said how sure it was."""
    lines = []
    for run in runs:
        found = calibration_of(run)
        if found:
            points = [(one["prob"], one["accuracy"]) for one in found["bins"]]
            name = f"{run.name}: expected calibration error {found['ece']:.3f}"
            lines.append(Line(name, points))
    if not lines:
        return ""
    axis = Axis("probability that was given, %", FRACTION_TICKS)
    return line_chart("Reliability", axis, "right, %", lines, diagonal=True)


def type_confusion(run: Run) -> dict[str, Any] | None:
    """Count which semantic types were taken for which; None where the concepts have none.

    A concept of several types counts by its first; mentions without a known gold concept are left
    out.
    """
    types = {id: own[1][0] for id, own in run.metrics["concepts"].items() if own[1]}
    if not types:
        return None
    pairs = []
    for record in run.records:
        gold = next((types[id] for id in record.right if id in types), None)
        if gold is not None:
            answer = record.candidates[0].id if record.candidates else NIL
            found = NIL if record.abstained else types.get(answer, "none")
            # One of several right concepts may have been the answer.
            same = record.is_right and not record.abstained
            pairs.append((gold, gold if same else found))
    return confusion(pairs) if pairs else None


def _confidence(record: Record) -> float:
    return record.score if record.prob is None else record.prob


def _right(records: Sequence[Record]) -> list[bool]:
    return [record.is_right for record in records]
