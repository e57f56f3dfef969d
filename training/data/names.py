"""The names to train on: distinct strings of each concept, tokenised once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar

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
    def build(cls, texts: Iterable[str], tokenize: Tokenize) -> "TokenTable":
        """Tokenise a stream of strings, a chunk at a time."""
        flat: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
        lengths: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        for chunk in chunks(texts):
            pieces = tokenize(chunk)
            lengths.append(np.fromiter(map(len, pieces), dtype=np.int64))
            flat.append(np.fromiter((id for row in pieces for id in row), dtype=np.int32))
        return cls(np.concatenate(flat), np.cumsum(np.concatenate(lengths)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> Ints1d:
        """Count the pieces of every string: (n,)."""
        return np.diff(self.offsets)

    def take(self, rows: Iterable[int]) -> list[list[int]]:
        """Get the pieces of some strings."""
        return [self.flat[self.offsets[row] : self.offsets[row + 1]].tolist() for row in rows]


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


class Block(NamedTuple):
    """Some thousand names as arrays: the columns of `TrainingNames`, and more.

    lengths (Ints1d): word pieces of each name. flat (NDArray[np.int32]): all pieces.
    """

    rows: Ints1d
    concepts: Ints1d
    strings: Hashes1d
    trainable: NDArray[np.bool_]
    lengths: Ints1d
    flat: NDArray[np.int32]


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
    return joined([empty_block(), *name_blocks(kb, tokenize, how, frozenset(skip))])


def name_blocks(
    kb: KnowledgeBase,
    tokenize: Tokenize,
    how: DataSettings,
    skip: frozenset[int] = frozenset(),
) -> Iterator[Block]:
    """Read names block by block, so that memory holds a few thousand of them as objects."""
    entries = (entry for entry in distinct_names(kb) if entry[0] not in skip)
    for chunk in chunks(entries):
        rows, concepts, names, strings = zip(*chunk, strict=True)
        pieces = tokenize([name.text for name in names])
        yield Block(
            np.array(rows, dtype=np.int64),
            np.array(concepts, dtype=np.int64),
            np.array(strings, dtype=np.uint64),
            np.array([how.is_trainable(name) for name in names], dtype=bool),
            *flattened(pieces),
        )


def flattened(pieces: Sequence[Sequence[int]]) -> tuple[Ints1d, NDArray[np.int32]]:
    """Return lists of word pieces as lengths, (n,), and all pieces in one array."""
    lengths = np.fromiter(map(len, pieces), dtype=np.int64)
    return lengths, np.fromiter((id for row in pieces for id in row), dtype=np.int32)


def empty_block() -> Block:
    """Make a block without names."""
    kinds = (np.int64, np.int64, np.uint64, bool, np.int64, np.int32)
    return Block(*(np.empty(0, dtype=dtype) for dtype in kinds))


def joined(blocks: Sequence[Block]) -> TrainingNames:
    """Concatenate blocks in memory."""
    rows, concepts, strings, trainable, lengths, flat = map(
        np.concatenate, zip(*blocks, strict=True)
    )
    tokens = TokenTable(flat, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]))
    return TrainingNames(rows, concepts, strings, trainable, tokens)


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
