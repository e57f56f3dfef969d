"""CandidateRanker: orders the first candidates anew with a linear model over their features."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Candidate, Facts, Floats1d, Mention, Rescorer
from ..util.locks import Lru
from .blending import blend, remembered
from .decision import is_named
from .facts import NameFacts
from .features import features_of_candidates
from .linear import LinearModel, damage_is_told, difference

RANKER = "ranker"  # the key of its score among the tiers' scores
WEIGHT = 0.7  # of the model; from 0.5 on the links stay the same, and scores still differ enough
TOP = 10  # candidates to order by default
RANKER_FEATURES = (
    "score", "behind", "place", "ngram", "dense", "ngram, ngram", "ngram, dense", "dense, ngram",
    "dense, dense", "exact", "spelling", "relative length", "added", "missing", "numbers",
    "last word", "preferred", "is preferred", "names", "seen", "often", "scheme",
)  # fmt: skip
# What names of the knowledge base show. They do not show which of several concepts of one name is
# meant, and they have other words than mentions have.
OF_NAMES = frozenset(
    ("score", "behind", "ngram", "dense", "ngram, ngram", "ngram, dense", "dense, ngram",
     "dense, dense", "spelling", "numbers")
)  # fmt: skip
FORMAT = 6
_MOST = 1000

_Key = tuple[tuple[int, str, float], ...]
_DIGITS = 6


class CandidateRanker:
    """Scores the first candidates of rankings with a model; safe to call from threads.

    A candidate that corrections put first stays there. The softmax of the model's scores is blended
    with the retrieval score. A model of names leaves a ranking alone whose first candidate is a
    name of the text.

    model (LinearModel): of RANKER_FEATURES, fitted to candidates of this retrieval.
    facts (NameFacts): the facts that features need. top (int): candidates to order.
    fitted_for (Facts): the conditions of use: tiers, fusion, encoder.
    on_names (bool): fitted to names of the knowledge base, and to no text.
    cache_size (int): rankings that are remembered.
    """

    reads_context = False

    def __init__(
        self,
        model: LinearModel,
        facts: NameFacts,
        top: int = TOP,
        fitted_for: Facts | None = None,
        on_names: bool = False,
        cache_size: int = 16384,
    ) -> None:
        self.model, self.facts, self.top = model, facts, top
        self.fitted_for, self.on_names = dict(fitted_for or {}), on_names
        self.fingerprint = _fingerprint(model, top)
        self._cache: Lru[_Key, list[Candidate]] = Lru(cache_size)

    @classmethod
    def load(cls, file: Path, facts: NameFacts) -> "CandidateRanker":
        """Read the file of `save`.

        RAISES (MedlinkError): E202 when the file is damaged, E214 when it is of another version.
        """
        with damage_is_told(file):
            stored = json.loads(file.read_bytes())
            if stored["format"] != FORMAT or stored["features"] != list(RANKER_FEATURES):
                problem = "it was fitted by another version of spacy-medlink"
                raise Errors.model_mismatch(
                    model="ranker", path=file.parent, problem=problem,
                    how="`medlink learn`", without="`medlink build --update`",
                )  # fmt: skip
            top = stored["top"]
            if type(top) is not int or not 1 <= top <= _MOST:
                raise ValueError(f"it would order {top!r} candidates")
            model = LinearModel.from_json(RANKER_FEATURES, stored)
            on_names = stored["on_names"] is True
            return cls(model, facts, top, dict(stored["fitted_for"]), on_names)

    def save(self, path: Path) -> None:
        """Write a JSON file."""
        stored = {
            "format": FORMAT, "features": list(self.model.features), **self.model.to_json(),
            "top": self.top, "fitted_for": self.fitted_for, "on_names": self.on_names,
        }  # fmt: skip
        path.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    def knowing(self, name_facts: NameFacts) -> "CandidateRanker":
        """Make a copy with other facts."""
        return CandidateRanker(self.model, name_facts, self.top, self.fitted_for, self.on_names)

    def fits(self, conditions: Facts) -> bool:
        """Tell whether it was fitted for these conditions (`conditions`)."""
        return not difference(self.fitted_for, conditions)

    def rescore(
        self,
        mentions: Sequence[Mention],
        rankings: Sequence[Sequence[Candidate]],
        every: bool = False,
    ) -> list[list[Candidate]]:
        """Reorder each mention's first candidates; it always scores every mention.

        RETURNS (List[List[Candidate]]): copies; `scores["ranker"]` and `ranks["ranker"]` hold the
            model's score and rank of each.
        """
        return [self._rescored(ranking) for ranking in rankings]

    def _rescored(self, ranking: Sequence[Candidate]) -> list[Candidate]:
        if not ranking or (self.on_names and is_named(ranking[0])):
            return list(ranking)
        # The looked-up forms and the names found determine all features.
        key = tuple(
            (candidate.name_row, candidate.form, round(candidate.score, _DIGITS))
            for candidate in ranking
        )
        ranked = self._cache.get(key)
        if ranked is None:
            head = remembered(ranking)
            asked = ranking[head : self.top]
            features = features_of_candidates(asked, self.model.features, self.facts)
            readings = softmax(self.model.score(features))
            ranked = blend(ranking, head, readings, WEIGHT, RANKER)
            self._cache.put(key, ranked)
        return ranked


class Chain:
    """Several rescorers in a row; each orders the result of the one before.

    rescorers (Sequence[Rescorer]): in this order.
    """

    def __init__(self, rescorers: Sequence[Rescorer]) -> None:
        self.rescorers = list(rescorers)
        self.top = max(rescorer.top for rescorer in self.rescorers)
        self.reads_context = any(rescorer.reads_context for rescorer in self.rescorers)
        self.fingerprint = " ".join(rescorer.fingerprint for rescorer in self.rescorers)

    def rescore(
        self,
        mentions: Sequence[Mention],
        rankings: Sequence[Sequence[Candidate]],
        every: bool = False,
    ) -> list[list[Candidate]]:
        """Reorder each mention's candidates."""
        ranked = [list(ranking) for ranking in rankings]
        for rescorer in self.rescorers:
            ranked = rescorer.rescore(mentions, ranked, every)
        return ranked


def with_facts(rescorer: Rescorer | None, make_facts: Callable[[], NameFacts]) -> Rescorer | None:
    """Make a copy of a rescorer whose ranker, if there is one, has other facts."""
    if isinstance(rescorer, CandidateRanker):
        return rescorer.knowing(make_facts())
    if isinstance(rescorer, Chain):
        return Chain([with_facts(part, make_facts) or part for part in rescorer.rescorers])
    return rescorer


def _fingerprint(model: LinearModel, top: int) -> str:
    parts = [list(model.features), top, list(model.to_json().values())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def softmax(logits: NDArray[np.float64]) -> Floats1d:
    """Scale scores of candidates to shares that sum to 1."""
    if not len(logits):
        return logits.astype(np.float32)
    powers = np.exp(logits - logits.max())
    shares: Floats1d = (powers / powers.sum()).astype(np.float32)
    return shares
