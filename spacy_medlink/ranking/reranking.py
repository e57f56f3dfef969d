"""Reranker: orders the first candidates anew with a cross-encoder that reads the context."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..text.normalisation import key
from ..types import Candidate, Floats1d, Mention
from ..util.lru import Lru
from .blending import blend, remembered

if TYPE_CHECKING:  # torch is imported only if there is a reranker
    from ..encoders.cross_encoder import CrossEncoder

RERANK = "rerank"  # the key of its readings among the tiers' scores
_TYPES = 3  # types of a concept to read
_DEFINITION = 160  # characters
_JOINT = " ; "

_Key = tuple[Mention, tuple[int, ...]]


class CandidateTexts:
    """Texts of candidates for the reranker: matched name, preferred name, types, definition.

    A type that all concepts have tells nothing, and is left out.

    kb (KnowledgeBase): with the concepts. definitions (bool): add the definition.
    """

    def __init__(self, kb: KnowledgeBase, definitions: bool = False, cache_size: int = 65536):
        self._kb, self._definitions = kb, definitions
        self._types = _TYPES if _differ(kb.iter_types()) else 0
        self._texts: Lru[int, str] = Lru(cache_size)

    def of(self, candidate: Candidate) -> str:
        """Get the text of a candidate."""
        text = self._texts.get(candidate.name_row)
        if text is None:
            text = self._write(candidate)
            self._texts.put(candidate.name_row, text)
        return text

    def _write(self, candidate: Candidate) -> str:
        concept = self._kb.concept_at(candidate.row, names=False)
        matched = self._kb.text_at(candidate.name_row)
        parts = [matched]
        if key(concept.name) != key(matched):
            parts.append(concept.name)
        parts += concept.types[: self._types]
        if self._definitions and concept.definition:
            parts.append(concept.definition[:_DEFINITION])
        return _JOINT.join(parts)


class Reranker:
    """Scores the first candidates of rankings with a cross-encoder; safe to call from threads.

    encoder (CrossEncoder): its settings hold the number of candidates, and the weight of readings.
    kb (KnowledgeBase): with the concepts of the candidates.
    top (Optional[int]): candidates to read, instead of the number in the settings.
    cache_size (int): mentions, with their context, whose readings are remembered.
    """

    reads_context = True

    def __init__(
        self,
        encoder: "CrossEncoder",
        kb: KnowledgeBase,
        top: int | None = None,
        cache_size: int = 16384,
    ) -> None:
        self.encoder = encoder if top is None else encoder.using(top=top)
        self.top, self.weight = self.encoder.settings.top, self.encoder.settings.weight
        self.fingerprint = self.encoder.fingerprint()
        self._texts = CandidateTexts(kb, self.encoder.settings.definitions)
        self._cache: Lru[_Key, Floats1d] = Lru(cache_size)

    def rescore(
        self, mentions: Sequence[Mention], rankings: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Reorder each mention's first candidates; those that corrections put first stay there.

        RETURNS (List[List[Candidate]]): copies; `scores["rerank"]` and `ranks["rerank"]` hold the
            reading and rank of each.
        RAISES (MedlinkError): E208 for an encoder whose scores are not finite.
        """
        heads = [remembered(ranking) for ranking in rankings]
        logits = self.read(
            mentions,
            [own[head : self.top] for own, head in zip(rankings, heads, strict=True)],
        )
        return [
            blend(
                ranking, head, activated(own, self.encoder.settings.activation), self.weight, RERANK
            )
            for ranking, head, own in zip(rankings, heads, logits, strict=True)
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
        known = {asked: self._cache.get(asked) for asked in wanted}
        found = {asked: logits for asked, logits in known.items() if logits is not None}
        missing = [asked for asked in wanted if asked not in found]
        # Unknown candidates of all mentions are read together, sorted by length.
        pairs = [Pair(asked[0], self._texts.of(one)) for asked in missing for one in wanted[asked]]
        scores = self.encoder.score(pairs)
        ends = np.cumsum([0, *(len(wanted[asked]) for asked in missing)])
        for asked, (start, end) in zip(missing, pairwise(ends.tolist()), strict=True):
            found[asked] = scores[start:end].copy()
            self._cache.put(asked, found[asked])
        return [found[_key(*one)] for one in zip(mentions, rankings, strict=True)]


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
    total = powers.sum() + sum(np.exp(one - most) for one in nil)
    softmax: Floats1d = (powers / total).astype(np.float32)
    return softmax


def _differ(types: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether concepts have different types."""
    others = iter(types)
    first = next(others, ())
    return any(own != first for own in others)


def _key(mention: Mention, ranking: Sequence[Candidate]) -> _Key:
    # The reranker does not read the label and the texts of a lexicon.
    read = mention._replace(label="", expansions=(), verbatim=())
    return read, tuple(one.name_row for one in ranking)
