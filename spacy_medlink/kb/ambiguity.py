"""Names that several concepts have."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from .knowledge_base import KnowledgeBase


class AmbiguousName(NamedTuple):
    """A name as its first concept writes it, and the ids of all concepts that have it."""

    name: str
    ids: tuple[str, ...]


class Ambiguity(NamedTuple):
    """The ambiguous names of a knowledge base.

    names (int): how many names several concepts share. worst (List[AmbiguousName]): the names that
        most concepts share.
    """

    names: int
    worst: list[AmbiguousName]


def ambiguity_of(kb: KnowledgeBase, most: int = 20) -> Ambiguity:
    """Find the names that several concepts share; case, accents and plural make no difference.

    most (int): the number of names to list, those with the most concepts first.
    RAISES (MedlinkError): E102 when the file is damaged.
    """
    flat = np.fromiter(chain.from_iterable(kb.lookup_table()), dtype=np.int64)
    hashes, rows = flat.reshape(-1, 2).T
    concepts = kb.name_concepts()[rows]
    # Sorted by hash, then by row, so that the names of a concept lie together.
    is_new = np.append(True, (hashes[1:] != hashes[:-1]) | (concepts[1:] != concepts[:-1]))
    hashes, rows, concepts = (one[is_new[: len(one)]] for one in (hashes, rows, concepts))
    firsts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
    counts = np.diff(np.append(firsts, len(hashes)))
    worst = []
    for place in np.argsort(-counts, kind="stable")[:most].tolist():
        first, count = int(firsts[place]), int(counts[place])
        if count > 1:
            name = kb.name_at(int(rows[first])).text
            own = concepts[first : first + count].tolist()
            worst.append(AmbiguousName(name, tuple(kb.concept_at(row).id for row in own)))
    return Ambiguity(int((counts > 1).sum()), worst)
