"""Relations as triples of names to train on: head, relation, tail, and a wrong tail."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Ints1d, Ints2d

from .names import TrainingNames


class Triples(NamedTuple):
    """Relations between names; each column is (n,), positions of training names.

    heads, tails: in the relation. wrong: names of random concepts, in place of the tails.
    kinds: number of the relation.
    """

    heads: Ints1d
    tails: Ints1d
    wrong: Ints1d
    kinds: Ints1d


class RelationSampler:
    """A sampler of the names of random triples: relations of the knowledge base (CODER).

    Each relation gives triples in both directions, with a separate vector for each direction.

    names (TrainingNames): trainable names are drawn. batch_names (int): names a batch, about.
    each (int): names of an end, at most (CODER: eight).
    RAISES (MedlinkError): E407 when no relation joins two concepts with names to train on.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        names: TrainingNames,
        batch_names: int,
        each: int,
        seed: int,
    ) -> None:
        self._usable = np.flatnonzero(names.trainable)
        self._rows, self._first, self._sizes = np.unique(
            names.concepts[self._usable], return_index=True, return_counts=True
        )
        self.kinds: list[str] = []
        self._edges = self._known(kb)
        if not len(self._edges) or len(self._rows) < 3:
            raise Errors.nothing_there(
                path=kb.path,
                what="relation between concepts with names to train on",
                remedy="Build it from a source with a hierarchy, or set weight = 0 in [relations].",
            )
        self._each, self._seed = each, seed
        self._count = self._filling(batch_names)
        self.steps_per_epoch = -(-len(self._edges) // self._count)

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        return np.unique(np.concatenate(self.draw(step)[:3]))

    def draw(self, step: int) -> Triples:
        """Draw the triples of a step."""
        rng = np.random.default_rng((self._seed, step))
        subjects, kinds, objects = self._edges[rng.integers(len(self._edges), size=self._count)].T
        inverse = rng.integers(2, size=self._count)
        heads = np.where(inverse, objects, subjects)
        tails = np.where(inverse, subjects, objects)
        # Any concept but the two of the relation.
        wrong = rng.integers(len(self._rows) - 2, size=self._count)
        wrong += wrong >= np.minimum(heads, tails)
        wrong += wrong >= np.maximum(heads, tails)
        drawn = [[self._names(concept, rng) for concept in part] for part in (heads, tails, wrong)]
        longest = [max(len(head), len(tail)) for head, tail, _ in zip(*drawn, strict=True)]
        # The end with fewer names repeats them.
        ends, tailed, astray = (
            np.concatenate([np.resize(names, n) for names, n in zip(part, longest, strict=True)])
            for part in drawn
        )
        return Triples(ends, tailed, astray, np.repeat(2 * kinds + inverse, longest))

    def _names(self, concept: int, rng: np.random.Generator) -> Ints1d:
        """Draw different names of a concept."""
        size = self._sizes[concept]
        places = rng.choice(size, size=min(self._each, size), replace=False)
        positions: Ints1d = self._usable[self._first[concept] + places]
        return positions

    def _filling(self, batch_names: int) -> int:
        """Count the relations whose heads, tails and wrong tails fill a batch on average."""
        sizes = np.minimum(self._sizes, self._each)
        ends = sizes[self._edges[:, 0]].mean() + sizes[self._edges[:, 2]].mean()
        return max(1, int(batch_names / float(ends + sizes.mean()) + 0.5))

    def _known(self, kb: KnowledgeBase) -> Ints2d:
        """List the relations between concepts that have names.

        RETURNS (Ints2d): (n, 3), numbers of `_rows`, of `kinds`, and of `_rows` again.
        """
        edges = np.fromiter(self._numbers(kb), dtype=np.int64).reshape(-1, 3)
        ends = edges[:, [0, 2]]
        places = np.searchsorted(self._rows, ends).clip(max=max(0, len(self._rows) - 1))
        both_named = ends[:, 0] != ends[:, 1]
        both_named &= (self._rows[places] == ends).all(axis=1) if len(self._rows) else False
        edges_between: Ints2d = np.stack([places[:, 0], edges[:, 1], places[:, 1]], axis=1)[
            both_named
        ]
        return edges_between

    def _numbers(self, kb: KnowledgeBase) -> Iterator[int]:
        numbers: dict[str, int] = {}
        for subject, relation, object, _ in kb.iter_relations():
            yield from (subject, numbers.setdefault(relation, len(numbers)), object)
        self.kinds = list(numbers)
