"""Offline positive pairs: two names of one concept (SapBERT, section 3.1)."""

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Ints1d

from ..recipe.settings import DataSettings
from .names import TrainingNames

Pairs = NDArray[np.int32]
_SPECIFIED = ("FSN", "FN")  # how SNOMED CT and the UMLS mark fully specified names


def pair_up(kb: KnowledgeBase, names: TrainingNames, data: DataSettings, seed: int) -> Pairs:
    """Make the pairs of synonyms that a recipe wants. seed (int): of their random trimming.

    RAISES (MedlinkError): E530 when there is none.
    """
    most = data.pairs_per_concept
    if data.pairs == "preferred":
        rows = [row for row, (_, name) in enumerate(kb.iter_names()) if name.tty in _SPECIFIED]
        specified = np.isin(names.rows, rows)
        pairs = preferred_pairs(names.concepts, names.trainable, specified, most, seed)
    else:
        pairs = make_pairs(names.concepts, names.trainable, most, seed)
    if not len(pairs):
        raise Errors.too_few_rows(
            path=kb.path, found=0, what="concepts with two names or more", wanted=2
        )
    return pairs


def make_pairs(concepts: Ints1d, trainable: NDArray[np.bool_], most: int, seed: int) -> Pairs:
    """Pair the names of every concept with each other, at most so many pairs a concept.

    A concept with more pairs keeps a random sample, drawn without listing all pairs; it depends
    only on the seed and the concept.

    concepts (Ints1d): concept row of every training name, ascending.
    trainable (NDArray[bool]): whether the name may be in pairs.
    most (int): pairs a concept, at most (the paper: 50).
    RETURNS (NDArray[np.int32]): (n_pairs, 2) positions of training names, the lower one first.
    """
    usable = np.flatnonzero(trainable)
    rows, first, counts = np.unique(concepts[usable], return_index=True, return_counts=True)
    blocks: list[Pairs] = [np.empty((0, 2), dtype=np.int32)]
    for size in np.unique(counts[counts > 1]).tolist():
        of_size = counts == size
        total = size * (size - 1) // 2
        if total <= most:
            blocks.append(_offset(_numbered(np.arange(total)), first[of_size]))
            continue
        for row, start in zip(rows[of_size].tolist(), first[of_size], strict=True):
            rng = np.random.default_rng((seed, row))
            chosen = np.sort(rng.choice(total, size=most, replace=False))
            blocks.append(_offset(_numbered(chosen), np.array([start])))
    pairs = usable[np.concatenate(blocks)].astype(np.int32)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def preferred_pairs(
    concepts: Ints1d,
    trainable: NDArray[np.bool_],
    specified: NDArray[np.bool_],
    most: int,
    seed: int,
) -> Pairs:
    """Pair one trainable name of every concept with each of the others.

    That is the first fully specified one, where there is one, as in ClinLinker (Gallego et al.
    2024, section 3.2), else the first, which is the preferred one. It comes first in the pairs.

    specified (NDArray[bool]): whether a name is fully specified. All else: as for `make_pairs`.
    """
    usable = np.flatnonzero(trainable)
    rows, first, counts = np.unique(concepts[usable], return_index=True, return_counts=True)
    blocks: list[Pairs] = [np.empty((0, 2), dtype=np.int32)]
    for row, start, count in zip(rows.tolist(), first.tolist(), counts.tolist(), strict=True):
        names = usable[start : start + count]
        anchor = specified[names].argmax()  # 0 if none is
        others = np.delete(names, anchor)
        if len(others) > most:
            rng = np.random.default_rng((seed, row))
            others = np.sort(rng.choice(others, size=most, replace=False))
        blocks.append(np.stack([np.full(len(others), names[anchor]), others], axis=1))
    return np.concatenate(blocks).astype(np.int32)


def _numbered(numbers: Ints1d) -> Ints1d:
    """Return pairs by number, in the order (0, 1), (0, 2), (1, 2), (0, 3) ...: (n, 2)."""
    high = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # The square root may be off by one for concepts with millions of pairs.
    high -= high * (high - 1) // 2 > numbers
    high += high * (high + 1) // 2 <= numbers
    return np.stack([numbers - high * (high - 1) // 2, high], axis=1)


def _offset(pattern: Ints1d, starts: Ints1d) -> Pairs:
    return (starts[:, None, None] + pattern[None]).reshape(-1, 2).astype(np.int32)
