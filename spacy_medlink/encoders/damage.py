"""Protection against damaged or hostile encoder files, which make libraries fail or hang."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Errors
from ..util import devices


def is_failure(error: BaseException) -> bool:
    """Tell whether an exception is an error, also a panic of Rust, and not the program's end."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def running() -> Iterator[None]:
    """Turn any exception of a running model into an error with a code.

    RAISES (MedlinkError): E222.
    """
    try:
        yield
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        if devices.is_out_of_memory(error):
            raise
        raise Errors.encoder_unfit(reason=str(error).partition("\n")[0]) from error
