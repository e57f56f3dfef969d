"""Line charts as SVG, drawn by a template.

Not by matplotlib: a page of the base installation needs no extra then, its lines take the colours
of the page's style sheet in the dark, too, and a screen reader reads their names.

Lines differ by dashes and markers beside colours, so that the chart can be read without these.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .templates import environment, resource

_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 14, 46
_COLOURS = 6  # classes line-1 to line-6 of the style sheet
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5", "1 4")
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MANY_POINTS = 30  # more are drawn without markers


class Line(NamedTuple):
    """A line: its name in the legend, and (x, y) points with y from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """The horizontal axis: its title, ticks with their labels, and how far it reaches."""

    title: str
    ticks: Sequence[tuple[float, str]]
    low: float = 0.0
    high: float = 1.0

    def across(self, value: float) -> float:
        """Place a value, in units of the picture."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


FRACTION_TICKS = tuple((tick, f"{100 * tick:.0f}") for tick in _TICKS)


def line_chart(
    title: str, x: Axis, y_title: str, lines: Sequence[Line], diagonal: bool = False
) -> str:
    """Draw lines over an axis, y in per cent.

    title (str): what a screen reader says. diagonal (bool): draw y = x, for comparison.
    RETURNS (str): an `svg` element and a legend.
    """
    return environment().from_string(resource("chart.svg.j2")).render(
        title=title, width=_WIDTH, height=_HEIGHT, left=_LEFT, right=_WIDTH - _RIGHT,
        bottom=_HEIGHT - _BOTTOM, middle=(_LEFT + _WIDTH - _RIGHT) / 2,
        centre=(_TOP + _HEIGHT - _BOTTOM) / 2, x_title=x.title, y_title=y_title,
        x_ticks=[(x.across(value), label) for value, label in x.ticks],
        y_ticks=[(_down(tick), f"{100 * tick:.0f}") for tick in _TICKS],
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
