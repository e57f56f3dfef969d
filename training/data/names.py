"""The names to train on: distinct strings of each concept, tokenised once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Hashes1d, Ints1d, Name

from ..recipe.settings import DataSettings

Item = TypeVar("Item")
Tokenize = Callable[[Sequence[str]], list[list[int]]]
_CHUNK = 50_000
_ALL = DataSettings()


@dataclass(frozen=True)
class TokenTable:
    """Word-piece ids of many strings, one after the other.

    flat (NDArray[np.int32]): ids of all strings. offsets (Ints1d): (n + 1,) into `flat`.
    """

    flat: NDArray[np.int32]
    offsets: Ints1d

    @classmethod
    def of(cls, pieces: Sequence[Sequence[int]]) -> "TokenTable":
        """Make a table of lists of word pieces."""
        lengths = np.fromiter(map(len, pieces), dtype=np.int64)
        flat = np.fromiter((id for row in pieces for id in row), dtype=np.int32)
        return cls(flat, _offsets(lengths))

    @classmethod
    def build(cls, texts: Iterable[str], tokenize: Tokenize) -> "TokenTable":
        """Tokenise a stream of strings, a chunk at a time."""
        return cls.joined([cls.of(tokenize(chunk)) for chunk in chunks(texts)])

    @classmethod
    def joined(cls, tables: Sequence["TokenTable"]) -> "TokenTable":
        """Concatenate tables."""
        flat = np.concatenate([np.empty(0, dtype=np.int32), *(table.flat for table in tables)])
        lengths = [np.empty(0, dtype=np.int64), *(table.lengths() for table in tables)]
        return cls(flat, _offsets(np.concatenate(lengths)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> Ints1d:
        """Count the pieces of every string: (n,)."""
        return np.diff(self.offsets)

    def take(self, rows: Iterable[int]) -> list[list[int]]:
        """Get the pieces of some strings."""
        return [self.flat[self.offsets[row] : self.offsets[row + 1]].tolist() for row in rows]

    def reordered(self, order: Ints1d) -> "TokenTable":
        """Copy the table with its strings in another order."""
        offsets = _offsets(self.lengths()[order])
        starts = np.repeat(self.offsets[order] - offsets[:-1], np.diff(offsets))
        return TokenTable(self.flat[np.arange(offsets[-1]) + starts], offsets)


def _offsets(lengths: Ints1d) -> Ints1d:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


@dataclass(frozen=True)
class TrainingNames:
    """Names to train on, ordered by concept; a position in these arrays is a *training name*.

    rows (Ints1d): name rows in the knowledge base, -1 for a name from elsewhere.
    concepts (Ints1d): concept rows, ascending; beyond those of the knowledge base, pseudo-concepts.
    strings (Hashes1d): hash of the lower-cased text; equal where two concepts share a string.
    trainable (NDArray[bool]): whether the name may be in pairs. tokens (TokenTable): word pieces.
    """

    rows: Ints1d
    concepts: Ints1d
    strings: Hashes1d
    trainable: NDArray[np.bool_]
    tokens: TokenTable

    @classmethod
    def of_texts(
        cls, texts: Sequence[str], concepts: Ints1d, tokenize: Tokenize
    ) -> "TrainingNames":
        """Make training names of texts from elsewhere, all of them trainable."""
        return cls(
            np.full(len(texts), -1, dtype=np.int64),
            concepts,
            np.array([string_hash(text) for text in texts], dtype=np.uint64),
            np.ones(len(texts), dtype=bool),
            TokenTable.build(texts, tokenize),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> "TrainingNames":
        """Get the first names, as a view."""
        return TrainingNames(
            self.rows[:count],
            self.concepts[:count],
            self.strings[:count],
            self.trainable[:count],
            TokenTable(self.tokens.flat, self.tokens.offsets[: count + 1]),
        )


_COLUMNS: dict[str, type[np.generic]] = {
    "rows": np.int64, "concepts": np.int64, "strings": np.uint64, "trainable": np.bool_,
}  # fmt: skip


def joined(parts: Sequence[TrainingNames]) -> TrainingNames:
    """Concatenate names."""
    rows, concepts, strings, trainable = (
        np.concatenate([np.empty(0, dtype=dtype), *(getattr(part, name) for part in parts)])
        for name, dtype in _COLUMNS.items()
    )
    tokens = TokenTable.joined([part.tokens for part in parts])
    return TrainingNames(rows, concepts, strings, trainable, tokens)


def read_names(
    kb: KnowledgeBase,
    tokenize: Tokenize,
    skip: Collection[int] = (),
    how: DataSettings = _ALL,
) -> TrainingNames:
    """Read the names of a knowledge base, each string once a concept (ignoring case).

    tokenize (Callable): strings to word-piece ids (`BiEncoder.tokenize`).
    skip (Collection[int]): name rows to leave out, such as those held out for validation.
    """
    return joined([*name_parts(kb, tokenize, how, frozenset(skip))])


def name_parts(
    kb: KnowledgeBase,
    tokenize: Tokenize,
    how: DataSettings,
    skip: frozenset[int] = frozenset(),
) -> Iterator[TrainingNames]:
    """Read names part by part, so that memory holds a few thousand of them as objects."""
    entries = (entry for entry in distinct_names(kb) if entry[0] not in skip)
    for chunk in chunks(entries):
        rows, concepts, names, strings = zip(*chunk, strict=True)
        yield TrainingNames(
            np.array(rows, dtype=np.int64),
            np.array(concepts, dtype=np.int64),
            np.array(strings, dtype=np.uint64),
            np.array([how.is_trainable(name) for name in names], dtype=bool),
            TokenTable.of(tokenize([name.text for name in names])),
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


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Divide a stream into lists of some thousand items."""
    waiting = iter(items)
    while chunk := list(islice(waiting, _CHUNK)):
        yield chunk
