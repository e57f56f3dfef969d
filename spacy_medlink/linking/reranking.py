"""Reranker: orders the first candidates anew with a cross-encoder that reads the context."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..text.normalisation import key
from ..types import Candidate, Floats1d, Mention
from ..util.locks import Lru
from .blending import blend, remembered
from .gate import RerankGate

if TYPE_CHECKING:  # torch is imported only if there is a reranker
    from ..encoders.cross_encoder import CrossEncoder

RERANK = "rerank"  # the key of its readings among the tiers' scores
_TYPES = 3  # types of a concept to read
_DEFINITION = 160  # characters
_JOINT = " ; "
_NO_READINGS: Floats1d = np.zeros(0, dtype=np.float32)

_Key = tuple[Mention, tuple[int, ...]]


class CandidateTexts:
    """Texts of candidates for the reranker: matched name, preferred name, types, definition.

    A type that all concepts have tells nothing, and is left out.

    kb (KnowledgeBase): with the concepts. reads (str): "name" for the matched name alone,
        "concept" without and "definition" with the definition.
    """

    def __init__(self, kb: KnowledgeBase, reads: str = "concept", cache_size: int = 65536):
        self._kb, self._reads = kb, reads
        self._types = _TYPES if _differ(kb.iter_types()) else 0
        self._text = lru_cache(cache_size)(self._write)

    def of(self, candidate: Candidate) -> str:
        """Get the text of a candidate."""
        return self._text(candidate.row, candidate.name_row)

    def _write(self, row: int, name_row: int) -> str:
        matched = self._kb.text_at(name_row)
        if self._reads == "name":
            return matched
        concept = self._kb.concept_at(row, names=False)
        parts = [matched]
        if key(concept.name) != key(matched):
            parts.append(concept.name)
        parts += concept.types[: self._types]
        if self._reads == "definition" and concept.definition:
            parts.append(concept.definition[:_DEFINITION])
        return _JOINT.join(parts)


class Reranker:
    """Scores the first candidates of rankings with a cross-encoder; safe to call from threads.

    encoder (CrossEncoder): its settings hold the number of candidates, and the weight of readings.
    kb (KnowledgeBase): with the concepts of the candidates.
    top (Optional[int]): candidates to read, instead of the number in the settings.
    cache_size (int): mentions, with their context, whose readings are remembered.
    gate (Optional[RerankGate]): tells which mentions are not read; None reads all.
    """

    reads_context = True

    def __init__(
        self,
        encoder: "CrossEncoder",
        kb: KnowledgeBase,
        top: int | None = None,
        cache_size: int = 16384,
        gate: RerankGate | None = None,
    ) -> None:
        self.gate = gate
        self.encoder = encoder if top is None else encoder.using(top=top)
        self.top, self.weight = self.encoder.settings.top, self.encoder.settings.weight
        self.fingerprint = self.encoder.fingerprint() + (f" {gate.margin}" if gate else "")
        self._texts = CandidateTexts(kb, self.encoder.settings.reads)
        self._cache: Lru[_Key, Floats1d] = Lru(cache_size)

    def rescore(
        self,
        mentions: Sequence[Mention],
        rankings: Sequence[Sequence[Candidate]],
        every: bool = False,
    ) -> list[list[Candidate]]:
        """Reorder each mention's first candidates; those that corrections put first stay there.

        The candidates of a mention that passes the gate are not read, and keep their order. The
        first of them keeps its score.

        every (bool): read those of all mentions.
        RETURNS (List[List[Candidate]]): copies; `scores["rerank"]` and `ranks["rerank"]` hold the
            reading and rank of each.
        RAISES (MedlinkError): E208 for an encoder whose scores are not finite.
        """
        gate = None if every else self.gate
        passing = [gate is not None and gate.lets(ranking) for ranking in rankings]
        asked = [position for position, passes in enumerate(passing) if not passes]
        read = iter(self._reread([mentions[p] for p in asked], [rankings[p] for p in asked]))
        return [
            self._unread(ranking) if passes else next(read)
            for ranking, passes in zip(rankings, passing, strict=True)
        ]

    def read(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[Floats1d]:
        """Compute a logit for each candidate; a single candidate needs no comparison."""
        from ..encoders.pairs import Pair

        wanted = {
            _key(mention, ranking): ranking
            for mention, ranking in zip(mentions, rankings, strict=True)
        }
        cached = {asked: self._cache.get(asked) for asked in wanted}
        read = {asked: logits for asked, logits in cached.items() if logits is not None}
        missing = [asked for asked in wanted if asked not in read]
        # Unknown candidates of all mentions are read together, sorted by length.
        pairs = [
            Pair(asked[0], self._texts.of(candidate))
            for asked in missing
            for candidate in wanted[asked]
        ]
        scores = self.encoder.score(pairs)
        ends = np.cumsum([0, *(len(wanted[asked]) for asked in missing)])
        for asked, (start, end) in zip(missing, pairwise(ends.tolist()), strict=True):
            read[asked] = scores[start:end].copy()
            self._cache.put(asked, read[asked])
        return [read[_key(*pair)] for pair in zip(mentions, rankings, strict=True)]

    def _reread(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        heads = [remembered(ranking) for ranking in rankings]
        logits = self.read(
            mentions,
            [ranking[head : self.top] for ranking, head in zip(rankings, heads, strict=True)],
        )
        return [
            blend(
                ranking,
                head,
                activated(logits_of, self.encoder.settings.activation),
                self.weight,
                RERANK,
            )
            for ranking, head, logits_of in zip(rankings, heads, logits, strict=True)
        ]

    def _unread(self, ranking: Sequence[Candidate]) -> list[Candidate]:
        # Its first candidate is as sure as one of corrections, the others count as not read.
        return blend(ranking, max(1, remembered(ranking)), _NO_READINGS, self.weight, RERANK)


def activated(logits: Floats1d, activation: str) -> Floats1d:
    """Scale the logits of a mention's candidates to 0..1."""
    if not len(logits):
        return logits
    if activation == "sigmoid":
        sigmoid: Floats1d = (1 / (1 + np.exp(-np.clip(logits, -60, 60)))).astype(np.float32)
        return sigmoid
    nil = [0.0] if activation == "softmax_nil" else []
    most = max([float(logits.max()), *nil])
    powers = np.exp(logits - np.float32(most))
    total = powers.sum() + sum(np.exp(value - most) for value in nil)
    softmax: Floats1d = (powers / total).astype(np.float32)
    return softmax


def _differ(types: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether concepts have different types."""
    others = iter(types)
    first = next(others, ())
    return any(types_of != first for types_of in others)


def _key(mention: Mention, ranking: Sequence[Candidate]) -> _Key:
    # The reranker does not read the label and the texts of a lexicon.
    read = mention._replace(label="", expansions=(), verbatim=())
    return read, tuple(candidate.name_row for candidate in ranking)
