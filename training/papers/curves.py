"""Curves: accuracy by depth, a panel for each part of a table (ClinLinker's figures 3 and 4)."""

from collections.abc import Iterator, Mapping
from html import escape
from math import log
from typing import Any

from .table import Table

_WIDTH, _HEIGHT, _EDGE, _LINE = 420, 260, 40, 15  # of a panel and its legend, in pixels
_FEWEST = 3  # depths that make a curve
Points = list[tuple[int, float]]


def curves(table: Table) -> str:
    """Draw a table as SVG, ours as lines and the published figures dashed; "" with few depths."""
    panels = [
        (part, found) for part in table["parts"]
        if (found := list(_curves(table["rows"], part)))
    ]  # fmt: skip
    if not panels:
        return ""
    legend = max(len(found) for _, found in panels) * _LINE
    size = f'width="{len(panels) * _WIDTH}" height="{_HEIGHT + _EDGE + legend}"'
    drawn = (_panel(number * _WIDTH, part, found) for number, (part, found) in enumerate(panels))
    style = "<style>text{font:11px sans-serif}polyline{fill:none}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{"".join(drawn)}</svg>'


def _curves(rows: list[dict[str, Any]], part: str) -> Iterator[tuple[str, bool, Points]]:
    """List the curves of a part: system, whether it is the published one, and points."""
    for row in rows:
        for whose in ("ours", "published"):
            points = list(_points(row[whose].get(part, {})))
            if len(points) >= _FEWEST:
                yield row["system"], whose == "published", points


def _points(figures: Mapping[str, float | None]) -> Iterator[tuple[int, float]]:
    for name, value in figures.items():
        depth = name.removeprefix("acc@")
        if depth != name and depth.isdigit() and value is not None:
            yield int(depth), value


def _panel(left: int, part: str, found: list[tuple[str, bool, Points]]) -> str:
    points = [point for _, _, own in found for point in own]
    deepest, lowest = max(depth for depth, _ in points), min(value for _, value in points)

    def at(depth: int, value: float) -> str:
        x = left + _EDGE + (_WIDTH - 2 * _EDGE) * log(depth) / log(deepest)
        y = _EDGE + (_HEIGHT - _EDGE) * (100 - value) / max(1.0, 100 - lowest)
        return f"{x:.1f},{y:.1f}"

    depths = " ".join(f"@{depth}" for depth in sorted({depth for depth, _ in points}))
    title = f"{escape(part)}: accuracy from {lowest:.0f} to 100 at {depths}"
    lines = [f'<text x="{left + _EDGE}" y="{_EDGE // 2}">{title}</text>']
    colours = {name: number for number, name in enumerate(dict.fromkeys(one[0] for one in found))}
    for number, (system, is_published, own) in enumerate(found):
        colour = f"hsl({360 * colours[system] // len(colours)},70%,40%)"
        dashes = ' stroke-dasharray="4"' if is_published else ""
        path = " ".join(at(*point) for point in own)
        lines.append(f'<polyline points="{path}" stroke="{colour}"{dashes}/>')
        name = f"{system}, published" if is_published else system
        y = _HEIGHT + _EDGE // 2 + number * _LINE
        lines.append(f'<text x="{left + _EDGE}" y="{y}" fill="{colour}">{escape(name)}</text>')
    return "".join(lines)
