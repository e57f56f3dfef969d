"""A progress bar of the training on a terminal, lines in a log."""

import sys

from tqdm import tqdm

from spacy_medlink.util.progress import Log

from .checkpoint import Progress

_PARTS = 1000


class ProgressBar:
    """The progress bar. shown (bool): False for a rank without output."""

    def __init__(self, shown: bool = True) -> None:
        self._hidden = None if shown else True
        self._log = Log() if shown and not sys.stderr.isatty() else None

    def __enter__(self) -> "ProgressBar":
        shape = "Training {percentage:3.0f}% |{bar}| {postfix}"
        self._bar = tqdm(total=_PARTS, bar_format=shape, disable=self._hidden, leave=False)
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def show(self, part: float, loss: float, progress: Progress) -> None:
        """Show how far training is. part (float): 0..1."""
        speed = progress.names / max(progress.training_seconds, 1e-9)
        left = tqdm.format_interval(progress.seconds * (1 - part) / max(part, 1e-9))
        dev = f", dev {progress.best:.3g}" if progress.history else ""
        line = f"loss {loss:.3f}{dev}, {speed:.0f} names/s, {left} left"
        self._bar.set_postfix_str(line, refresh=False)
        self._bar.update(int(_PARTS * part) - self._bar.n)
        if self._log is not None:
            self._log.tell(lambda _: f"Training {part:.0%}: {line}")
