"""What the generators share: counter-based random numbers, shuffles without memory, block writing.

Every random decision is a hash of (seed, stream, number of the thing decided about). So a decision
can be taken again anywhere, in any order and block size, and nothing has to be remembered.
"""

import gzip
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
SmallInts = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]

BLOCK = 65_536  # names worked on at a time: large enough for numpy, small enough for the cache


def mix(values: Bits) -> Bits:
    """Scramble 64-bit integers (the finaliser of splitmix64, a bijection).

    values (Bits): any shape.
    RETURNS (Bits): same shape.
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    out: Bits = values ^ (values >> np.uint64(31))
    return out


def draw(seed: int, stream: int, numbers: npt.ArrayLike) -> Bits:
    """Draw 64 random bits for each number; the same question always has the same answer.

    seed (int): the generator's seed.
    stream (int): what the bits are for; streams are independent.
    numbers (ArrayLike): non-negative integers, (n,).
    RETURNS (Bits): (n,).
    """
    key = mix(np.array([(seed * 1_000_003 + stream) % 2**64], dtype=np.uint64))
    return mix(np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key)


def bits(values: Bits, shift: int, width: int) -> Ints:
    """Cut a small integer out of drawn bits.

    values (Bits): as `draw` returns them.
    shift (int): lowest bit taken. width (int): number of bits taken.
    RETURNS (Ints): integers below 2**width.
    """
    out: Ints = ((values >> np.uint64(shift)) & np.uint64((1 << width) - 1)).astype(np.int64)
    return out


def unit(values: Bits) -> npt.NDArray[np.float64]:
    """Turn drawn bits into numbers in [0, 1).

    values (Bits): as `draw` returns them.
    RETURNS (NDArray[float64]): same shape.
    """
    out: npt.NDArray[np.float64] = (values >> np.uint64(11)) * 2.0**-53
    return out


class Shuffle:
    """A permutation of range(size) that is computed, not stored.

    size (int): number of things permuted, at most 2**31.
    seed (int): which permutation.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        stride = max(1, int(size * 0.6180339887))
        while math.gcd(stride, size) != 1:
            stride += 1
        self.stride = stride
        self.inverse_stride = pow(stride, -1, size)
        self.start = (seed * 7919 + 12_345) % size

    def __call__(self, numbers: Ints) -> Ints:
        """Where each number goes.

        numbers (Ints): values below size.
        RETURNS (Ints): values below size.
        """
        return (numbers * self.stride + self.start) % self.size

    def inverse(self, places: Ints) -> Ints:
        """Which number went to each place.

        places (Ints): values below size.
        RETURNS (Ints): values below size.
        """
        return (places - self.start) % self.size * self.inverse_stride % self.size


def scatter(numbers: Ints, width: int, seed: int) -> Ints:
    """Map integers below 2**width one to one onto integers that look random.

    numbers (Ints): values below 2**width. width (int): even, at most 62.
    seed (int): which mapping.
    RETURNS (Ints): values below 2**width, all different where the input is.
    """
    mask = np.uint64((1 << width) - 1)
    half = np.uint64(width // 2)
    key = draw(seed, 99, [0])
    values = (numbers.astype(np.uint64) ^ key) & mask
    for factor in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D):
        values = (values * np.uint64(factor)) & mask
        values ^= values >> half
    out: Ints = values.astype(np.int64)
    return out


def zipf_counts(total: int, parts: int, minimum: int, seed: int) -> Ints:
    """Share names among concepts: most have few, a few have hundreds, the sum is exact.

    total (int): number of names. parts (int): number of concepts. minimum (int): least a concept.
    seed (int): which sharing.
    RETURNS (Ints): names of each concept, (parts,).
    RAISES (ValueError): if there are too few names.
    """
    extra = total - minimum * parts
    if parts < 1 or extra < 0:
        raise ValueError(f"{parts} concepts need at least {minimum * parts} names, not {total}")
    weights = (1.0 - unit(draw(seed, 98, np.arange(parts)))) ** (-1 / 1.3) - 1.0
    # A Pareto tail this heavy has no end; in a real release a few hundred names are the most.
    mean = max(extra / parts, 1e-9)
    np.minimum(weights, max(300.0, 4 * mean) / mean * weights.mean(), out=weights)
    ends = np.cumsum(weights)
    ends *= extra / ends[-1]
    ends = np.rint(ends)
    return np.diff(ends, prepend=0).astype(np.int64) + minimum


def blocks(offsets: Ints, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Cut concepts into runs of about `size` names.

    offsets (Ints): first name of each concept, and the end, (n_concepts + 1,).
    size (int): names a block; a concept is never cut.
    YIELDS (tuple[int, int]): first concept and the one after the last.
    """
    first, count = 0, len(offsets) - 1
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


class Rows:
    """A text file written in blocks of rows, which counts them.

    file (IO[bytes]): where the bytes go. end (str): what ends a row.
    """

    def __init__(self, file: IO[bytes], end: str = "\n") -> None:
        self.file = file
        self.end = end
        self.count = 0

    def write(self, rows: list[str]) -> None:
        """Write rows, none of which has its line end.

        rows (list[str]): the rows.
        """
        if rows:
            self.count += len(rows)
            self.file.write((self.end.join(rows) + self.end).encode("utf8"))


@contextmanager
def open_rows(path: Path, end: str = "\n") -> Iterator[Rows]:
    """Open a file for writing; a name that ends in .gz is compressed, with no time stamp inside.

    path (Path): the file; its directory is made. end (str): what ends a row.
    YIELDS (Rows): what to write on.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
                yield Rows(cast(IO[bytes], packed), end)
        else:
            yield Rows(raw, end)


def open_lines(path: Path) -> TextIO:
    """Open a file, plain or .gz, for reading row by row.

    path (Path): the file.
    RETURNS (TextIO): gives the rows with their line ends; to be closed.
    """
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf8", newline="\n"))
    return path.open(encoding="utf8", newline="\n", buffering=1 << 20)
