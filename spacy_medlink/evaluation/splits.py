"""Filtered test sets: without the mentions that a system could have learned by heart.

After "Medical Crossing" (Alekseev et al., 2022): a mention is taken out when it equals a string of
the reference (training mentions, or the dictionary), or is nearer to one than a given distance.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

import numpy as np

_CHUNK = 20_000  # reference strings compared at a time


def near_references(
    texts: Collection[str], references: Iterable[str], min_distance: float
) -> dict[str, bool]:
    """Find the texts that are in the reference, or near it. Case does not count.

    texts (Collection[str]): mentions. references (Iterable[str]): streamed.
    min_distance (float): Levenshtein distance over the longer length, below which two are near.
    RETURNS (Dict[str, bool]): text to True where it is in the reference, False where it is only
        near; texts that are neither are missing.
    """
    wanted = defaultdict(list)
    for text in texts:
        wanted[text.lower()].append(text)
    known: set[str] = set()
    near: set[str] = set()
    for chunk in _chunks(reference.lower() for reference in references):
        known.update(wanted.keys() & chunk)
        near |= _near(wanted.keys() - known - near, chunk, min_distance)
    return {
        text: folded in known
        for folded, own in wanted.items()
        if folded in known or folded in near
        for text in own
    }


def _chunks(references: Iterator[str]) -> Iterator[set[str]]:
    while chunk := set(islice(references, _CHUNK)):
        yield chunk


def _near(texts: Collection[str], references: Collection[str], distance: float) -> set[str]:
    """Compare texts with the references of about their length; others cannot be near."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    if distance <= 0:
        return set()
    by_length = _by_length(references)
    found: set[str] = set()
    for length, own in _by_length(texts).items():
        others = [
            reference
            for other, members in by_length.items()
            if abs(length - other) < distance * max(length, other)
            for reference in members
        ]
        if others:
            distances = process.cdist(
                own, others, scorer=Levenshtein.normalized_distance, score_cutoff=distance,
                dtype=np.float32,
            )  # fmt: skip
            found.update(np.asarray(own, dtype=object)[(distances < distance).any(axis=1)])
    return found


def _by_length(texts: Iterable[str]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for text in texts:
        groups[len(text)].append(text)
    return groups
