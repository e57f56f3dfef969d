"""Reads the file of a faiss index, after a check of its header.

faiss trusts the sizes in a file: wrong ones end the process, or take all memory. The header is
checked here against the size of the file; inside a nested index only the checksum protects
(`verify`).
"""

import struct
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import DTypeLike

from ..errors import Errors
from ..types import Array
from .tuning import graph_of, untyped_faiss

_HEADER = struct.Struct("<4siqqqBi")  # name, dimensions, vectors, two unused, trained, metric
_SIZE = struct.Struct("<Q")
_FLAT = (b"IxFI", b"IxF2", b"IxFl")
_LARGEST_DIM = 1 << 16
_MOST_LEVELS = 64
_MOST_NEIGHBOURS = 1 << 26
_SIMPLE_METRICS = 2  # the other metrics add one number to the header


def read_index(file: Path, flags: int = 0) -> faiss.Index:
    """Read an index.

    RAISES (MedlinkError): E202 when it is missing or damaged.
    """
    try:
        _check(file)
        index = faiss.read_index(str(file), flags)
        _check_graph(index)
        return index
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        raise Errors.assets_incomplete(
            path=file.parent, problem=f"{file.name}: {_first_line(error)}"
        ) from error


def row_not_there(row: int, names: int) -> Exception:
    """Make the error for an index that gives a name that is not there: E202."""
    problem = f"the index gave name {row}, but there are only {names} names"
    return Errors.assets_incomplete(path="dense.faiss", problem=problem)


def _check(path: Path) -> None:
    """Check the header. RAISES (ValueError): with the problem."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            raise ValueError("no header of an index")
        name, dim, count, _, _, _, metric = _HEADER.unpack(head)
        if not 1 <= dim <= _LARGEST_DIM or not 0 <= count <= size:
            raise ValueError(f"a header of {count} vectors of {dim} dimensions")
        if name in _FLAT and 0 <= metric < _SIMPLE_METRICS:
            _check_flat(file.read(_SIZE.size), size - _HEADER.size - _SIZE.size, dim * count)


def _check_flat(size: bytes, left: int, numbers: int) -> None:
    """Check an index that holds only its vectors."""
    if len(size) < _SIZE.size or _SIZE.unpack(size) != (numbers,) or left != numbers * 4:
        raise ValueError(f"its size is not that of {numbers} numbers")


def _check_graph(index: faiss.Index) -> None:
    """Check that the neighbours in an HNSW graph are existing vectors.

    RAISES (ValueError): when one does not exist.
    """
    graph: Any = graph_of(index)  # whose stubs lack these vectors
    if graph is None:
        return
    neighbours, offsets = _view(graph.neighbors, np.int32), _view(graph.offsets, np.uint64)
    count, levels = len(offsets) - 1, _view(graph.levels, np.int32)
    # A graph that would take seconds to check is left to its checksum.
    ends = not len(offsets) or int(offsets[-1]) <= len(neighbours)
    if len(levels) != count or not ends or not -1 <= graph.entry_point < count:
        raise ValueError("a graph that is not whole")
    if not 0 <= graph.max_level < _MOST_LEVELS or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("a graph that is not whole")
    if 0 < len(neighbours) <= _MOST_NEIGHBOURS and not (
        neighbours.min() >= -1 and int(neighbours.max()) < count
    ):
        raise ValueError("a graph with neighbours that are not there")


def _view(vector: Any, dtype: DTypeLike) -> Array:
    """View the content of a vector of faiss as an array, without a copy."""
    size = vector.size()
    if not size:
        return np.empty(0, dtype)
    view: Array = untyped_faiss.rev_swig_ptr(vector.data(), size).view(dtype)
    return view


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
