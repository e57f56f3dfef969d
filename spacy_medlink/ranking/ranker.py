"""CandidateRanker: orders the first candidates anew by a small model over their traits."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..retrieval.memory import Remembered
from ..types import Candidate, Floats1d, Mention, Rescorer
from ..util.lru import Lru
from .blending import blend, remembered
from .conditions import difference
from .endings import Endings
from .model import RankingModel
from .prior import Prior
from .traits import NameFacts, traits_of

RANKER = "ranker"  # the name under which its word stands among the tiers' scores
WEIGHT = 0.7  # of the model; what is decided does not change from 0.5 on, scores stay telling

_Key = tuple[tuple[int, str, float], ...]
_DIGITS = 6


class CandidateRanker:
    """Scores the first candidates of rankings by a model; safe to call from threads.

    What corrections put first stays there. The softmax of the model's logits is blended with
    retrieval's score.

    model (RankingModel): fitted to what the engine retrieves. facts (NameFacts): what it asks of
        the knowledge base.
    cache_size (int): rankings that are remembered.
    """

    reads_context = False

    def __init__(self, model: RankingModel, facts: NameFacts, cache_size: int = 16384) -> None:
        self.model, self.facts, self.top = model, facts, model.top
        self.fingerprint = f"{model.fingerprint} {facts.fingerprint}"
        self._cache: Lru[_Key, list[Candidate]] = Lru(cache_size)

    def fits(self, conditions: Mapping[str, Any]) -> bool:
        """Tell whether it was fitted for these conditions (`calibration.conditions`)."""
        return not difference(self.model.fitted_for, conditions)

    def rescore(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Reorder each mention's first candidates.

        RETURNS (List[List[Candidate]]): copies; `scores["ranker"]` and `ranks["ranker"]` say what
            the model made of each.
        """
        return [self._rescored(ranking) for ranking in rankings]

    def _rescored(self, ranking: Sequence[Candidate]) -> list[Candidate]:
        if not ranking:
            return []
        # What was looked up and what was found decide about everything else.
        own = tuple((one.name_row, one.form, round(one.score, _DIGITS)) for one in ranking)
        found = self._cache.get(own)
        if found is None:
            head = remembered(ranking)
            asked = ranking[head : self.top]
            readings = softmax(self.model.logits(traits_of(asked, self.facts)))
            found = blend(ranking, head, readings, WEIGHT, RANKER)
            self._cache.put(own, found)
        return found


class Chain:
    """Several rescorers, one after the other: each orders what the one before made.

    rescorers (Sequence[Rescorer]): in this order.
    """

    def __init__(self, rescorers: Sequence[Rescorer]) -> None:
        self.rescorers = list(rescorers)
        self.top = max(one.top for one in self.rescorers)
        self.reads_context = any(one.reads_context for one in self.rescorers)
        self.fingerprint = " ".join(one.fingerprint for one in self.rescorers)

    def rescore(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Reorder each mention's candidates."""
        found = [list(ranking) for ranking in rankings]
        for one in self.rescorers:
            found = one.rescore(mentions, found)
        return found


def with_facts(rescorer: Rescorer | None, facts: Callable[[], NameFacts]) -> Rescorer | None:
    """Make a copy of what orders candidates whose ranker knows other facts, if it has one."""
    if isinstance(rescorer, CandidateRanker):
        return CandidateRanker(rescorer.model, facts())
    if isinstance(rescorer, Chain):
        return Chain([with_facts(one, facts) or one for one in rescorer.rescorers])
    return rescorer


def name_facts(
    kb: KnowledgeBase,
    name_concept: NDArray[np.int32],
    lines: Iterable[Remembered],
    endings: Endings | None = None,
) -> NameFacts:
    """Make what traits ask of a knowledge base, a memory of corrections, and what ids end with."""

    def id_of(row: int) -> str:
        return kb.concept_at(row, names=False).id

    votes = ((line.id, line.votes) for line in lines if line.is_general and line.id)
    prior = Prior(votes, id_of)
    return NameFacts(name_concept, lambda row: kb.name_at(row).text, prior, id_of, endings)


def softmax(logits: NDArray[np.float64]) -> Floats1d:
    """Bring logits of candidates to shares of 1."""
    if not len(logits):
        return logits.astype(np.float32)
    powers = np.exp(logits - logits.max())
    shares: Floats1d = (powers / powers.sum()).astype(np.float32)
    return shares
