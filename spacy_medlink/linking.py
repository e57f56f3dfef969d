"""LinkingEngine: mentions in, ranked candidates out. Knows no spaCy.

For each mention every form of it (the text, and the long form where the document defines one) is
looked up in the exact tier, searched in the n-gram and dense tiers, and the union of the names
found is scored by all tiers on equal terms, fused, and ranked by concept.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .retrieval.fusion import fuse, merge_forms, rank_concepts
from .types import Candidate, Encoder, Floats2d, Hits, Ints2d, Mention

if TYPE_CHECKING:  # only the tiers that are used should be paid for
    from .retrieval.dense import DenseIndex
    from .retrieval.exact import ExactIndex
    from .retrieval.ngram import NgramIndex

TIERS = ("exact", "ngram", "dense")
# A text that the document defines as an abbreviation means its long form; the short form alone
# is tried too, at a discount, because definitions are sometimes found where there are none.
_SHORT_FORM_DISCOUNT = 0.9

Key = TypeVar("Key")
Value = TypeVar("Value")


class LinkingEngine:
    """Retrieves, fuses and ranks; safe to call from threads.

    name_concept (NDArray): concept row of every name row, (n_names,).
    exact, ngram, dense: the tiers; None leaves one out. encoder: needed with `dense`.
    weights (Mapping[str, float]): weight of each tier in the fused score.
    names_per_tier (int): names that each tier proposes.
    exact_first (bool): take the exact tier's answer, where it has one, without asking the others:
        much faster, but with fewer alternatives.
    cache_size (int): mentions whose ranking is remembered.
    """

    def __init__(
        self,
        name_concept: NDArray[np.int32],
        *,
        weights: Mapping[str, float],
        exact: "ExactIndex | None" = None,
        ngram: "NgramIndex | None" = None,
        dense: "DenseIndex | None" = None,
        encoder: Encoder | None = None,
        names_per_tier: int = 64,
        exact_first: bool = False,
        cache_size: int = 65536,
    ) -> None:
        self.name_concept = name_concept
        self.exact, self.ngram, self.dense, self.encoder = exact, ngram, dense, encoder
        self.weights = dict(weights)
        self.names_per_tier = names_per_tier
        self.exact_first = exact_first
        self._cache: _Cache[tuple[str, str, int], list[Candidate]] = _Cache(cache_size)

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention.

        mentions (Sequence[Mention]): any number, encoded together.
        k (int): at most so many concepts each.
        RETURNS (List[List[Candidate]]): best first; [] where no tier finds anything. The lists
            are shared with the cache: do not change them.
        """
        keys = [(mention.text, mention.long_form, k) for mention in mentions]
        found = {key: self._cache.get(key) for key in dict.fromkeys(keys)}
        missing = [key for key, ranking in found.items() if ranking is None]
        for key, ranking in zip(missing, self._rank_new(missing, k), strict=True):
            found[key] = ranking
            self._cache.put(key, ranking)
        return [found[key] or [] for key in keys]

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names instead of concepts: (name row, fused score), the papers' protocol.

        texts (Sequence[str]): the forms to search, one a mention.
        """
        rows, fused, _ = self.search(texts)
        rankings = []
        for own_rows, own_scores in zip(rows, fused, strict=True):
            # A name that several tiers propose occurs several times, with its exact score once.
            best: dict[int, float] = {}
            for row, score in zip(own_rows.tolist(), own_scores.tolist(), strict=True):
                best[row] = max(score, best.get(row, score))
            best.pop(-1, None)
            rankings.append(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k])
        return rankings

    def clear_cache(self) -> None:
        """Forget remembered rankings, after a change of weights or tiers."""
        self._cache.clear()

    def _rank_new(self, keys: Sequence[tuple[str, str, int]], k: int) -> list[list[Candidate]]:
        forms = list(dict.fromkeys(form for text, long, _ in keys for form in _forms(text, long)))
        if not forms:
            return [[] for _ in keys]
        by_form: dict[str, list[Candidate]] = {}
        if self.exact_first and self.exact is not None:
            ranked = self._rank_exact(self.exact.search(forms, self.names_per_tier), k)
            by_form = {form: own for form, own in zip(forms, ranked, strict=True) if own}
            forms = [form for form in forms if form not in by_form]
        if forms:
            rows, fused, scores = self.search(forms)
            ranked = rank_concepts(rows, fused, scores, self.name_concept, k)
            by_form.update(zip(forms, ranked, strict=True))
        return [_best_of(text, long, by_form, k) for text, long, _ in keys]

    def _rank_exact(self, hits: Hits, k: int) -> list[list[Candidate]]:
        # Identical strings are identical to the other tiers too: the score is what the sum would
        # be, so that thresholds mean the same.
        found = _filled(hits.scores, (0, 0))
        total = np.float32(sum(self.weights.values()))
        return rank_concepts(hits.rows, found * total, {"exact": found}, self.name_concept, k)

    def search(self, texts: Sequence[str]) -> tuple[Ints2d, Floats2d, dict[str, Floats2d]]:
        """Search all tiers, then let each score what the others found.

        RETURNS: rows (n, m), -1 where there is none; fused scores (n, m); scores by tier (n, m).
        """
        k, scores = self.names_per_tier, {}
        none = Hits(np.empty((len(texts), 0), np.int64), np.empty((len(texts), 0), np.float32))
        exact = self.exact.search(texts, k) if self.exact else none
        ngram = self.ngram.search(texts, k) if self.ngram else none
        vectors = self.encoder.encode(texts) if self.dense and self.encoder else None
        dense = self.dense.search(vectors, k) if self.dense and vectors is not None else none
        rows = np.hstack([exact.rows, ngram.rows, dense.rows])
        if self.exact:
            # Other columns that hold the same name lose to the exact one: no need to fill them.
            scores["exact"] = _filled(exact.scores, (0, rows.shape[1] - exact.rows.shape[1]))
        if self.ngram:
            scores["ngram"] = np.hstack(
                [
                    self.ngram.score(texts, exact.rows),
                    _filled(ngram.scores, (0, 0)),
                    self.ngram.score(texts, dense.rows),
                ]
            )
        if self.dense and vectors is not None:
            others = rows[:, : rows.shape[1] - dense.rows.shape[1]]
            scores["dense"] = np.hstack(
                [self.dense.score(vectors, others), _filled(dense.scores, (0, 0))]
            )
        return rows, fuse(scores, self.weights), scores


def _forms(text: str, long: str) -> list[str]:
    return [form for form in (long, text) if form.strip()]


def _best_of(
    text: str, long: str, by_form: Mapping[str, list[Candidate]], k: int
) -> list[Candidate]:
    forms = _forms(text, long)
    rankings = [by_form[form] for form in forms]
    if len(forms) < 2:
        return rankings[0] if rankings else []
    discounted = [
        Candidate(item.row, item.name_row, item.score * _SHORT_FORM_DISCOUNT, item.scores)
        for item in rankings[1]
    ]
    return merge_forms([rankings[0], discounted], k)


def _filled(scores: Floats2d, columns: tuple[int, int]) -> Floats2d:
    """Replace the padding's minus infinity by 0 and add columns of 0 before and after."""
    known = np.where(np.isfinite(scores), scores, np.float32(0))
    return np.pad(known, ((0, 0), columns))


class _Cache(Generic[Key, Value]):
    """The most recently used rankings, bounded, for any number of threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            value = self._items.get(key)
            if value is not None:
                self._items.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            if len(self._items) > self._size:
                self._items.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
