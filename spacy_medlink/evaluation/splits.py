"""Splits: parts of a gold file without the mentions that a system could have memorised.

As in "Medical Crossing" (Alekseev et al., 2022), a mention is left out if it equals a string of
the reference (training mentions, or the dictionary), or is nearer to one than a given distance.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ..kb import KnowledgeBase
from ..kb.gold import read_gold
from ..kb.resolve import find_ids
from .gold_set import Case
from .labels import Seen, is_seen_code
from .settings import DICTIONARY, Settings

NEAR = 0.2  # Levenshtein distance over length
_CHUNK = 20_000  # reference strings compared at a time
FULL = "full"


class Splits(NamedTuple):
    """The cases of each split, and the content of the training mentions (None without any)."""

    keep: dict[str, list[bool]]
    seen: Seen | None


def make_splits(kb: KnowledgeBase, cases: Sequence[Case], settings: Settings) -> Splits:
    """Select the cases of each split.

    RETURNS (Splits): "full"; for each reference, "filtered_REFERENCE" without its mentions,
        and "filtered_0.2_REFERENCE" also without those nearer than that (Alekseev et al.,
        2022, section 2.6); with training mentions also "unseen_codes" (Gallego et al., 2024): the
        mentions of concepts that do not occur in training. {} without a reference.
    """
    keep: dict[str, list[bool]] = {}
    seen = None
    texts = {case.mention.text for case in cases}
    if settings.train_file:
        strings, ids = _training(settings.train_file)
        near = near_references(texts, strings)
        keep.update(_filtered(near, cases, "train"))
        rows = (concepts.rows for concepts in find_ids(kb, ids).values())
        met = frozenset(text for text, exact in near.items() if exact)
        seen = Seen(met, frozenset(ids), frozenset(chain.from_iterable(rows)))
        keep["unseen_codes"] = [not is_seen_code(case, seen) for case in cases]
    if DICTIONARY in settings.train:
        near = near_references(texts, kb.iter_texts())
        keep.update(_filtered(near, cases, "dictionary"))
    if keep:
        keep = {FULL: [True] * len(cases), **keep}
    return Splits(keep, seen)


def _filtered(
    near: dict[str, bool], cases: Sequence[Case], reference: str
) -> dict[str, list[bool]]:
    is_new: dict[str, Callable[[str], bool]] = {
        f"filtered_{reference}": lambda text: near.get(text) is not True,
        f"filtered_{NEAR:g}_{reference}": lambda text: text not in near,
    }
    return {name: [passes(case.mention.text) for case in cases] for name, passes in is_new.items()}


def _training(path: Path) -> tuple[dict[str, None], set[str]]:
    """Read the distinct mentions and gold ids of a file of training mentions."""
    texts: dict[str, None] = {}
    ids: set[str] = set()
    for document in read_gold(path):
        for mention in document.mentions:
            texts[mention.text] = None
            ids.update(mention.ids)
    return texts, ids


def near_references(
    texts: Collection[str], references: Iterable[str], min_distance: float = NEAR
) -> dict[str, bool]:
    """Find the texts that are in the reference, or near it. Case does not count.

    texts (Collection[str]): mentions. references (Iterable[str]): streamed.
    min_distance (float): Levenshtein distance over the longer length; a lower one is near.
    RETURNS (Dict[str, bool]): True for a text in the reference, False for one that is only near;
        all other texts are missing.
    """
    wanted = defaultdict(list)
    for text in texts:
        wanted[text.lower()].append(text)
    same: set[str] = set()
    near: set[str] = set()
    for chunk in _chunks(reference.lower() for reference in references):
        same.update(wanted.keys() & chunk)
        near |= _near(wanted.keys() - same - near, chunk, min_distance)
    return {
        text: folded in same
        for folded, spelled in wanted.items()
        if folded in same or folded in near
        for text in spelled
    }


def _chunks(references: Iterator[str]) -> Iterator[set[str]]:
    while chunk := set(islice(references, _CHUNK)):
        yield chunk


def _near(texts: Collection[str], references: Collection[str], distance: float) -> set[str]:
    """Compare texts with the references of similar length; others cannot be near."""
    if distance <= 0:
        return set()
    by_length = _by_length(references)
    near: set[str] = set()
    for length, alike in _by_length(texts).items():
        others = [
            reference
            for other, members in by_length.items()
            if abs(length - other) < distance * max(length, other)
            for reference in members
        ]
        if others:
            distances = process.cdist(
                alike, others, scorer=Levenshtein.normalized_distance, score_cutoff=distance,
                dtype=np.float32,
            )  # fmt: skip
            near.update(np.asarray(alike, dtype=object)[(distances < distance).any(axis=1)])
    return near


def _by_length(texts: Iterable[str]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for text in texts:
        groups[len(text)].append(text)
    return groups
