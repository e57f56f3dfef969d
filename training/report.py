"""The report of a finished training: lines for the terminal, figures for metrics.json."""

from typing import Any

from .choosing.selection import Figures, Halves, Selection
from .loop.checkpoint import Progress


def describe(halves: Halves) -> str:
    """Write the figures of both halves in a line."""
    return "; ".join(
        f"{half} acc@1 {own['acc@1']:.1f}, @5 {own['acc@5']:.1f}, @20 {own['acc@20']:.1f}"
        for half, own in halves.items()
    )


def verdict(selection: Selection) -> str:
    """Say what is shipped."""
    if not selection.part:
        return "the base is kept: what was trained did not beat it on dev"
    if selection.part == 1:
        return "the trained encoder"
    return f"{selection.part:g} x trained + {1 - selection.part:g} x base"


def speed(progress: Progress) -> float:
    """Compute names encoded a second, evaluations left out."""
    return progress.names / max(progress.training_seconds, 1e-9)


def ending(stopped_by: str) -> str:
    """Warn if the clock stopped a training, which is then not the recipe's."""
    if stopped_by != "minutes":
        return ""
    return "; stopped by --max-minutes before the recipe was done"


def training_figures(
    progress: Progress, stopped_by: str, base_shortlist: Figures
) -> dict[str, Any]:
    """Collect what the training did, and what ended it (`Trainer.stopped_by`)."""
    return {
        "stopped_by": stopped_by,
        "steps": progress.step,
        "names": progress.names,
        "seconds": round(progress.seconds, 1),
        "names_per_s": round(speed(progress), 1),
        "best_step": progress.best_step,
        "dev_shortlist": progress.history,
        "base_shortlist": base_shortlist,
    }
