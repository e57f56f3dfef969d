"""The types that all packages share: records, results, and protocols."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats1d = NDArray[np.float32]
Floats2d = NDArray[np.float32]
Ints1d = NDArray[np.int64]
Ints2d = NDArray[np.int64]
Hashes1d = NDArray[np.uint64]
Array = NDArray[Any]
Item = TypeVar("Item")

Data = dict[str, Any]
"""Plain values by name, as JSON has them."""
Facts = Mapping[str, Any]
"""The same, to be read: of a manifest, or what a fit depends on."""

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
    """A relation of a concept to another: the concept `relation` `id`, "asthma isa disease".

    source (str): the vocabulary that states the relation, "" when unknown.
    inverse (bool): the relation runs the other way: `id` `relation` the concept.
    """

    relation: str
    id: str
    source: str = ""
    inverse: bool = False


class CodeMap(NamedTuple):
    """A code of another vocabulary, with its relation to the concept.

    relation (str): relation of the code to the concept: "exact", "broader" (the code means more),
        "narrower", "related"; "" when unknown.
    source (str): the vocabulary that states it. note (str): the source's note on when it applies.
    """

    vocabulary: str
    code: str
    relation: str = ""
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """An entry of the knowledge base; `names[0]` is the preferred name.

    relations (Tuple[Relation, ...]): the relations that the source states, also to parents if their
        source is known. maps (Tuple[CodeMap, ...]): the codes with a relation or note. Both are ()
        in a concept that was read from a knowledge base, which has methods for them.
    row (int): position in the knowledge base, -1 before the build.
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
    """A skipped line of a source, the reason, and what was expected instead."""

    path: str
    line: int
    problem: str
    expected: str = ""


BadLines = list[BadLine] | None
"""Collects bad lines of a source; None makes the first one an error (E105)."""

Record = Concept | Retired


class Mention(NamedTuple):
    """A span of text to be linked.

    text (str): the span as it stands in the document.
    long_form (str): the long form that the document defines for an abbreviation, "" if none.
    label (str): the entity label, "" if none.
    left, right (str): context before and after, for rerankers.
    expansions (Tuple[str, ...]): long forms from a lexicon, where the document defines none.
    verbatim (Tuple[str, ...]): the forms to look up as names, where a lexicon knows the text: the
        first form that is a name becomes the link. Then only these and `expansions` are looked up;
        the text itself is not, unless it is one of them.
    identifiers (Tuple[str, ...]): identifiers that stand beside the mention, such as "OMIM:301500".
    vector (bytes): vector of the text in its context, float32, from an encoder that reads the
        context; b"" where the text alone is encoded.
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
    ranks (Dict[str, int]): the concept's rank in each tier that proposed it, from 1.
    form (str): the form that was looked up: the mention's text, or a more specific form of it.
    decided (str): the criterion that put it before the next candidate of equal score: "memory",
        "exact", "type", "usual", "id"; "identifier" where the document writes the
        concept's identifier, whatever the score; "" where the score was enough.
    tied (Tuple[int, ...]): rows of the concepts that are equal but for the order of ids, this one
        first; () without a tie.
    match (str): "narrower" where the mention says more than the concept, which is its head; or "".
    probable (bool): whether the calibrator recommends to link it; a name may be improbable, and is
        linked all the same.
    id, name, types: of the concept. matched (str): its name that matched. Empty before a link is.
    plain (Any): cache for the writer: its result for this candidate.
    rated (Any): cache for the decision: its result for the ranking with this candidate first. A
        copy by `dataclasses.replace` has neither cache, and no id.
    The linker remembers candidates: do not change them.
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
    match: str = ""
    probable: bool = field(default=False, repr=False, compare=False)
    id: str = field(default="", init=False, compare=False)
    name: str = field(default="", init=False, compare=False)
    matched: str = field(default="", init=False, compare=False)
    types: tuple[str, ...] = field(default=(), init=False, compare=False)
    plain: Any = field(default_factory=NoneType, init=False, repr=False, compare=False)
    rated: Any = field(default_factory=NoneType, init=False, repr=False, compare=False)


class Hits(NamedTuple):
    """The result of a retriever: the best names of each query, padded with row -1, score -inf.

    rows (Ints2d): name rows, shape (n_queries, k). scores (Floats2d): same shape, descending.
    """

    rows: Ints2d
    scores: Floats2d


@runtime_checkable
class Encoder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors."""

    def encode(self, texts: Sequence[str]) -> Floats2d:
        """Encode texts: (n, dim), rows of length 1, deterministic, safe to call from threads."""


class Fusion(Protocol):
    """A function that fuses the scores of all tiers into one."""

    @property
    def weights(self) -> Mapping[str, float] | None:
        """Weight of each tier; None while the weights are not set."""

    def __call__(self, scores: Mapping[str, Floats2d]) -> Floats2d:
        """Fuse the tiers' scores (n, m) of the same names; a name first in all tiers scores 1.0."""

    def with_weights(self, weights: Mapping[str, float]) -> "Fusion":
        """Make the same function with other weights."""


@runtime_checkable
class Rescorer(Protocol):
    """Orders candidates anew: a ranker, a reranker, or several of them."""

    @property
    def top(self) -> int:
        """The number of first candidates that it reorders."""

    @property
    def reads_context(self) -> bool:
        """Whether the scores depend on the context of a mention."""

    @property
    def fingerprint(self) -> str:
        """Identifies everything that the scores depend on: other scores, other fingerprint."""

    def rescore(
        self,
        mentions: Sequence[Mention],
        rankings: Sequence[Sequence[Candidate]],
        every: bool = False,
    ) -> list[list[Candidate]]:
        """Reorder each mention's candidates, without changing the lists that were given.

        every (bool): score also those mentions whose link it would hardly ever change.
        """


@runtime_checkable
class Calibrator(Protocol):
    """Gives the first candidate of a ranking its probability of being right."""

    def rate(self, rankings: Sequence[Sequence[Candidate]]) -> list[tuple[float, bool]]:
        """Estimate the probability of each ranking's first candidate, 0..1; no ranking is empty.

        RETURNS (List[Tuple[float, bool]]): also whether a link to it is recommended.
        """


class Progress(Protocol):
    """A function that shows the progress of long work."""

    def __call__(self, items: Iterable[Item], total: int | None, what: str) -> Iterable[Item]:
        """Pass the items on, showing how many have gone by."""
