"""A directory of .npy arrays, read memory-mapped: the file format of the exact and n-gram tiers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors


def save_arrays(directory: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to `directory/<name>.npy`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(directory / f"{name}.npy", array, allow_pickle=False)


def load_arrays(directory: Path, *names: str) -> list[NDArray[Any]]:
    """Map arrays into memory; pages are shared between processes.

    RAISES (MedlinkError): E202 when one is missing or damaged.
    """
    arrays = []
    for name in names:
        path = directory / f"{name}.npy"
        try:
            # An empty array cannot be mapped. Copy on write ("c"), not read-only ("r"), because
            # compiled extensions refuse read-only buffers even when they only read.
            mode: Literal["c"] | None = "c" if path.stat().st_size > 128 else None
            arrays.append(np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False)))
        except (OSError, ValueError) as error:
            raise Errors.assets_incomplete(
                path=directory.parent, problem=f"{directory.name}/{name}.npy: {error}"
            ) from error
    return arrays
