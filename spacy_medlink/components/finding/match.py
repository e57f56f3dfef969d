"""Match: a mention that was found, as a run of pieces."""

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
    is_short (bool): whether the text is a short form, by the document or a lexicon.
    label (str): a given label; "" where the names decide.
    """

    start: int
    end: int
    words: frozenset[int]
    rows: tuple[int, ...]
    reading: str = ""
    is_name: bool = True
    is_joined: bool = False
    is_short: bool = False
    label: str = ""
