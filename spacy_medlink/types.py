"""The words of the project as types, each named once: records, results, and protocols."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats1d = NDArray[np.float32]
Floats2d = NDArray[np.float32]
Ints1d = NDArray[np.int64]
Ints2d = NDArray[np.int64]
Hashes1d = NDArray[np.uint64]

FROM_MENTIONS = "mentions"
"""The source of names that are mentions of annotated text."""


class Name(NamedTuple):
    """One surface form of a concept.

    text (str): the string as the terminology writes it.
    lang (str): ISO 639-1 code, "" when the source does not say.
    source (str): vocabularies that have the name, joined with "|".
    tty (str): term type in its source ("PT", "SY", "EXACT layperson" ...).
    obsolete (bool): whether the source marks the name as obsolete or suppressed.
    """

    text: str
    lang: str = "en"
    source: str = ""
    tty: str = ""
    obsolete: bool = False


ISA = "isa"  # the relation of a concept to its parents, whatever its source calls it


class Relation(NamedTuple):
    """What a concept is to another one: the concept `relation` `id`, as in "asthma isa disease".

    source (str): vocabulary that says so, "" when nothing is said.
    inverse (bool): the other one is this to the concept: `id` `relation` the concept.
    """

    relation: str
    id: str
    source: str = ""
    inverse: bool = False


class CodeMap(NamedTuple):
    """How a code of another vocabulary is meant.

    relation (str): what the code is to the concept: "exact", "broader" (it means more), "narrower",
        "related"; "" where nothing is said.
    source (str): vocabulary that says so. note (str): for which cases, as the source puts it.
    """

    vocabulary: str
    code: str
    relation: str = ""
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """An entry of the knowledge base; `names[0]` is the preferred name.

    relations (Tuple[Relation, ...]): what the source says, of parents too where it tells whose they
        are. maps (Tuple[CodeMap, ...]): of the codes of which more is said. Both are () where a
        concept is read from a knowledge base, which has methods for them.
    row (int): position in the knowledge base, -1 before it is built in.
    first_name (int): row of `names[0]`; the names of a concept have consecutive rows.
    """

    id: str
    name: str
    names: tuple[Name, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parents: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    maps: tuple[CodeMap, ...] = ()
    row: int = -1
    first_name: int = -1


class Retired(NamedTuple):
    """An id that the terminology no longer uses; `replaced_by` is "" when nothing replaces it."""

    id: str
    replaced_by: str = ""
    reason: str = ""


class BadLine(NamedTuple):
    """A line of a source that was skipped, why, and what was expected instead."""

    path: str
    line: int
    problem: str
    expected: str = ""


Record = Concept | Retired


class Mention(NamedTuple):
    """A span of text to be linked.

    text (str): the span as it stands in the document.
    long_form (str): what the document defines the text to abbreviate, "" if nothing.
    label (str): the entity label, "" if none.
    left, right (str): context before and after, for rerankers.
    expansions (Tuple[str, ...]): what a lexicon says the text may abbreviate, where the document
        does not.
    verbatim (Tuple[str, ...]): where a lexicon knows the text, the forms of it that are looked up
        as names: of these the first that is a name is the link. Apart from `expansions` nothing
        else is looked up then, not the text either unless it is among them.
    identifiers (Tuple[str, ...]): what the document writes beside it, such as "OMIM:301500".
    vector (bytes): of the text where it stands, float32, from an encoder that reads the context;
        b"" where the text alone is encoded.
    """

    text: str
    long_form: str = ""
    label: str = ""
    left: str = ""
    right: str = ""
    expansions: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    vector: bytes = b""


@dataclass(slots=True)
class Candidate:
    """A concept proposed for a mention.

    row (int): concept row. name_row (int): row of the name that matched best.
    score (float): fused score, higher is better.
    scores (Dict[str, float]): the score of each tier that saw the concept.
    prob (float): probability of being right, where a calibrator was fitted, else None.
    ranks (Dict[str, int]): the concept's place in the answer of each tier that proposed it, from 1.
    form (str): what was looked up: the mention's own text, or a form of it that says more.
    decided (str): what put it before the next one of equal score: "memory", "exact", "type",
        "source", "preferred", "id"; "identifier" where the document writes it, whatever the score;
        "" where the score did.
    tied (Tuple[int, ...]): rows of all concepts that only the order of ids put behind it, itself
        first; () where there are none.
    plain (Any): for whoever writes it down: what need not be made again while it is remembered.
    rated (Any): for whoever decides: the same of the ranking that it is the first of. A copy by
        `dataclasses.replace` has neither.
    """

    row: int
    name_row: int
    score: float
    scores: dict[str, float]
    prob: float | None = None
    ranks: dict[str, int] = field(default_factory=dict)
    form: str = ""
    decided: str = ""
    tied: tuple[int, ...] = ()
    plain: Any = field(default_factory=NoneType, init=False, repr=False, compare=False)
    rated: Any = field(default_factory=NoneType, init=False, repr=False, compare=False)


class Hits(NamedTuple):
    """What a retriever returns: for each query its best names, padded with row -1, score -inf.

    rows (Ints2d): name rows, shape (n_queries, k). scores (Floats2d): same shape, descending.
    """

    rows: Ints2d
    scores: Floats2d


@runtime_checkable
class Encoder(Protocol):
    """Text to vector."""

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> Floats2d:
        """Encode texts: (n, dim), rows of length 1, deterministic, safe to call from threads."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Mention text to names."""

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Find the k best names of each text."""
        ...


@runtime_checkable
class RescoringRetriever(Retriever, Protocol):
    """A retriever that can also score given names, so that tiers are compared on equal terms."""

    def score(self, texts: Sequence[str], rows: Ints2d) -> Floats2d:
        """Score rows (n, m) for each text; -1 rows score 0."""
        ...


class Fusion(Protocol):
    """The tiers' scores to one."""

    @property
    def weights(self) -> Mapping[str, float] | None:
        """Weight of each tier; None where they are still to be set."""
        ...

    def __call__(self, scores: Mapping[str, Floats2d]) -> Floats2d:
        """Fuse the scores (n, m) of the same names by each tier; first everywhere scores 1.0."""
        ...

    def with_weights(self, weights: Mapping[str, float]) -> "Fusion":
        """Make the same function with other weights."""
        ...


@runtime_checkable
class Rescorer(Protocol):
    """Orders candidates anew: a ranker, a reranker, or several of them."""

    @property
    def top(self) -> int:
        """How many of the first candidates it looks at."""
        ...

    @property
    def reads_context(self) -> bool:
        """Whether what stands around a mention makes a difference."""
        ...

    @property
    def fingerprint(self) -> str:
        """What scores depend on: another one gives others."""
        ...

    def rescore(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Reorder each mention's candidates; what was given must not be changed."""
        ...


@runtime_checkable
class Calibrator(Protocol):
    """Gives the first candidate of a ranking its probability of being right."""

    @property
    def threshold(self) -> float:
        """The probability below which it recommends NIL, 0..1."""
        ...

    def probabilities(self, rankings: Sequence[Sequence[Candidate]]) -> list[float]:
        """Estimate for each ranking, which is not empty, the probability, 0..1."""
        ...


class Progress(Protocol):
    """Something to tell how far long work has come."""

    def __call__(self, items: Iterable[Any], total: int | None, what: str) -> Iterable[Any]:
        """Pass the items on, showing how many have gone by."""
        ...
