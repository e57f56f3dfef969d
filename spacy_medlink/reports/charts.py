"""Line charts as SVG, drawn by hand: nothing to install, sharp at any size, readable in the dark.

Colours come from the page's style sheet (classes line-1 to line-6). Lines differ by dashes and
markers too, so that the chart can be read without telling colours apart.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 14, 46
_COLOURS = 6
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


FRACTION_TICKS = tuple((tick, f"{100 * tick:.0f}") for tick in _TICKS)


def line_chart(
    title: str, x: Axis, y_title: str, lines: Sequence[Line], diagonal: bool = False
) -> str:
    """Draw lines over an axis, y in per cent.

    title (str): what a screen reader says. diagonal (bool): draw y = x, for comparison.
    RETURNS (str): an `svg` element and a legend.
    """
    parts = [_grid(x), _labels(x, y_title)]
    if diagonal:
        (x1, y1), (x2, y2) = _place(x, 0, 0), _place(x, 1, 1)
        parts.append(f'<line class="diagonal" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
    parts += [_line(x, number, line) for number, line in enumerate(lines)]
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg>{_legend(lines)}'
    )


def _grid(x: Axis) -> str:
    lines = []
    for tick in _TICKS:
        _, y = _place(x, x.low, tick)
        lines.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>')
        lines.append(f'<text class="tick end" x="{_LEFT - 7}" y="{y + 4}">{100 * tick:.0f}</text>')
    for value, label in x.ticks:
        place, _ = _place(x, value, 0)
        bottom = _HEIGHT - _BOTTOM
        lines.append(
            f'<line class="grid" x1="{place}" y1="{bottom}" x2="{place}" y2="{bottom + 5}"/>'
        )
        lines.append(f'<text class="tick mid" x="{place}" y="{bottom + 18}">{escape(label)}</text>')
    return "".join(lines)


def _labels(x: Axis, y_title: str) -> str:
    middle, centre = (_LEFT + _WIDTH - _RIGHT) / 2, (_TOP + _HEIGHT - _BOTTOM) / 2
    return (
        f'<text class="axis mid" x="{middle}" y="{_HEIGHT - 8}">{escape(x.title)}</text>'
        f'<text class="axis mid" transform="rotate(-90 14 {centre})" x="14" y="{centre}">'
        f"{escape(y_title)}</text>"
    )


def _line(x: Axis, number: int, line: Line) -> str:
    colour = f"line-{number % _COLOURS + 1}"
    dashes = _DASHES[number % len(_DASHES)]
    places = [_place(x, *point) for point in line.points]
    path = " ".join(f"{a},{b}" for a, b in places)
    markers = ""
    if len(places) <= _MANY_POINTS:
        markers = "".join(
            f'<circle class="{colour}" cx="{a}" cy="{b}" r="3.2"><title>{escape(line.name)}: '
            f"{100 * height:.1f} %</title></circle>"
            for (a, b), (_, height) in zip(places, line.points, strict=True)
        )
    return (
        f'<polyline class="{colour}" points="{path}" stroke-dasharray="{dashes}">'
        f"<title>{escape(line.name)}</title></polyline>{markers}"
    )


def _legend(lines: Sequence[Line]) -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 34 10" aria-hidden="true"><polyline '
        f'class="line-{number % _COLOURS + 1}" points="1,5 33,5" '
        f'stroke-dasharray="{_DASHES[number % len(_DASHES)]}"/></svg>{escape(line.name)}</li>'
        for number, line in enumerate(lines)
    )
    return f'<ul class="legend">{items}</ul>'


def _place(x: Axis, value: float, height: float) -> tuple[float, float]:
    share = (value - x.low) / (x.high - x.low) if x.high > x.low else 0.5
    across = _LEFT + share * (_WIDTH - _LEFT - _RIGHT)
    down = _HEIGHT - _BOTTOM - height * (_HEIGHT - _TOP - _BOTTOM)
    return round(across, 1), round(down, 1)
