"""FileThread: work with a file that is done or refused, also where its disk does not answer."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

UNWANTED = "nobody waits for it any more"


class FileThread:
    """A thread for the work with a file, so that a disk that hangs holds up nothing else."""

    def __init__(self) -> None:
        self._jobs = SimpleQueue[tuple[Future[Any], Callable[..., Any]] | None]()
        threading.Thread(target=self._run, daemon=True).start()

    def ask(self, work: Callable[["Future[Any]"], Any]) -> "Future[Any]":
        """Let work be done, which gets the Future of its answer; not where that is cancelled."""
        asked: Future[Any] = Future()
        self._jobs.put((asked, work))
        return asked

    def close(self) -> None:
        """End the thread when all is done."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            asked, work = job
            with suppress(InvalidStateError):  # it was cancelled
                try:
                    if not asked.cancelled():
                        asked.set_result(work(asked))
                except Exception as error:  # the thread must live on, and the caller must know
                    asked.set_exception(error)


def settle(asked: "Future[Any] | None") -> None:
    """Let what is done be kept. RAISES (OSError): where nobody waits for it any more."""
    if asked is not None and not asked.set_running_or_notify_cancel():
        raise OSError(UNWANTED)
