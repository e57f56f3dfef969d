"""Concepts that a source spreads over several lines."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from ...types import Concept
from ..writer import unite


def united(pieces: Iterable[Concept]) -> Iterator[Concept]:
    """Unite the pieces of one id that follow each other.

    Pieces that lie apart are left to the builder, so that memory stays bounded.
    """
    for _, group in groupby(pieces, key=attrgetter("id")):
        yield unite(list(group))
