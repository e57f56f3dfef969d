"""Out of memory: how to tell, and how large a batch would have fitted."""

from collections.abc import Callable

import torch

# Processors have no exception of their own for it.
_SIGNS = ("can't allocate memory", "not enough memory", "out of memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that a device, or the machine, has no memory left."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def largest_fit(attempt: Callable[[int], object], count: int) -> int:
    """Halve a batch until it fits.

    attempt (Callable): tries a batch of so many names. count (int): names of one that did not fit.
    RETURNS (int): names that fitted, 0 when not even one did.
    """
    while count := count // 2:
        torch.cuda.empty_cache()
        try:
            attempt(count)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        else:
            return count
    return 0
