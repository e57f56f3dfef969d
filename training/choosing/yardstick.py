"""Yardstick: measures encoders by the names they find, on the same terms as their base."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from spacy_medlink.assets.vector_store import DIRECTORY, KnownVectors, VectorStore
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d, Ints1d, Mention

from ..data.holdout import Holdout
from ..data.names import TrainingNames
from ..loop.encoding import encode_names
from ..loop.precision import Precision
from .selection import Figures, Halves
from .validation import QuerySet, measure, shortlist

_STORED = 200_000  # names, at most


class Yardstick:
    """Queries, the names to search, and how well the base finds the queries.

    queries (Mapping[str, QuerySet]): by the names of their figures; weights are chosen on "dev".
    nearest (int): names nearest to a query of "dev" by the base; only these are searched while
    training. among (Optional[int]): number of names to search, at most; None for all. If there are
    more, these are the names of the right concepts and random others, always the same.
    known (Sequence[KnownVectors]): vectors of the base.

    base (Halves): the base's figures among these names. vectors (Floats2d): the base's vectors of
    these names, (n, dim).
    """

    def __init__(
        self,
        base: BiEncoder,
        names: TrainingNames,
        queries: Mapping[str, QuerySet],
        nearest: int,
        precision: Precision,
        among: int | None = None,
        known: Sequence[KnownVectors] = (),
        facts: Mapping[str, int] | None = None,
    ) -> None:
        self._names, self._queries, self._precision = names, queries, precision
        golds = np.concatenate([own.golds for own in queries.values()])
        self._all: Ints1d = among_which(names.concepts, golds.tolist(), among)
        self._texts = names.texts_at(self._all)
        what = "Encoding names with the base"
        self.vectors: Floats2d = encode_names(base, self._texts, precision, what, known)
        self._made = [(base.fingerprint(), self.vectors)]
        self.base = self._measure(base, queries, self.vectors, self._all)
        vectors, dev = queries["dev"].encode(base, precision), queries["dev"]
        near = shortlist(vectors, dev.golds, self.vectors, names.concepts[self._all], nearest)
        self._shortlist: Ints1d = self._all[near]
        of_base = self._measure(base, ("dev",), self.vectors[near], self._shortlist)["dev"]
        self._fast = {base.fingerprint(): of_base}
        self._facts = facts or {f"{half}_queries": len(own) for half, own in queries.items()}

    @classmethod
    def of_holdout(
        cls,
        base: BiEncoder,
        names: TrainingNames,
        holdout: Holdout,
        nearest: int,
        precision: Precision,
        among: int | None = None,
        known: Sequence[KnownVectors] = (),
    ) -> "Yardstick":
        """Measure on held-out names, both halves."""
        halves = {"dev": holdout.dev, "test": holdout.test}
        queries = {
            half: QuerySet.of([query.text for query in part], [{query.concept} for query in part])
            for half, part in halves.items()
        }
        return cls(base, names, queries, nearest, precision, among, known)

    @classmethod
    def of_gold(
        cls,
        base: BiEncoder,
        names: TrainingNames,
        gold: Path,
        kb: KnowledgeBase,
        seen: Collection[str],
        nearest: int,
        precision: Precision,
    ) -> "Yardstick":
        """Measure on the mentions of a gold file: all ("dev"), and "unseen" (not in training).

        Ranks count concepts, by the dense tier alone; every mention of the file counts.

        seen (Collection[str]): texts of training, lower-cased.
        RAISES (MedlinkError): E107, E401-E407 for the file.
        """
        concepts = set(np.unique(names.concepts).tolist())
        cases = [
            (_form(case.mention), case.right & concepts) for case in load_gold(gold, kb).cases()
        ]
        unseen = [case for case in cases if case[0].lower() not in seen]
        parts = {"dev": cases, **({"unseen": unseen} if unseen else {})}
        queries = {
            half: QuerySet.of([text for text, _ in part], [right for _, right in part])
            for half, part in parts.items()
        }
        counts = {
            "dev_mentions": len(cases),
            "unseen_mentions": len(unseen),
            "not_in_kb": sum(not right for _, right in cases),
        }
        return cls(base, names, queries, nearest, precision, facts=counts)

    def fast(self, encoder: BiEncoder) -> Figures:
        """Measure on dev among the shortlist: the names that are nearest by the base.

        The same weights are measured once, for encoding the names takes long.
        """
        made_by = encoder.fingerprint()
        if made_by not in self._fast:
            texts = self._names.texts_at(self._shortlist)
            vectors = encode_names(encoder, texts, self._precision)
            measured = self._measure(encoder, ("dev",), vectors, self._shortlist)
            self._fast[made_by] = measured["dev"]
        return self._fast[made_by]

    def whole(self, encoder: BiEncoder) -> Halves:
        """Measure on all queries among all names."""
        vectors = encode_names(encoder, self._texts, self._precision, "Encoding names")
        if len(vectors) <= _STORED:
            self._made[1:] = [(encoder.fingerprint(), vectors)]
        return self._measure(encoder, self._queries, vectors, self._all)

    def store(self, directory: Path) -> None:
        """Write the vectors of the names by the base, and by the encoder that was measured last.

        Vectors of many names are not written: making them again costs less than storing them.
        """
        if len(self._all) > _STORED:
            return
        for fingerprint, vectors in self._made:
            store = VectorStore(directory / DIRECTORY, fingerprint, vectors.shape[1])
            store.add(self._texts, vectors)

    def facts(self) -> dict[str, int]:
        """Count the queries and the names."""
        return {**self._facts, "names": len(self._all), "shortlist": len(self._shortlist)}

    def _measure(
        self, encoder: BiEncoder, halves: Iterable[str], vectors: Floats2d, wanted: Ints1d
    ) -> Halves:
        """Rank some queries among names with these vectors. wanted (Ints1d): their positions."""
        concepts, precision = self._names.concepts[wanted], self._precision
        return {
            half: measure(self._queries[half].ranks(encoder, precision, vectors, concepts))
            for half in halves
        }


def among_which(concepts: Ints1d, golds: Sequence[int], most: int | None) -> Ints1d:
    """Choose the names to search.

    concepts (Ints1d): concept of every name. golds (Sequence[int]): the right concepts.
    RETURNS (Ints1d): positions, ascending.
    """
    if most is None or len(concepts) <= most:
        return np.arange(len(concepts))
    right = np.flatnonzero(np.isin(concepts, np.asarray(golds)))
    drawn = np.random.default_rng(0).choice(len(concepts), size=most, replace=False)
    return np.union1d(right, drawn[: max(0, most - len(right))])


def _form(mention: Mention) -> str:
    return (mention.long_form or mention.text).strip()
