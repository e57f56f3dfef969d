"""Reports of a running training: a log of JSON lines, and a progress bar on a terminal."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from spacy_medlink.util.outputs import check_output, marked
from spacy_medlink.util.progress import Log

from .checkpoint import Progress

_EVERY = 10
_PARTS = 1000
LOG = marked("the log of a training", '{"step": ')


class MetricsLog:
    """A log in JSON lines of losses and evaluations.

    Losses, means of 10 steps: {"step", "loss", "mined", "rate", "names_per_s"}. Evaluations:
    {"step", "dev": {...}}.

    path (Optional[Path]): the file, None for a rank that does not write.
    step (int): lines after this step are dropped, since a resumed training repeats them.
    RAISES (MedlinkError): E120, E124 for a file of another kind.
    """

    def __init__(self, path: Path | None, step: int) -> None:
        if path is not None:
            check_output(path, LOG)
        path = path or Path(os.devnull)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = [line for line in read_log(path) if line["step"] <= step] if step else []
        self._file = path.open("w", encoding="utf-8")
        self._waiting: list[dict[str, float]] = []
        for line in kept:
            self._write(line)

    def add(self, step: int, loss: float, **figures: float) -> None:
        """Note the figures of a step."""
        self._waiting.append({"loss": loss, **figures})
        if step % _EVERY == 0:
            self.flush(step)

    def add_dev(self, step: int, figures: dict[str, float]) -> None:
        """Note an evaluation."""
        self.flush(step)
        self._write({"step": step, "dev": figures})

    def flush(self, step: int) -> None:
        """Write the means of the figures not written yet."""
        if not self._waiting:
            return
        mean = {
            key: float(np.mean([line[key] for line in self._waiting])) for key in self._waiting[0]
        }
        speed = mean.pop("names") / max(mean.pop("seconds"), 1e-9)
        self._write({"step": step, **mean, "names_per_s": round(speed, 1)})
        self._waiting.clear()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read a log; an incomplete last line is left out."""
    lines = []
    for text in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            break
    return lines


class ProgressBar:
    """A progress bar of the training on a terminal, lines in a log.

    shown (bool): False for a rank without output.
    """

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
