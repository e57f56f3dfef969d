"""The reliability diagram: what was promised against what came true, as a PNG file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..util.outputs import marked

_INCHES = (5.0, 5.4)
_DPI = 150
_SOFTWARE = "spacy-medlink reliability diagram"
DIAGRAM = marked("a reliability diagram", _SOFTWARE)


def draw_reliability(path: Path, bins: Sequence[Mapping[str, float]], error: float) -> None:
    """Draw the bins of `reliability_bins`.

    path (Path): of the file to write, `.png`. error (float): expected calibration error.
    RAISES (ImportError): where matplotlib is not installed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    promised = [one["prob"] for one in bins]
    above.plot((0, 1), (0, 1), color="0.6", linestyle="--", label="as promised")
    above.plot(promised, [one["accuracy"] for one in bins], marker="o", label="as it came")
    above.set(ylabel="share that was right", xlim=(0, 1), ylim=(0, 1))
    above.set_title(f"expected calibration error {error:.3f}", fontsize="medium")
    above.legend(loc="upper left", frameon=False)
    middles = [(one["low"] + one["high"]) / 2 for one in bins]
    widths = [one["high"] - one["low"] for one in bins]
    below.bar(middles, [one["weight"] for one in bins], width=widths, edgecolor="white")
    below.set(xlabel="probability of the first answer", ylabel="mentions")
    # What a file says of the day and the library would make equal diagrams differ.
    figure.savefig(path, dpi=_DPI, format="png", metadata={"Software": _SOFTWARE})
