"""Traits: what of a candidate tells whether it is right, beside how it compares with the others."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from ..text.normalisation import key, upright
from ..types import Candidate
from .endings import Endings
from .prior import Prior

Traits = NDArray[np.float64]
"""(n_candidates, len(TRAITS))."""

# In the order of the columns; the file of a model names them.
TRAITS = (
    "score",  # fused
    "behind",  # how much less than the first candidate's
    "place",  # 1 / place in retrieval, from 1
    "ngram",  # score of the tier
    "dense",
    "exact",  # 1 where the exact tier found it
    "spelling",  # 1 - Indel distance of the keys, normalised; of an inverted name's either order
    "length",  # length of the name's key over that of the text's, up to _LONGEST
    "added",  # share of the matched name's words that the text has not
    "missing",  # share of the text's words that the name has not
    "numbers",  # 1 where they differ in a number or a single letter: type 1 is not type 2
    "last word",  # 1 where both end with the same word, in English what it is
    "preferred",  # 1 where the name that matched is the concept's preferred one
    "is preferred",  # 1 where the preferred name is the text
    "names",  # logarithm of 1 + names of the concept
    "seen",  # 1 where annotated text spoke of the concept
    "often",  # logarithm of 1 + mentions of it there
    "scheme",  # logarithm of the share of mentions there whose ids look like its own
    "ending",  # logarithm of the probability that what the text means has an id that ends like it
)

_DIGITS = 4  # scores are the same over batch sizes to so many digits
_LONGEST = 3.0
_CHARACTERS = 200  # of a text; longer ones are all the same
_KEPT = 65_536


class NameFacts:
    """What traits ask of a knowledge base.

    name_concept (NDArray[int32]): concept row of every name row, ascending, (n_names,).
    text_of (Callable[[int], str]): the text of a name, by its row.
    prior (Prior): what was linked before. id_of (Callable[[int], str]): id of a concept, by row.
    endings (Optional[Endings]): what ids end with, where they end with something.
    """

    def __init__(
        self,
        name_concept: NDArray[np.int32],
        text_of: Callable[[int], str],
        prior: Prior,
        id_of: Callable[[int], str] | None = None,
        endings: Endings | None = None,
    ) -> None:
        self._name_concept = name_concept
        self._text_of = text_of
        self.key_of = lru_cache(_KEPT)(lambda row: key(text_of(row)[:_CHARACTERS]))
        self.words_of = lru_cache(_KEPT)(lambda row: frozenset(self.key_of(row).split()))
        self.upright_of = lru_cache(_KEPT)(self._upright_of)
        self.prior_of = lru_cache(_KEPT)(prior.of)
        self.names_of = lru_cache(_KEPT)(self._names_of)
        self._id_of = lru_cache(_KEPT)(id_of) if id_of is not None else None
        self._endings = endings
        self.fingerprint = endings.fingerprint if endings is not None else ""

    def ending(self, text: str, concept: int) -> float:
        """Tell how likely a concept's id ends as what a key means: a logarithm, 0 if none do."""
        if self._endings is None or self._id_of is None:
            return 0.0
        return round(self._endings.log_probability(text, self._id_of(concept)), _DIGITS)

    def _upright_of(self, row: int) -> str:
        """Make the key of a name in the order of speech."""
        text = self._text_of(row)[:_CHARACTERS]
        return key(upright(text)) if ", " in text else self.key_of(row)

    def _names_of(self, concept: int) -> tuple[int, float]:
        """RETURNS: the concept's first name row, log of 1 + how many it has."""
        first = int(np.searchsorted(self._name_concept, concept))
        end = int(np.searchsorted(self._name_concept, concept, side="right"))
        return first, float(np.log1p(end - first))


class Form(NamedTuple):
    """What was looked up: its key, the words of that, and the last of them."""

    key: str
    words: frozenset[str]
    last: str

    @classmethod
    def of(cls, text: str) -> "Form":
        """Make it of a text, of which only the beginning counts."""
        own = key(text[:_CHARACTERS])
        return cls(own, frozenset(own.split()), own.rpartition(" ")[2])


def traits_of(ranking: Sequence[Candidate], facts: NameFacts) -> Traits:
    """Describe the candidates of a ranking, best first. RETURNS (Traits): (n, len(TRAITS))."""
    best = ranking[0].score if ranking else 0.0
    forms = {text: Form.of(text) for text in {one.form for one in ranking}}
    rows = [
        [
            *_retrieved(one, place, best),
            *_written(one, forms[one.form], facts),
            *_known(one, forms[one.form], facts),
        ]
        for place, one in enumerate(ranking, start=1)
    ]
    return np.asarray(rows, dtype=np.float64).reshape(len(ranking), len(TRAITS))


def _retrieved(one: Candidate, place: int, best: float) -> list[float]:
    exact = one.scores.get("exact", 0.0)
    return [
        round(one.score, _DIGITS),
        round(best - one.score, _DIGITS),
        1 / place,
        # A tier that was not asked, because the exact one has the answer, would have said the same.
        round(one.scores.get("ngram", exact), _DIGITS),
        round(one.scores.get("dense", exact), _DIGITS),
        float(exact > 0),
    ]


def _written(one: Candidate, form: Form, facts: NameFacts) -> list[float]:
    text, name = form.key, facts.key_of(one.name_row)
    mine, its = form.words, facts.words_of(one.name_row)
    added, missing = its - mine, mine - its
    upright = facts.upright_of(one.name_row)
    return [
        max(Indel.normalized_similarity(text, order) for order in {name, upright}),
        min(_LONGEST, len(name) / max(1, len(text))),
        len(added) / max(1, len(its)),
        len(missing) / max(1, len(mine)),
        float(any(map(_tells, added)) or any(map(_tells, missing))),
        float(form.last == upright.rpartition(" ")[2]),
    ]


@lru_cache(maxsize=_KEPT)
def _tells(word: str) -> bool:
    """Tell whether a word is a number, or has one, or is a letter."""
    return len(word) == 1 or any(map(str.isdigit, word))


def _known(one: Candidate, form: Form, facts: NameFacts) -> list[float]:
    first, names = facts.names_of(one.row)
    is_it = facts.key_of(first) == form.key
    prior, ending = facts.prior_of(one.row), facts.ending(form.key, one.row)
    return [float(one.name_row == first), float(is_it), names, *prior, ending]
