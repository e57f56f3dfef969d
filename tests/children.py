"""Forked children that never come back into the test that forked them."""

import os
import signal
from collections.abc import Callable

SECONDS = 30


def in_child(work: Callable[[], bool]) -> bool:
    """Tell whether a forked child finds something true; one that waits for ever does not."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest's own handler would go on with tests
        signal.alarm(SECONDS)
        os._exit(0 if work() else 1)
    finally:
        os._exit(2)
