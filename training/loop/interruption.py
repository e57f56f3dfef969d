"""Ctrl-C: finish the step, save, then stop."""

import signal
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

EXIT_CODE = 130


class StoppedError(Exception):
    """Training was stopped by the user; everything is in the checkpoint."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(f"Stopped. Go on with `--resume`; the checkpoint is {checkpoint}.")


class Interruption:
    """A context in which the first Ctrl-C only sets `asked`; the second one stops at once."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> "Interruption":
        # Python lets only the main thread install handlers.
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, signal_number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
