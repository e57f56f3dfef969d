"""The last run of every benchmark against the committed one, as ratios.

    python -m benchmarks.ratios
    python -m benchmarks.ratios --most 1.5      # exit code 1 where a figure is worse by more

Figures are compared where both runs had the same size. The table warns where the machines differ,
since a ratio says little then. Only names that tell which way is better are compared: low for
`..._s`, `..._ms`, `..._us`, `..._mb` and such, high for `..._per_s`, `acc@...` and such.
"""

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

ROOT = Path(__file__).parents[1]
RESULTS = Path("benchmarks/results")
_HIGH = re.compile(
    r"per_s\b|acc@|recall|precision|coverage|mrr|accuracy|\bratio\b|speed-?up|\b(?:whole|right)$"
)
_LOW = re.compile(r"(_|^)(s|ms|us|mb|seconds|bytes|ece)$|^starts\b|\bbeside$")
# Facts about the run, not about the code: those that must be equal, and those that do not matter.
_SIZES = ("concepts_asked", "names_asked", "mentions", "names", "queries", "distinct", "candidates",
          "pairs_a_batch", "dim")  # fmt: skip
_MACHINE = "machine"
_SAME_MACHINE = ("processor", "cores", "device")
_IGNORED = ("wanted", "machine", "profile")


class Figure(NamedTuple):
    """A figure of two runs. factor (float): how many times worse now; below 1 it is better."""

    name: str
    before: float
    now: float
    factor: float


class Comparison(NamedTuple):
    """A benchmark's figures, or why there are none; a note where ratios say little."""

    benchmark: str
    figures: list[Figure]
    reason: str = ""
    note: str = ""


def compare_all(root: Path, revision: str) -> list[Comparison]:
    """Compare the result files of a checkout with those of a revision."""
    comparisons = []
    for path in sorted((root / RESULTS).glob("*.json")):
        before = _committed(root, path, revision)
        if before is None:
            comparisons.append(Comparison(path.stem, [], f"{revision} has no run"))
        else:
            comparisons.append(compare(path.stem, before, json.loads(path.read_text("utf-8"))))
    return comparisons


def compare(benchmark: str, before: dict[str, Any], now: dict[str, Any]) -> Comparison:
    """Compare two runs of a benchmark."""
    if before == now:
        return Comparison(benchmark, [], "no new run")
    other = [size for size in _SIZES if before.get(size) != now.get(size)]
    if other:
        return Comparison(benchmark, [], f"another size ({', '.join(other)})")
    old, new = dict(_figures(before)), dict(_figures(now))
    figures = [
        Figure(name, value, new[name], _factor(name, value, new[name]))
        for name, value in old.items()
        if name in new
    ]
    machines = [run.get(_MACHINE) or {} for run in (before, now)]
    differs = [key for key in _SAME_MACHINE if machines[0].get(key) != machines[1].get(key)]
    note = f"another machine ({', '.join(differs)})" if differs else ""
    return Comparison(benchmark, figures, "" if figures else "no common figure", note)


def worst(comparisons: list[Comparison]) -> float:
    """Find the largest factor by which a figure got worse, on the same machine."""
    factors = [one.factor for own in comparisons if not own.note for one in own.figures]
    return max(factors, default=1.0)


def table(comparisons: list[Comparison]) -> str:
    """Write comparisons as Markdown; a ratio is now divided by before."""
    lines = [
        "| benchmark | figure | committed | now | now / committed | |",
        "|---|---|---:|---:|---:|---|",
    ]
    for own in comparisons:
        for one in own.figures:
            ratio = f"{one.now / one.before:.2f}" if one.before else "-"
            lines.append(
                f"| {own.benchmark} | {one.name} | {one.before:,.4g} | {one.now:,.4g} | {ratio} | "
                f"{_word(one.factor)} |"
            )
    lines += [""] + [
        f"{own.benchmark}: {text}" for own in comparisons if (text := own.reason or own.note)
    ]
    return "\n".join(lines).rstrip()


def _figures(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """List the numbers of a run that can be better or worse, by the path to them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _IGNORED:
                yield from _figures(inner, (*place, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _figures(inner, (*place, str(number)))
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        name = ".".join(place)
        if _way(place):
            yield name, float(value)


def _way(place: tuple[str, ...]) -> int:
    """Tell whether high (1) or low (-1) is better; 0 if unknown. The last part of the name wins."""
    for part in reversed(place):
        if _HIGH.search(part):
            return 1
        if _LOW.search(part):
            return -1
    return 0


def _factor(name: str, before: float, now: float) -> float:
    way = _way(tuple(name.split(".")))
    if before == now:
        return 1.0
    worse, better = (now, before) if way < 0 else (before, now)
    return worse / better if better else math.inf


def _word(factor: float) -> str:
    if 0.8 <= factor <= 1.25:
        return ""
    return "worse" if factor > 1 else "better"


def _committed(root: Path, path: Path, revision: str) -> dict[str, Any] | None:
    """Read a file of a revision; None where the revision lacks it."""
    place = path.relative_to(root).as_posix()
    shown = subprocess.run(
        ["git", "show", f"{revision}:{place}"], cwd=root, capture_output=True, check=False
    )
    return json.loads(shown.stdout) if shown.returncode == 0 else None


def main(
    revision: Annotated[str, typer.Option(help="What to compare with.")] = "HEAD",
    most: Annotated[
        float, typer.Option(help="Exit with 1 where a figure is worse by more than this; 0: never.")
    ] = 0.0,
) -> None:
    """Print the last run of every benchmark against the committed one."""
    comparisons = compare_all(ROOT, revision)
    typer.echo(table(comparisons))
    factor = worst(comparisons)
    if most and factor > most:
        typer.echo(f"A figure is {factor:.2f} times worse, more than {most:g}.", err=True)
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
