"""Ctrl-C: finish the step, save, then stop."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

EXIT_CODE = 130


class StoppedError(Exception):
    """Training was stopped by the user; everything is in the checkpoint."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(f"Stopped. Go on with `--resume`; the checkpoint is {checkpoint}.")


@contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """Tell whether Ctrl-C was pressed; pressed once more, it stops at once."""
    asked = threading.Event()

    def ask(signal_number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    if threading.current_thread() is not threading.main_thread():  # which alone has handlers
        yield asked.is_set
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
