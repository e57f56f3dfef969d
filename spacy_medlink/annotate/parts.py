"""PartStream: the parts of an input that are still to be linked; it can be pickled."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .documents import Part, parts_of
from .inputs import Columns, open_input


@dataclass(frozen=True)
class PartStream:
    """The parts of an input, read anew in each iteration.

    size (int): documents a part. done (FrozenSet[int]): parts to leave out.
    """

    path: Path
    columns: Columns
    size: int
    done: frozenset[int] = frozenset()

    def __iter__(self) -> Iterator[Part]:
        for part in parts_of(open_input(self.path, self.columns).read(), self.size):
            if part.number not in self.done:
                yield part
