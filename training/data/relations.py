"""The hierarchy as triples of names to train on: head, relation, tail, and a tail that is wrong."""

from typing import NamedTuple

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Ints1d, Ints2d

from .names import TrainingNames
from .sampler import Around, Sampler

KINDS = ("child of", "parent of")
"""The relations that a knowledge base keeps; each link is a triple in both directions."""


class Triples(NamedTuple):
    """Relations between names, each column (n,), of positions of training names.

    heads, tails: in the relation. wrong: names of concepts drawn at random, in place of the tails.
    kinds: which relation (`KINDS`).
    """

    heads: Ints1d
    tails: Ints1d
    wrong: Ints1d
    kinds: Ints1d


class Relations:
    """Draws triples: links of the hierarchy, and a name of each concept, all at random.

    names (TrainingNames): trainable ones are drawn. count (int): triples a batch.
    RAISES (MedlinkError): E519 when no link joins two concepts with names to train on.
    """

    def __init__(self, kb: KnowledgeBase, names: TrainingNames, count: int, seed: int) -> None:
        self._usable = np.flatnonzero(names.trainable)
        self._rows, self._first, self._sizes = np.unique(
            names.concepts[self._usable], return_index=True, return_counts=True
        )
        self._edges = self._known(kb)
        self._count, self._seed = count, seed
        if not len(self._edges) or len(self._rows) < 3:
            raise Errors.no_relations(path=kb.path)

    def draw(self, step: int) -> Triples:
        """Draw the triples of a step."""
        rng = np.random.default_rng((self._seed, step))
        parents, children = self._edges[rng.integers(len(self._edges), size=self._count)].T
        kinds = rng.integers(len(KINDS), size=self._count)
        heads = np.where(kinds == 0, children, parents)
        tails = np.where(kinds == 0, parents, children)
        # Any concept but the two of the link.
        wrong = rng.integers(len(self._rows) - 2, size=self._count)
        wrong += wrong >= np.minimum(heads, tails)
        wrong += wrong >= np.maximum(heads, tails)
        named = [self._name(part, rng) for part in (heads, tails, wrong)]
        return Triples(named[0], named[1], named[2], kinds)

    def _name(self, concepts: Ints1d, rng: np.random.Generator) -> Ints1d:
        place = (rng.random(len(concepts)) * self._sizes[concepts]).astype(np.int64)
        positions: Ints1d = self._usable[self._first[concepts] + place]
        return positions

    def _known(self, kb: KnowledgeBase) -> Ints2d:
        """List the links between concepts that have names: (n, 2), numbers of `_rows`."""
        edges = np.fromiter(
            (row for edge in kb.iter_edges() for row in edge), dtype=np.int64
        ).reshape(-1, 2)
        edges = edges[edges[:, 0] != edges[:, 1]]
        places = np.searchsorted(self._rows, edges).clip(max=max(0, len(self._rows) - 1))
        known = (self._rows[places] == edges).all(axis=1) if len(self._rows) else edges[:, 0] < 0
        found: Ints2d = places[known]
        return found


class RelationSampler(Around):
    """Adds the names of triples to the batches of another sampler."""

    def __init__(self, sampler: Sampler, relations: Relations) -> None:
        self._sampler, self._relations = sampler, relations

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        triples = self._relations.draw(step)
        return np.unique(np.concatenate([self._sampler.batch(step), *triples[:3]]))
