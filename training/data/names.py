"""The names that training sees: distinct strings of each concept, cut into pieces once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import xxhash
from numpy.typing import NDArray

from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Hashes1d, Ints1d, Name

Tokenize = Callable[[Sequence[str]], list[list[int]]]
_CHUNK = 50_000


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
        for chunk in _chunks(texts):
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

    rows (Ints1d): name rows in the knowledge base. concepts (Ints1d): concept rows, ascending.
    strings (Hashes1d): hash of the lower-cased text; equal where two concepts share a string.
    trainable (NDArray[bool]): whether pairs may be made of the name. tokens (TokenTable): pieces.
    """

    rows: Ints1d
    concepts: Ints1d
    strings: Hashes1d
    trainable: NDArray[np.bool_]
    tokens: TokenTable

    def __len__(self) -> int:
        return len(self.rows)


def read_names(
    kb: KnowledgeBase,
    tokenize: Tokenize,
    lower_case: bool,
    skip: Collection[int] = (),
    languages: Collection[str] = (),
    obsolete: bool = True,
) -> TrainingNames:
    """Read the names of a knowledge base, each string once a concept (letter case aside).

    tokenize (Callable): strings to word-piece ids (`BiEncoder.tokenize`).
    lower_case (bool): whether the encoder is to see lower-cased names.
    skip (Collection[int]): name rows to leave out, such as those held out for validation.
    languages (Collection[str]): languages to train on, all when empty.
    obsolete (bool): whether to train on names that the source marks as obsolete.
    """
    left_out, wanted = frozenset(skip), frozenset(languages)
    rows: list[int] = []
    concepts: list[int] = []
    strings: list[int] = []
    trainable: list[bool] = []

    def texts() -> Iterator[str]:
        for row, concept, name, string in distinct_names(kb):
            if row in left_out:
                continue
            rows.append(row)
            concepts.append(concept)
            strings.append(string)
            trainable.append(
                (not wanted or name.lang in wanted) and (obsolete or not name.obsolete)
            )
            yield spelled(name.text, lower_case)

    tokens = TokenTable.build(texts(), tokenize)
    return TrainingNames(
        np.array(rows, dtype=np.int64),
        np.array(concepts, dtype=np.int64),
        np.array(strings, dtype=np.uint64),
        np.array(trainable, dtype=bool),
        tokens,
    )


def spelled(text: str, lower_case: bool) -> str:
    """Spell a name as the encoder is to see it."""
    return text.lower() if lower_case else text


def string_hash(text: str) -> int:
    """Hash a string, letter case aside: what tells two names to be the same string."""
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


def _chunks(items: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(items)
    while chunk := list(islice(waiting, _CHUNK)):
        yield chunk
