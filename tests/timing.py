"""Time that tests compare with limits."""

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Measure the processor time of a call: that of the wall depends on who else is busy."""
    start = time.process_time()
    work()
    return time.process_time() - start
