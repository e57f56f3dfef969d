"""fit_rerank_gate: finds the rankings that a reranker would not change."""

from collections.abc import Sequence

from ..linking.gate import RerankGate, ahead
from ..linking.reranking import Reranker
from ..types import Candidate, Data, Facts, Mention

CONFIDENCE = 0.95
MAX_CHANGED = 0.005  # share of different texts; to show less, more than a corpus has are needed


def fit_rerank_gate(
    reranker: Reranker,
    mentions: Sequence[Mention],
    rankings: Sequence[Sequence[Candidate]],
    conditions: Facts,
) -> Data:
    """Find how far ahead a first candidate must be for the reranker to leave it there.

    With 95 % confidence, at most MAX_CHANGED of the texts would get another first candidate if all
    were read. Margins are tried from the widest on until that no longer holds, so that trying
    several needs no correction (fixed sequence testing: Angelopoulos et al. 2021, "Learn then
    Test"). A reading is between 0 and 1, so that it cannot make up for more than weight / (1 -
    weight).

    reranker (Reranker): with its weight, without a gate. mentions, rankings: held out, as the
        reranker gets them. Mentions of the same text count as one.
    conditions (Mapping): what the rankings depend on.
    RETURNS (Dict): "gate" of the reranker in a manifest.
    """
    widest: dict[str, float] = {}  # margin of each text at which the first candidate changes
    after = reranker.rescore(mentions, rankings)
    for mention, old, new in zip(mentions, rankings, after, strict=True):
        margin = ahead(old) if old and old[0].row != new[0].row else -1.0
        text = mention.text.lower()
        widest[text] = max(widest.get(text, -1.0), margin)
    changes = sorted((change for change in widest.values() if change >= 0), reverse=True)
    weight, n = reranker.weight, len(widest)
    allowed = sum(at_most(k, n) <= MAX_CHANGED for k in range(len(changes) + 1))
    fitted = [1.0, *changes, 0.0][allowed]
    certain = weight / (1 - weight) if weight < 1 else 1.0
    gate = RerankGate(min(fitted, certain, 1.0))
    changed = sum(change > gate.margin for change in changes)
    return {
        "margin": gate.margin,
        "mentions": len(mentions),
        "passing": sum(map(gate.lets, rankings)),
        "examples": n,
        "changed": changed,
        "at_most": 0.0 if certain <= fitted else at_most(changed, n),
        "max_changed": MAX_CHANGED,
        "confidence": CONFIDENCE,
        "fitted_for": dict(conditions),
    }


def at_most(changed: int, examples: int) -> float:
    """Compute the upper bound of the share of changed links (Clopper and Pearson 1934)."""
    from scipy.stats import beta

    if changed >= examples:
        return 1.0
    return round(float(beta.ppf(CONFIDENCE, changed + 1, examples - changed)), 6)
