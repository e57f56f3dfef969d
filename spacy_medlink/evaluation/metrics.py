"""Accuracy at k, mean reciprocal rank, NIL detection: one flat dict, as DESIGN's contract says."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .outcome import Outcome

_SAMPLES = 1000
_SEED = 0
_TAILS = (2.5, 97.5)  # percent

Metrics = dict[str, Any]


def compute_metrics(outcomes: Iterable[Outcome], ks: Sequence[int] = (1, 5)) -> Metrics:
    """Compute all metrics of a list of outcomes.

    Accuracy and MRR are over the mentions that have a gold id; those whose gold concept the
    knowledge base lacks are wrong. MRR counts what lies beyond the ranking's end as 0.

    ks (Sequence[int]): depths of accuracy.
    RETURNS (Dict[str, Any]): fractions from 0 to 1, rounded to 6 digits: "n" mentions with a gold
        id, "gold_in_kb" how many of their concepts the knowledge base has, "acc@k", "mrr",
        "acc@1_ci95" [low, high] (documents resampled), "nil", and the same without interval and
        NIL under "by_lang" and "by_type", for mentions that have one. None stands for what cannot
        be computed.
    """
    outcomes = list(outcomes)
    linked = [outcome for outcome in outcomes if not outcome.is_nil]
    return {
        **_accuracy(linked, ks),
        "acc@1_ci95": bootstrap_interval(linked),
        "nil": nil_metrics(outcomes),
        "by_lang": _by(lambda outcome: outcome.lang, linked, ks),
        "by_type": _by(lambda outcome: outcome.type, linked, ks),
    }


def nil_metrics(outcomes: Sequence[Outcome]) -> Metrics:
    """Compute how well NIL was told from links: precision, recall and F1 of abstaining.

    RETURNS (Dict[str, Any]): "n" gold NILs, "predicted", "precision", "recall", "f1".
    """
    gold = sum(outcome.is_nil for outcome in outcomes)
    predicted = sum(outcome.abstained for outcome in outcomes)
    right = sum(outcome.is_nil and outcome.abstained for outcome in outcomes)
    return {"n": gold, "predicted": predicted, **precision_recall(right, predicted, right, gold)}


def precision_recall(
    right_predicted: int, predicted: int, found_gold: int, gold: int
) -> dict[str, float | None]:
    """Compute precision, recall and F1 from counts; None where nothing was predicted or wanted.

    right_predicted (int): predictions that are right. found_gold (int): gold items that were
        found; the same number unless several predictions may find one item.
    """
    precision = right_predicted / predicted if predicted else None
    recall = found_gold / gold if gold else None
    if precision is None and recall is None:
        f1 = None
    else:
        both = (precision or 0.0) + (recall or 0.0)
        f1 = 2 * (precision or 0.0) * (recall or 0.0) / both if both else 0.0
    return {"precision": _rounded(precision), "recall": _rounded(recall), "f1": _rounded(f1)}


def bootstrap_interval(outcomes: Sequence[Outcome]) -> list[float] | None:
    """Estimate the 95 % interval of acc@1 by the percentile bootstrap over documents.

    Mentions of one document repeat each other, so whole documents are drawn, not mentions.

    RETURNS (Optional[List[float]]): [low, high]; None without outcomes.
    """
    by_doc: dict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        by_doc[outcome.doc].append(outcome.rank == 1)
    if not by_doc:
        return None
    right = np.array([sum(own) for own in by_doc.values()])
    total = np.array([len(own) for own in by_doc.values()])
    random = np.random.default_rng(_SEED)
    values = []
    for _ in range(_SAMPLES):
        drawn = random.integers(0, len(total), len(total))
        values.append(right[drawn].sum() / total[drawn].sum())
    return [round(float(value), 6) for value in np.percentile(values, _TAILS)]


def _accuracy(outcomes: Sequence[Outcome], ks: Sequence[int]) -> Metrics:
    n = len(outcomes)
    ranks = np.array([outcome.rank for outcome in outcomes], dtype=np.int64)
    found = ranks[ranks > 0]
    metrics: Metrics = {"n": n, "gold_in_kb": sum(outcome.in_kb for outcome in outcomes)}
    for k in ks:
        metrics[f"acc@{k}"] = _rounded(float((found <= k).sum() / n)) if n else None
    metrics["mrr"] = _rounded(float((1 / found).sum() / n)) if n else None
    return metrics


def _by(
    group: Callable[[Outcome], str], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, Metrics]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[group(outcome)].append(outcome)
    return {name: _accuracy(groups[name], ks) for name in sorted(groups) if name}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
