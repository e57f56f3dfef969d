"""Protection against damaged or hostile encoder files, which make libraries fail or hang."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Errors
from ..util import devices

# Far above any model. A damaged file may say billions, which would take hours to fail.
_MOST: dict[str, int] = {
    "hidden_size": 1 << 16,
    "intermediate_size": 1 << 18,
    "max_position_embeddings": 1 << 21,
    "num_attention_heads": 1 << 12,
    "num_hidden_layers": 1 << 9,
    "type_vocab_size": 1 << 16,
    "vocab_size": 1 << 23,
}


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


def check_config(directory: Path) -> None:
    """Check the sizes in config.json, before anything of these sizes is made.

    RAISES (MedlinkError): E206.
    """
    path = directory / "config.json"
    try:
        config: Any = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError) as error:
        raise Errors.encoder_damaged(path=directory, reason=f"{path.name}: {error}") from error
    if not isinstance(config, dict):
        raise Errors.encoder_damaged(path=directory, reason=f"{path.name} is not an object")
    for name, most in _MOST.items():
        value = config.get(name, 1)
        if type(value) is not int or not 0 <= value <= most:
            reason = f"{path.name}: {name} is {str(value)[:20]}"
            raise Errors.encoder_damaged(path=directory, reason=reason)
