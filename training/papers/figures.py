"""Figures beside a table, as SVG: panels with lines or dots over two axes.

Curves over depths (ClinLinker, figures 3 and 4), distributions (SapBERT, figure 2), and vectors in
the plane (CODER, figure 3).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from html import escape
from math import log
from typing import Literal, NamedTuple

from .table import TableRow

_WIDTH, _HEIGHT, _EDGE, _LINE = 420, 260, 40, 15  # of a panel and its legend, in pixels
_FEWEST = 3  # depths that make a curve
Look = Literal["line", "dashed", "dots"]
_WHOSE: tuple[tuple[Literal["ours", "published"], str, Look], ...] = (
    ("ours", "", "line"), ("published", ", published", "dashed"),
)  # fmt: skip
_STYLE = "text{font:11px sans-serif}polyline{fill:none}circle{stroke:none}"


class Series(NamedTuple):
    """Points (x, y) that belong together; equal colours are equal numbers."""

    name: str
    points: Sequence[tuple[float, float]]
    look: Look
    colour: int


class Panel(NamedTuple):
    """Series over the same axes. x, y (Mapping[float, str]): the ticks, with what they say."""

    title: str
    series: list[Series]
    x: Mapping[float, str] = {}
    y: Mapping[float, str] = {}


def curves(rows: Iterable[TableRow], parts: Iterable[str]) -> list[Panel]:
    """Make a panel of each part of a table: accuracy by depth, the published figures dashed."""
    panels = []
    for part in parts:
        series = [
            Series(f"{row['system']}{beside}", points, look, colour)
            for colour, row in enumerate(rows)
            for whose, beside, look in _WHOSE
            if len(points := list(_by_depth(row[whose].get(part, {})))) >= _FEWEST
        ]
        if series:
            depths = {x: f"@{round(2**x)}" for line in series for x, _ in line.points}
            lowest = min(y for line in series for _, y in line.points)
            panels.append(Panel(part, series, depths, {lowest: f"{lowest:.0f}", 100: "100"}))
    return panels


def _by_depth(figures: Mapping[str, float | None]) -> Iterator[tuple[float, float]]:
    for name, value in figures.items():
        depth = name.removeprefix("acc@")
        if depth != name and depth.isdigit() and value is not None:
            yield log(int(depth), 2), value


def draw(panels: Sequence[Panel]) -> str:
    """Draw panels beside each other; "" without one."""
    if not panels:
        return ""
    legend = max(len(panel.series) for panel in panels) * _LINE
    size = f'width="{len(panels) * _WIDTH}" height="{_HEIGHT + _EDGE + legend}"'
    drawn = (_panel(column * _WIDTH, panel) for column, panel in enumerate(panels))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>'
    return f"{head}{''.join(drawn)}</svg>"


def _panel(left: int, panel: Panel) -> str:
    """Draw a panel, which all points and ticks fill."""
    colours = 1 + max(series.colour for series in panel.series)
    x, y = _scale(panel, 0, left + _EDGE, left + _WIDTH - _EDGE), _scale(panel, 1, _HEIGHT, _EDGE)
    frame = f"M{left + _EDGE},{_EDGE}v{_HEIGHT - _EDGE}h{_WIDTH - 2 * _EDGE}"
    lines = [
        _text(left + _EDGE, _EDGE // 2, panel.title),
        f'<path d="{frame}" fill="none" stroke="#999"/>',
        *(_text(x(tick) - 6, _HEIGHT + _LINE, label) for tick, label in panel.x.items()),
        *(_text(left + 10, y(tick) + 4, label) for tick, label in panel.y.items()),
    ]
    for row, series in enumerate(panel.series):
        shares = hls_to_rgb(series.colour / colours, 0.4, 0.7)
        colour = "#" + "".join(f"{round(255 * share):02x}" for share in shares)
        lines.append(_shape(series, [(x(one), y(other)) for one, other in series.points], colour))
        height = _HEIGHT + _EDGE + row * _LINE
        lines.append(_text(left + _EDGE, height, series.name, f'fill="{colour}"'))
    return "".join(lines)


def _scale(panel: Panel, axis: int, first: float, last: float) -> Callable[[float], float]:
    """Make the function from values of an axis (0 is x) to pixels between two edges."""
    ticks = (panel.x, panel.y)[axis]
    values = [*ticks, *(point[axis] for series in panel.series for point in series.points)]
    low, high = min(values), max(values)
    return lambda value: first + (last - first) * (value - low) / ((high - low) or 1.0)


def _shape(series: Series, places: list[tuple[float, float]], colour: str) -> str:
    if series.look == "dots":
        dots = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in places)
        return f'<g fill="{colour}" fill-opacity="0.7">{"".join(dots)}</g>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashes = ' stroke-dasharray="4"' if series.look == "dashed" else ""
    return f'<polyline points="{path}" stroke="{colour}"{dashes}/>'


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{escape(words)}</text>'
