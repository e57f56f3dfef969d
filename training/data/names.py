"""The names to train on: distinct strings of each concept."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from spacy_medlink.fitting.mutations import mutated
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Hashes1d, Ints1d, Name

from ..recipe.settings import DataSettings

_ALL = DataSettings()
_MOST_TEXTS = 1_000_000  # more than a student is trained on; the teacher encodes them all


@dataclass(frozen=True)
class TrainingNames:
    """Names to train on, ordered by concept; a position in these arrays is a *training name*.

    rows (Ints1d): name rows in the knowledge base, -1 for a name from elsewhere.
    concepts (Ints1d): concept rows, ascending; beyond those of the knowledge base, pseudo-concepts.
    strings (Hashes1d): hash of the lower-cased text; equal where two concepts share a string.
    trainable (NDArray[bool]): whether the name may be in pairs. texts (Sequence[str]): as written.
    """

    rows: Ints1d
    concepts: Ints1d
    strings: Hashes1d
    trainable: NDArray[np.bool_]
    texts: Sequence[str]

    @classmethod
    def of_texts(cls, texts: Sequence[str], concepts: Ints1d) -> "TrainingNames":
        """Make training names of texts from elsewhere, all of them trainable."""
        strings = np.array(list(map(string_hash, texts)), dtype=np.uint64)
        every = np.ones(len(texts), dtype=bool)
        return cls(np.full(len(texts), -1, dtype=np.int64), concepts, strings, every, texts)

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, others: "TrainingNames") -> "TrainingNames":
        """Put other names behind these."""
        rows, concepts, strings, trainable = (
            np.concatenate([getattr(self, name), getattr(others, name)])
            for name in ("rows", "concepts", "strings", "trainable")
        )
        return TrainingNames(rows, concepts, strings, trainable, [*self.texts, *others.texts])

    def texts_at(self, positions: Iterable[int]) -> list[str]:
        """Get the texts of some names."""
        return [self.texts[position] for position in positions]


def read_names(
    kb: KnowledgeBase, skip: Collection[int] = (), how: DataSettings = _ALL
) -> TrainingNames:
    """Read the names of a knowledge base, each string once a concept (ignoring case).

    skip (Collection[int]): name rows to leave out, such as those held out for validation.
    """
    rows, concepts, strings, trainable = array("q"), array("q"), array("Q"), array("b")
    texts, left_out = list[str](), frozenset(skip)
    for row, concept, name, string in distinct_names(kb):
        if row not in left_out:
            rows.append(row)
            concepts.append(concept)
            strings.append(string)
            trainable.append(how.is_trainable(name))
            texts.append(name.text)
    return TrainingNames(
        np.array(rows, dtype=np.int64),
        np.array(concepts, dtype=np.int64),
        np.array(strings, dtype=np.uint64),
        np.array(trainable, dtype=bool),
        texts,
    )


def string_hash(text: str) -> int:
    """Hash a string, ignoring case, to find equal strings."""
    return xxhash.xxh3_64_intdigest(text.lower().encode("utf-8", "surrogatepass"))


def distinct_names(kb: KnowledgeBase) -> Iterator[tuple[int, int, Name, int]]:
    """Stream (name row, concept row, name, hash), leaving out a concept's repeated strings."""
    seen: set[int] = set()
    current = -1
    for row, (concept, name) in enumerate(kb.iter_names()):
        if concept != current:
            seen, current = set(), concept
        string = string_hash(name.text)
        if string not in seen:
            seen.add(string)
            yield row, concept, name, string


def read_texts(
    kb: KnowledgeBase, mutations: int, seed: int, skip: Collection[int] = ()
) -> list[str]:
    """Read names in random order, each followed by its mutations; a million texts, at most.

    mutations (int): of each name, at most. skip (Collection[int]): held-out name rows.
    """
    generator = np.random.default_rng(seed)
    rows = [entry[0] for entry in distinct_names(kb) if entry[0] not in skip]
    texts: list[str] = []
    for row in generator.permutation(len(rows))[:_MOST_TEXTS].tolist():
        name = kb.name_at(rows[row])
        texts.append(name.text)
        made = (mutated(name.text, generator, name.lang or "en") for _ in range(mutations))
        texts += filter(None, made)
        if len(texts) >= _MOST_TEXTS:
            break
    return texts
