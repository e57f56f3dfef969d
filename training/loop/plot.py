"""The picture of a training: loss and accuracy over steps, as PNG."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def plot(
    lines: Sequence[dict[str, Any]], picture: Path, metric: str, base: float, title: str
) -> None:
    """Draw the loss (left axis) and the metric on dev (right axis) against the step.

    lines (Sequence[Dict]): a training's log. base (float): the base's figure on the shortlist.
    """
    # Without pyplot: no window, no display, no global state.
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    left = figure.add_subplot()
    losses = [(line["step"], line["loss"]) for line in lines if "loss" in line]
    left.plot(*_columns(losses), color="tab:blue", label="loss")
    left.set(xlabel="step", ylabel="loss", title=title)
    right = left.twinx()
    dev = [(line["step"], line["dev"][metric]) for line in lines if "dev" in line]
    right.plot(*_columns(dev), color="tab:orange", marker="o", label=f"{metric}, trained")
    right.axhline(base, color="tab:gray", linestyle="--", label=f"{metric}, base")
    right.set_ylabel(f"{metric} on dev, among the shortlist")
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(picture, dpi=120, format="png")


def _columns(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [step for step, _ in points], [value for _, value in points]
