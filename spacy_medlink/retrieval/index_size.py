"""The default index for a number of names, and its size; works without faiss."""

from typing import NamedTuple

# Names up to which an index compares all vectors, codes of all vectors, or is a graph.
_FLAT, _CODES, _GRAPH = 20_000, 500_000, 2_000_000
_LISTS = 8192
_LINKS = 275  # bytes of a name's links in a graph: 64 on the lowest level, few above
_NUMBER = 8  # bytes of a name's row in a list


class IndexSize(NamedTuple):
    """A faiss factory string, and the bytes of such an index: in memory to search it, on disk."""

    spec: str
    memory: int
    disk: int


def default_spec(n_names: int, dim: int) -> str:
    """Choose a faiss factory string by the number of names.

    A "Flat" index compares all vectors while that takes a millisecond. Codes of half a byte for
    four dimensions are compared faster, and the best are scored again by their vectors. A graph is
    fast and keeps a byte a dimension, but takes long to build. The largest indices compare codes in
    a few of many lists, and score the best again by vectors that may be on disk.
    """
    if n_names <= (_CODES if dim % 4 else _FLAT):
        return "Flat"
    if n_names <= _CODES:
        return f"PQ{dim // 4}x4fs,RFlat"
    if n_names <= _GRAPH or dim % 4:
        return "HNSW32,SQ8"
    return f"IVF{_LISTS},PQ{dim // 4}x4fs,Refine(SQ8)"


def default_size(n_names: int, dim: int) -> IndexSize:
    """Estimate the size of the default index over so many names."""
    spec = default_spec(n_names, dim)
    if spec == "Flat":
        memory = disk = 4 * dim * n_names
    elif spec.endswith("RFlat"):
        memory = disk = (4 * dim + dim // 8) * n_names
    elif spec.startswith("HNSW"):
        memory = disk = (dim + _LINKS) * n_names
    else:
        memory = (dim // 8 + _NUMBER) * n_names + 4 * dim * _LISTS
        disk = memory + dim * n_names
    return IndexSize(spec, memory, disk)
