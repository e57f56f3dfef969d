"""Random numbers computed from a number and a seed, and files written in pieces."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


def draw(seed: int, stream: int, numbers: Ints) -> Bits:
    """Draw 64 random bits for each number, always the same (splitmix64).

    So any process can repeat a draw, in pieces of any size, and nothing is kept in memory.

    numbers (Ints): of the things to draw for, (n,). stream (int): number of the decision.
    RETURNS (Bits): (n,).
    """
    start = (seed * 1_000_003 + stream + 1) * 0x632BE59BD9B4E019 % 2**64
    values = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)), dtype=np.uint64)


def bits(values: Bits, shift: int, width: int) -> Ints:
    """Cut integers below 2**width out of drawn bits, from bit `shift` on."""
    return np.asarray((values >> np.uint64(shift)) & np.uint64((1 << width) - 1), dtype=np.int64)


def chance(seed: int, stream: int, numbers: Ints) -> Floats:
    """Draw from [0, 1) for each number, (n,)."""
    return np.asarray(draw(seed, stream, numbers) * 2.0**-64)


def write_tables(
    paths: Mapping[str, Path], pieces: Iterable[Mapping[str, Sequence[str]]], end: str = "\n"
) -> dict[str, int]:
    """Write several tables at once, piece by piece.

    paths (Mapping[str, Path]): a file for each table; directories are made.
    pieces (Iterable[Mapping[str, Sequence[str]]]): rows by table. end (str): of a row.
    RETURNS (dict[str, int]): rows of each table.
    """
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        files = {}
        for name, path in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            files[name] = stack.enter_context(path.open("w", encoding="utf8", newline=""))
        for piece in pieces:
            for name, rows in piece.items():
                files[name].writelines(row + end for row in rows)
                counts[name] += len(rows)
    return dict(counts)
