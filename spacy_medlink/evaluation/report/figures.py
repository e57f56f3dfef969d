"""The charts of a report, drawn from the records of the runs."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..calibration import coverage_curve, reliability
from ..confusion import NIL, confusion
from ..records import Record
from .metrics_file import Run
from .tables import systems_of
from .templates import environment, resource

# Line charts as SVG, drawn by a template.
#
# Not by matplotlib: the page then needs no extra package, the lines follow the colours of the
# page's style sheet in dark mode, and a screen reader reads their names.
#
# Lines differ by dashes and markers, not only by colours, for readers who cannot tell these apart.
_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 14, 46
_COLOURS = 6  # classes line-1 to line-6 of the style sheet
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5", "1 4")
_SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MANY_POINTS = 30  # lines with more points have no markers


class Line(NamedTuple):
    """A line: its name in the legend, and (x, y) points with y from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """The horizontal axis: its title, ticks with their labels, and its highest value."""

    title: str
    ticks: Sequence[tuple[float, str]]
    low: float = 0.0
    high: float = 1.0

    def across(self, value: float) -> float:
        """Compute the x coordinate of a value, in units of the picture."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


FRACTION_TICKS = tuple((tick, f"{100 * tick:.0f}") for tick in _SHARES)


def line_chart(
    title: str, x: Axis, y_title: str, lines: Sequence[Line], diagonal: bool = False
) -> str:
    """Draw lines over an axis, y in per cent.

    title (str): text for screen readers. diagonal (bool): draw y = x, for comparison.
    RETURNS (str): an `svg` element and a legend.
    """
    return environment().from_string(resource("chart.svg.j2")).render(
        title=title, width=_WIDTH, height=_HEIGHT, left=_LEFT, right=_WIDTH - _RIGHT,
        bottom=_HEIGHT - _BOTTOM, middle=(_LEFT + _WIDTH - _RIGHT) / 2,
        centre=(_TOP + _HEIGHT - _BOTTOM) / 2, x_title=x.title, y_title=y_title,
        x_ticks=[(x.across(value), label) for value, label in x.ticks],
        y_ticks=[(_down(tick), f"{100 * tick:.0f}") for tick in _SHARES],
        diagonal=(x.across(0), _down(0), x.across(1), _down(1)) if diagonal else (),
        lines=[_drawn(x, number, line) for number, line in enumerate(lines)],
    )  # fmt: skip


def _drawn(x: Axis, number: int, line: Line) -> dict[str, object]:
    places = [(x.across(value), _down(height), height) for value, height in line.points]
    return {
        "name": line.name,
        "colour": f"line-{number % _COLOURS + 1}",
        "dashes": _DASHES[number % len(_DASHES)],
        "path": " ".join(f"{across},{down}" for across, down, _ in places),
        "markers": places if len(places) <= _MANY_POINTS else [],
    }


def _down(height: float) -> float:
    return round(_HEIGHT - _BOTTOM - height * (_HEIGHT - _TOP - _BOTTOM), 1)


_MOST_LINES = 6
_TICKS = (1, 2, 3, 5, 10, 25, 50, 100, 200, 500, 1000)


def accuracy_chart(runs: Sequence[Run]) -> str:
    """Draw accuracy over its depth k, as deep as the rankings were judged.

    For baselines, only the wanted depths are known.
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
    """Draw the precision of the remaining links as the threshold rises."""
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
    """Draw the share of right links over their probability."""
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
    """Count the predicted semantic types for each gold type; None if concepts have no types.

    A concept of several types counts by its first type; mentions without a known gold concept are
    left out.
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
            # The answer may be any of several right concepts.
            same = record.is_right and not record.abstained
            pairs.append((gold, gold if same else found))
    return confusion(pairs) if pairs else None


def _confidence(record: Record) -> float:
    return record.score if record.prob is None else record.prob


def _right(records: Sequence[Record]) -> list[bool]:
    return [record.is_right for record in records]
