"""Finding the largest batch that fits into memory."""

from collections.abc import Callable

from spacy_medlink.util.devices import free_memory, is_out_of_memory


def largest_fit(attempt: Callable[[int], object], count: int) -> int:
    """Halve a batch until it fits.

    attempt (Callable): tries a batch of a number of names. count (int): a number that did not fit.
    RETURNS (int): names that fitted, 0 when not even one did.
    """
    while count := count // 2:
        free_memory()
        try:
            attempt(count)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        else:
            return count
    return 0
