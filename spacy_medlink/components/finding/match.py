"""Match: a mention that was found, as a run of pieces."""

from collections.abc import Sequence
from typing import NamedTuple


class Match(NamedTuple):
    """A mention that was found.

    start, end (int): its pieces, as in `pieces.between(start, end)`.
    words (FrozenSet[int]): the pieces that carry its meaning; not all, if others lie between.
    rows (Tuple[int, ...]): rows of the names that it may be.
    reading (str): its meaning, where the text differs: "palmar pits" for "palmar and plantar pits",
        "preauricular pit" for "pre-auricular pit", "kidney cyst" for "renal cysts"; else "".
    is_name (bool): whether the text itself is a name, no reading.
    is_joined (bool): whether signs lie within that may also part two mentions: another mention of
        the same words is preferred.
    label (str): a given label; "" where the names decide.
    """

    start: int
    end: int
    words: frozenset[int]
    rows: tuple[int, ...]
    reading: str = ""
    is_name: bool = True
    is_joined: bool = False
    label: str = ""


def runs(words: Sequence[str], longest: int) -> tuple[list[str], list[int]]:
    """Join each word with those after it: first all single words, then all pairs, and so on.

    RETURNS (Tuple[List[str], List[int]]): the runs, and how many there are up to each length.
    """
    own = list(words)
    joined: list[str] = []
    ends: list[int] = []
    for length in range(1, min(longest, len(own)) + 1):
        if length > 1:
            own = [f"{run} {word}" for run, word in zip(own, words[length - 1 :], strict=False)]
        joined += own
        ends.append(len(joined))
    return joined, ends
