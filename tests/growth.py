"""How work grows: counted in calls, which are the same on every machine, or in seconds of CPU."""

import gc
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.timing import cpu_seconds


def calls(work: Callable[..., object], *given: Any) -> int:
    """Count the calls of functions, those of C included, and the steps of generators."""
    count = 0

    def one_more(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(one_more)
    try:
        work(*given)
    finally:
        sys.setprofile(before)
    return count


def seconds(work: Callable[..., object], *given: Any, repeats: int = 3) -> float:
    """Measure the CPU time of this process: the least of some runs."""
    gc.disable()  # it would add what other objects of the process cost
    try:
        return min(cpu_seconds(lambda: work(*given)) for _ in range(repeats))
    finally:
        gc.enable()


def exponent(work: Mapping[int, float]) -> float:
    """Fit work = c * size ** exponent, by least squares over the logarithms."""
    sizes = [math.log(size) for size in work]
    values = [math.log(max(value, 1e-9)) for value in work.values()]
    middle, height = sum(sizes) / len(sizes), sum(values) / len(values)
    rises = sum((x - middle) * (y - height) for x, y in zip(sizes, values, strict=True))
    return rises / sum((x - middle) ** 2 for x in sizes)
