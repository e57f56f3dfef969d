"""Concepts that a source spreads over several lines."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from ...types import Concept
from ..writer import unite


def united(pieces: Iterable[Concept]) -> Iterator[Concept]:
    """Merge consecutive pieces of one id.

    The builder merges pieces that are not consecutive, so that memory stays bounded here.
    """
    for _, group in groupby(pieces, key=attrgetter("id")):
        yield unite(list(group))
