"""Whether an array is a view of a mapped file."""

from mmap import mmap
from typing import Any

from numpy.typing import NDArray


def is_mapped(array: NDArray[Any]) -> bool:
    base: object = array
    while base is not None and not isinstance(base, mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return isinstance(base, mmap)
