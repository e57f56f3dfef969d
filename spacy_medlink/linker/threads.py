"""A cap on the threads that one call of the linker may use."""

import sys

from threadpoolctl import ThreadpoolController


def cap_threads(threads: int) -> None:
    """Cap the threads of torch, OpenMP (faiss too) and BLAS, for calls from this thread.

    OpenMP keeps the number for each thread that calls it. It is lowered, never raised: in a forked
    child it is 1, since the parent's threads are not there and waiting for them would never end.
    """
    torch = sys.modules.get("torch")  # only what the tiers have loaded
    if torch is not None and torch.get_num_threads() > threads:
        torch.set_num_threads(threads)
    for library in ThreadpoolController().lib_controllers:
        if library.num_threads > threads:
            library.set_num_threads(threads)
