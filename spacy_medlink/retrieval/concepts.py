"""From names to concepts: each concept by its best name, in the stated order.

Scores within 1e-4 are equal, because the arithmetic of different batches is not bit-identical.
Equal scores are ordered by these rules: remembered corrections first, then names of the exact tier
(the same string before the same key), concepts of a type that the entity label favours, preferred
names before synonyms (of what has the text as a name, the concept with by far most names: a
preferred name counts as ten times the names), the concept with most names, then with most sources,
the first id. The last four say which concept is usually meant, and not that the others are not:
such concepts are tied.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Candidate, Floats2d, Hits, Ints1d, Ints2d

RESOLUTION = 1e-4
MEMORY = "memory"
# The rules that order candidates of equal score, and the bits of each in the key.
_FIELDS = (("memory", 1), ("exact", 12), ("type", 4), ("usual", 5))
_BITS = sum(bits for _, bits in _FIELDS)
_USUAL = 5  # bits of the rules, the last of _FIELDS, that leave a tie
# A concept of twice as many names is two steps more usual; one of whose names the preferred one
# matches, seven: "diabetes" names the concept of that name, and not one of three times the names.
_DOUBLED, _PREFERRED = 2, 7
_PADDING = np.int64(1) << 62
_EXACT_STEPS = 1000  # the exact tier's scores are told apart to a thousandth


class TieRule(NamedTuple):
    """The rules for candidates of equal score; None leaves a rule out.

    concept_order (NDArray[int32]): place of each concept by names, sources and id, (n_concepts,).
    favoured (NDArray[uint8]): place of each concept's type among favoured types, (n_concepts,).
    built (NDArray[int32]): concept of each name that counts, ascending; without names added later.
    source (NDArray[uint16]), of_mentions (int): source of each name, and the one that does not
        count, since it shows what one annotated text is about; -1 for none.
    """

    concept_order: NDArray[np.int32] | None = None
    favoured: NDArray[np.uint8] | None = None
    built: NDArray[np.int32] | None = None
    source: NDArray[np.uint16] | None = None
    of_mentions: int = -1


def rank_concepts(
    rows: Ints2d,
    fused: Floats2d,
    scores: Mapping[str, Floats2d],
    name_concept: NDArray[np.int32],
    k: int,
    rule: TieRule = TieRule(),  # noqa: B008  # an immutable tuple
) -> list[list[Candidate]]:
    """Rank concepts, each by its best name.

    rows (Ints2d): name rows, (n, m), -1 where there is none; a row may occur twice.
    fused (Floats2d): (n, m). scores: the tiers' own, kept on the candidates.
    name_concept (Ints1d): concept row of every name row. k (int): concepts wanted.
    RETURNS (List[List[Candidate]]): n rankings, best first. A candidate's `decided` is the rule
        that put it before the next candidate of equal score; the first candidate's `tied` lists
        all concepts of its score that no other rule than the last four puts behind it.
    """
    safe = np.maximum(rows, 0)
    concepts = name_concept[safe] if rows.size else np.zeros(rows.shape, dtype=np.int32)
    keys = _keys(rows, safe, concepts, fused, scores, name_concept, rule)
    last = concepts if rule.concept_order is None else rule.concept_order[concepts]
    order = np.lexsort((safe, last, keys), axis=-1)
    mention, column = _first_of_each(order, concepts, rows)
    bounds = np.searchsorted(mention, np.arange(len(rows) + 1)).tolist()
    rankings: list[list[Candidate]] = []
    kept, tied = _kept(keys[mention, column], bounds, k)
    mention, column = mention[kept], column[kept]
    candidates = _candidates(concepts, rows, fused, scores, mention, column)
    for candidate, decided in zip(
        candidates, _deciders(keys[mention, column], mention), strict=True
    ):
        candidate.decided = decided
    bounds = np.searchsorted(mention, np.arange(len(rows) + 1)).tolist()
    for (begin, end), ties in zip(pairwise(bounds), tied, strict=True):
        if ties > 1:
            tied_rows = [candidate.row for candidate in candidates[begin : begin + ties]]
            candidates[begin].tied = tuple(tied_rows)
        rankings.append(candidates[begin : min(end, begin + k)])
    return rankings


def _candidates(
    concepts: NDArray[np.int32],
    rows: Ints2d,
    fused: Floats2d,
    scores: Mapping[str, Floats2d],
    mention: Ints1d,
    column: Ints1d,
) -> list[Candidate]:
    parts = [scores[tier][mention, column].tolist() for tier in scores]
    return [
        Candidate(concept, row, score, dict(zip(scores, by_tier, strict=True)))
        for concept, row, score, *by_tier in zip(
            concepts[mention, column].tolist(), rows[mention, column].tolist(),
            fused[mention, column].tolist(), *parts, strict=True,
        )
    ]  # fmt: skip


def set_ranks(
    rankings: Sequence[Sequence[Candidate]],
    hits: Mapping[str, Hits],
    name_concept: NDArray[np.int32],
) -> None:
    """Set each candidate's rank in the own answer of every tier.

    rankings: n rankings. hits (Mapping[str, Hits]): the proposals of each tier, (n, any).
    """
    for tier, (rows, _) in hits.items():
        concepts = np.where(rows >= 0, name_concept[np.maximum(rows, 0)], -1).tolist()
        for ranking, proposed in zip(rankings, concepts, strict=True):
            places = {concept: rank for rank, concept in enumerate(dict.fromkeys(proposed), 1)}
            for candidate in ranking:
                rank = places.get(candidate.row)
                if rank is not None:
                    candidate.ranks[tier] = rank


def merge_forms(rankings: Sequence[Sequence[Candidate]], k: int) -> list[Candidate]:
    """Merge the rankings of several forms of one mention; each concept keeps its best score."""
    best: dict[int, Candidate] = {}
    for ranking in rankings:
        for candidate in ranking:
            earlier = best.get(candidate.row)
            if earlier is None or candidate.score > earlier.score + RESOLUTION:
                best[candidate.row] = candidate
    # A stable sort over rounded scores: the first form wins ties.
    ordered = sorted(best.values(), key=lambda item: -round(item.score / RESOLUTION))
    return ordered[:k]


def _keys(
    rows: Ints2d,
    safe: Ints2d,
    concepts: NDArray[np.int32],
    fused: Floats2d,
    scores: Mapping[str, Floats2d],
    name_concept: NDArray[np.int32],
    rule: TieRule,
) -> Ints2d:
    """Make one number for each name; smaller is better: the rounded score, then `_FIELDS`."""
    keys = -np.round(fused / np.float32(RESOLUTION)).astype(np.int64)
    values = {
        "memory": scores[MEMORY] < 1 if MEMORY in scores else None,
        "exact": np.round((1 - scores["exact"]) * _EXACT_STEPS) if "exact" in scores else None,
        "type": None if rule.favoured is None else rule.favoured[concepts],
        "usual": _unusual(safe, concepts, scores.get("exact"), name_concept, rule),
    }
    for name, bits in _FIELDS:
        keys <<= bits
        value = values[name]
        if value is not None:
            keys += np.clip(value, 0, (1 << bits) - 1).astype(np.int64)
    padded: Ints2d = np.where(rows < 0, _PADDING, keys)
    return padded


def _unusual(
    safe: Ints2d,
    concepts: NDArray[np.int32],
    exact: Floats2d | None,
    name_concept: NDArray[np.int32],
    rule: TieRule,
) -> Ints2d | None:
    """Compute how unusual it is that a name means its concept: fewer names, not the preferred one.

    exact (Optional[Floats2d]): scores of the exact tier. Only of what has the text as a name the
        other names are counted: how many names what resembles it has says nothing.
    """
    if not safe.size:
        return None
    is_first = (concepts != name_concept[np.maximum(safe - 1, 0)]) | (safe == 0)
    steps = _PREFERRED * is_first.astype(np.int64)
    if rule.built is not None and exact is not None:
        named = exact > 0
        distinct, place = np.unique(concepts[named], return_inverse=True)
        counts = np.maximum(_names_of(distinct, rule.built, rule), 1)
        steps[named] += np.round(_DOUBLED * np.log2(counts)).astype(np.int64)[place]
    unusual: Ints2d = (1 << _USUAL) - 1 - steps
    return unusual


def _names_of(concepts: NDArray[np.int32], built: NDArray[np.int32], rule: TieRule) -> Ints1d:
    """Count the names of concepts: (n,)."""
    first, end = (np.searchsorted(built, concepts, side) for side in ("left", "right"))
    if rule.source is None or rule.of_mentions < 0:
        return np.asarray(end - first, dtype=np.int64)
    spans = zip(first.tolist(), end.tolist(), strict=True)
    sources = (rule.source[start:stop] for start, stop in spans)
    return np.array([np.count_nonzero(of != rule.of_mentions) for of in sources], dtype=np.int64)


def _first_of_each(
    order: Ints2d, concepts: NDArray[np.int32], rows: Ints2d
) -> tuple[Ints1d, Ints1d]:
    """Find the first name of each concept in each row's order.

    RETURNS (Tuple[Ints1d, Ints1d]): row and column of these names, sorted by row, then by order.
    """
    ordered = np.take_along_axis(concepts, order, axis=1)
    ordered[np.take_along_axis(rows, order, axis=1) < 0] = -1
    grouped = np.argsort(ordered, axis=1, kind="stable")
    sorted_concepts = np.take_along_axis(ordered, grouped, axis=1)
    is_first = np.ones(ordered.shape, dtype=np.bool_)
    is_first[:, 1:] = sorted_concepts[:, 1:] != sorted_concepts[:, :-1]
    is_first &= sorted_concepts >= 0
    flags = np.zeros(ordered.shape, dtype=np.bool_)
    np.put_along_axis(flags, grouped, is_first, axis=1)
    mention, rank = np.nonzero(flags)
    return mention, order[mention, rank]


def _kept(keys: Ints1d, bounds: list[int], k: int) -> tuple[Ints1d, list[int]]:
    """Select the first k of each mention, one more to compare with, and all that tie at the top.

    RETURNS (Tuple[Ints1d, List[int]]): positions, and how many tie at each mention's top.
    """
    starts = np.asarray(bounds[:-1], dtype=np.int64)
    counts = np.diff(bounds)
    rank = np.arange(len(keys)) - np.repeat(starts, counts)
    tying = keys >> _USUAL
    same = tying == tying[np.repeat(starts, counts)] if len(keys) else np.zeros(0, dtype=np.bool_)
    mention = np.repeat(np.arange(len(counts)), counts)
    tied = np.bincount(mention[same], minlength=len(counts))
    return np.flatnonzero((rank <= k) | same), tied.tolist()


def _deciders(keys: Ints1d, mention: Ints1d) -> list[str]:
    """Tell which rule puts each name before the next; "" where the score does, or none follows."""
    deciders = [""] * len(keys)
    if len(keys) < 2:
        return deciders
    equal = (keys[1:] >> _BITS == keys[:-1] >> _BITS) & (mention[1:] == mention[:-1])
    for at in np.flatnonzero(equal).tolist():
        deciders[at] = _decider(int(keys[at]) ^ int(keys[at + 1]))
    return deciders


def _decider(difference: int) -> str:
    left = _BITS
    for name, bits in _FIELDS:
        left -= bits
        if (difference >> left) & ((1 << bits) - 1):
            return name
    return "id"
