"""LinkProcess: a terminology in a process of its own.

So a request that takes too long can be stopped, and a fault in a library ends no service.
"""

import atexit
import gc
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from typing import Any

from ...errors import Errors, MedlinkError
from .terminology import Opening, Terminology

_ENDING = 5.0  # seconds for a killed process


class LinkProcess:
    """A Terminology in a process of its own, which is started when it is asked and does not run.

    RAISES (MedlinkError): as `Terminology`.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening, self._lock, self._is_closed = opening, Lock(), False
        self._process: SpawnProcess | None = None

    def ask(self, method: str, args: Sequence[Any], seconds: float) -> Any:
        """Ask a method of Terminology; a process that takes longer is ended.

        RAISES (MedlinkError): E626 after so many seconds, E656 where the process has ended, and
            what the method raises.
        """
        if not self._is_alive():
            self.start()
        try:
            self._connection.send((method, args))
            if not self._connection.poll(seconds):
                self._end()
                raise Errors.too_slow(seconds=seconds)
            is_good, answer = self._connection.recv()
        except (EOFError, OSError):
            self._end()
            raise Errors.process_ended(problem="has ended") from None
        if not is_good:
            raise answer
        return answer

    def start_again(self) -> None:
        """Start the process if it has ended, so that the next request need not wait for it."""
        if not self._is_alive():
            with suppress(MedlinkError):  # the next request says it
                self.start()

    def close(self) -> None:
        """End the process at once, and for good."""
        with self._lock:
            self._is_closed = True
        self._end()

    def start(self) -> Any:
        """Start the process. RETURNS: the facts of its Terminology."""
        context = get_context("spawn")
        self._connection, other = context.Pipe()
        with self._lock:
            if self._is_closed:
                raise Errors.process_ended(problem="ends with the service")
            self._process = context.Process(target=_work, args=(other, self._opening), daemon=True)
            self._process.start()
            atexit.register(_kill, self._process, os.getpid())
        other.close()
        try:
            is_good, answer = self._connection.recv()
        except (EOFError, OSError):
            raise Errors.process_ended(problem="has ended while it opened") from None
        if not is_good:
            raise answer
        return answer

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join(_ENDING)


def _kill(process: SpawnProcess, pid: int) -> None:
    """End a process that nobody closed; it takes no notice of SIGTERM, and exit would wait."""
    if os.getpid() == pid:
        process.kill()


def _work(connection: "Connection[Any, Any]", opening: Opening) -> None:
    """Answer until the service goes away; signals to stop are for the service, which waits."""
    for stop_signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop_signal, signal.SIG_IGN)
    terminology: Terminology | None = None
    asked: tuple[str, Sequence[Any]] = "facts", ()
    try:
        while True:
            try:
                if terminology is None:
                    terminology = Terminology(opening)
                    gc.freeze()  # what stays is not looked through for each text
                answer = True, getattr(terminology, asked[0])(*asked[1])
            except MedlinkError as error:
                answer = False, error
            except Exception as error:  # its text may quote a note
                answer = False, Errors.not_linked(problem=type(error).__name__)
            connection.send(answer)
            if terminology is None:
                return
            asked = connection.recv()
    except (EOFError, OSError):
        return
