"""A directory of .npy arrays, read memory-mapped: the file format of the exact and n-gram tiers."""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike

from ..errors import Errors
from ..types import Array
from ..util.held import view

_HEADER = 1 << 12  # bytes to read; the header of one plain array takes 128
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def save_arrays(directory: Path, arrays: Mapping[str, Array]) -> None:
    """Write each array to `directory/<name>.npy`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(directory / f"{name}.npy", array, allow_pickle=False)


def load_arrays(directory: Path, **types: DTypeLike) -> list[Array]:
    """Map arrays of one dimension into memory; pages are shared between processes.

    types: the type of each array, by name; `object` allows several types.
    RAISES (MedlinkError): E202 when one is missing, damaged, or of another type or shape.
    """
    return [_load(directory, name, type) for name, type in types.items()]


def has_array(directory: Path, name: str) -> bool:
    """Tell whether an array was saved in a directory."""
    return (directory / f"{name}.npy").is_file()


def damaged(directory: Path, name: str, problem: object) -> Exception:
    """Make the error for a damaged part: E202."""
    return Errors.assets_incomplete(path=directory, problem=f"{name}: {problem}")


def check(directory: Path, name: str, is_right: object, rule: str) -> None:
    """Check a condition on an array before it is used.

    RAISES (MedlinkError): E202 with the rule that is broken.
    """
    if not is_right:
        raise damaged(directory, f"{name}.npy", rule)


def check_offsets(directory: Path, name: str, offsets: Array, end: int) -> None:
    """Check that an array holds the offsets of parts of another array with `end` entries.

    RAISES (MedlinkError): E202.
    """
    ascends = len(offsets) and offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all()
    check(directory, name, ascends and offsets[-1] == end, f"does not ascend from 0 to {end}")


def check_below(directory: Path, name: str, numbers: Array, limit: int) -> None:
    """Check that all numbers of an array are positions in something with `limit` entries.

    RAISES (MedlinkError): E202.
    """
    is_within = not len(numbers) or (numbers.min() >= 0 and int(numbers.max()) < limit)
    check(directory, name, is_within, f"leaves 0..{limit - 1}")


def _load(directory: Path, name: str, type: DTypeLike) -> Array:
    file = f"{name}.npy"
    try:
        array = mapped(directory / file)
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise damaged(directory, file, error) from error
    if array.ndim != 1:
        raise damaged(directory, file, f"{array.ndim} dimensions, expected 1")
    if type is not object and array.dtype != np.dtype(type):
        raise damaged(directory, file, f"{array.dtype}, expected {np.dtype(type)}")
    return array


def mapped(file: Path) -> Array:
    """Map the array of an .npy file into memory, without a copy.

    RAISES (ValueError): when the file holds no array, is cut off, or holds Python objects.
    """
    content = view(file)
    start = io.BytesIO(content[:_HEADER])
    read = _HEADERS.get(npy.read_magic(start))
    if read is None:
        raise ValueError("an unknown version of the format")
    shape, by_column, dtype = read(start)
    if dtype.hasobject or (by_column and len(shape) > 1):
        raise ValueError("not a plain array of numbers")
    count = 1
    for length in shape:
        count *= length
    if count < 0 or start.tell() + count * dtype.itemsize != len(content):
        raise ValueError(f"{len(content)} bytes do not fit its shape {shape}")
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(content, dtype, count, start.tell()).reshape(shape)
