"""NameFacts: what features need to know of a knowledge base and of annotated text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..retrieval.memory import Remembered
from ..text.normalisation import key, upright
from ..types import Name

CHARACTERS = 200  # of a text that are used
DIGITS = 4  # to which scores are equal over batch sizes
_SCHEME = re.compile(r"[^0-9]*")
_KEPT = 16_384


class Form(NamedTuple):
    """A text in three forms: its key, the words of the key, and the key in the order of speech."""

    key: str
    words: frozenset[str]
    spoken: str

    @classmethod
    def of(cls, text: str) -> "Form":
        """Make it of the beginning of a text that is in the order of speech."""
        folded = key(text[:CHARACTERS])
        return cls(folded, frozenset(folded.split()), folded)

    @classmethod
    def of_name(cls, text: str) -> "Form":
        """Make it of a name, which may be inverted: "carcinoma, small cell"."""
        form, text = cls.of(text), text[:CHARACTERS]
        return form._replace(spoken=key(upright(text))) if ", " in text else form

    @property
    def last(self) -> str:
        """The last word in the order of speech; in English usually the head noun."""
        return self.spoken.rpartition(" ")[2]


class Frequency(NamedTuple):
    """seen (float): 1 where the concept was annotated at all. often (float): log of 1 + mentions.

    scheme (float): log of the share of mentions whose concepts have ids of this form. A terminology
    that unites others ("D...", "C...", numbers) is rarely annotated with all of them alike.
    """

    seen: float
    often: float
    scheme: float


class Prior:
    """The frequency of a concept, and of concepts with ids of the same form, in annotated text.

    votes (Iterable[Tuple[str, int]]): id of a concept, and its mentions; ids may recur.
    id_of (Callable[[int], str]): id of a concept, by its row.
    """

    def __init__(self, votes: Iterable[tuple[str, int]], id_of: Callable[[int], str]) -> None:
        self._counts: Counter[str] = Counter()
        self._schemes: Counter[str] = Counter()
        for id, count in votes:
            self._counts[id] += count
            self._schemes[_scheme(id)] += count
        self._total = self._schemes.total()
        self._id_of = id_of

    def of(self, row: int) -> Frequency:
        """Get the frequency of a concept."""
        id = self._id_of(row)
        count = self._counts[id]
        like = self._schemes[_scheme(id)]
        share = math.log((like + 1) / (self._total + len(self._schemes) + 1))
        return Frequency(float(count > 0), math.log1p(count), share)


class NameFacts:
    """The facts about a knowledge base that features need.

    name_concept (NDArray[int32]): concept row of every name row, ascending, (n_names,).
    name_of (Callable[[int], Name]): a name, by its row.
    prior (Prior): frequencies in annotated text.
    is_name (Callable[[str], bool]): whether a text is a name: then it is no slip of the pen.
    """

    def __init__(
        self,
        name_concept: NDArray[np.int32],
        name_of: Callable[[int], Name],
        prior: Prior,
        is_name: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._name_concept = name_concept
        self.is_name = lru_cache(_KEPT)(is_name)
        self.form_of = lru_cache(_KEPT)(lambda row: Form.of_name(name_of(row).text))
        self.sources_of = lru_cache(_KEPT)(lambda row: _count_sources(name_of(row).source))
        self.prior_of = lru_cache(_KEPT)(prior.of)
        self.names_of = lru_cache(_KEPT)(self._names_of)

    def _names_of(self, concept: int) -> tuple[int, float]:
        """Get the concept's first name row, and log of 1 + its number of names."""
        # A number of another type would make numpy copy all rows.
        row = self._name_concept.dtype.type(concept)
        first = int(np.searchsorted(self._name_concept, row))
        end = int(np.searchsorted(self._name_concept, row, side="right"))
        return first, float(np.log1p(end - first))


def name_facts(
    kb: KnowledgeBase,
    name_concept: NDArray[np.int32],
    lines: Iterable[Remembered] = (),
) -> NameFacts:
    """Make the facts of a knowledge base from its names and a memory."""

    def id_of(row: int) -> str:
        return kb.concept_at(row, names=False).id

    votes = ((line.id, line.votes) for line in lines if line.is_general and line.id)
    return NameFacts(
        name_concept, kb.name_at, Prior(votes, id_of), lambda text: bool(kb.find(text))
    )


def _count_sources(source: str) -> float:
    """Get the log of 1 + the number of sources of a name."""
    return math.log1p(len(source.split("|")) if source else 0)


def _scheme(id: str) -> str:
    match = _SCHEME.match(id)
    return match.group() if match else ""
