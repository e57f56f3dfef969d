"""Accuracy at k, recall at k, mean reciprocal rank and NIL scores, as one dict."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from .intervals import Bootstrap, Flags, Floats, fraction, reciprocal, rounded
from .outcome import Metrics, Outcome, count_verdicts
from .rollup import rollup_metrics


def compute_metrics(
    outcomes: Iterable[Outcome], ks: Sequence[int] = (1, 5), with_groups: bool = True
) -> Metrics:
    """Compute all metrics of a list of outcomes.

    Accuracy, recall and MRR are over the mentions with a gold id; those whose gold concept the
    knowledge base lacks are wrong. For MRR, a concept beyond the end of the ranking counts as 0.

    ks (Sequence[int]): depths of accuracy and recall. with_groups (bool): also by type and label;
        without, only several languages get their own accuracies.
    RETURNS (Metrics): fractions from 0 to 1, rounded to 6 digits: "n" mentions with a gold
        id, "gold_in_kb" the number whose concept is in the knowledge base, "acc@k", "mrr",
        "recall@k" of the retriever, "recall@all" among all its candidates; "ci95" with
        [low, high] of "acc@k" and "mrr" (documents resampled); "acc@1_ties", in which a right
        concept that ties with n - 1 others for the first place counts 1/n (BELB's recall@1, Garda
        et al. 2023); "nil", "links" (all links, those of NILs included), "verdicts" (the steps
        that lost mentions), "rollup" where the knowledge base has a hierarchy; and the accuracies
        under "by_lang", "by_type" and a "by_" for each label, for the mentions that have one. None
        is an undefined value.
    """
    outcomes = list(outcomes)
    linked = [outcome for outcome in outcomes if not outcome.is_nil]
    table = _Table(linked, ks)
    by_lang = table.by(lambda outcome: (outcome.lang,))
    has_rollup = any(outcome.rollup is not None for outcome in linked)
    totals = {
        **table.metrics(np.ones(len(linked), dtype=bool)),
        "acc@1_ties": fraction(sum(outcome.share for outcome in linked), len(linked)),
        "nil": nil_metrics(outcomes),
        "links": link_metrics(outcomes),
        "verdicts": count_verdicts(outcomes),
        **({"rollup": rollup_metrics(linked)} if has_rollup else {}),
        **({"by_lang": by_lang} if with_groups or len(by_lang) > 1 else {}),
    }
    if with_groups:
        totals["by_type"] = table.by(lambda outcome: (outcome.type,))
        for label in sorted({label for outcome in linked for label in outcome.labels}):
            totals[f"by_{label}"] = table.by(partial(_groups, label))
    return totals


def nil_metrics(outcomes: Sequence[Outcome]) -> Metrics:
    """Compute how well NILs are found: precision, recall and F1 of abstaining.

    RETURNS (Metrics): "n" gold NILs, "predicted", "precision", "recall", "f1".
    """
    gold = sum(outcome.is_nil for outcome in outcomes)
    predicted = sum(outcome.abstained for outcome in outcomes)
    right = sum(outcome.is_nil and outcome.abstained for outcome in outcomes)
    return {"n": gold, "predicted": predicted, **precision_recall(right, predicted, right, gold)}


def link_metrics(outcomes: Sequence[Outcome]) -> Metrics:
    """Compute how good the links are; a link of a gold NIL is wrong.

    RETURNS (Metrics): "n" gold links, "predicted", "precision", "recall", "f1", and
        "coverage", the share of mentions that were linked.
    """
    made = [outcome for outcome in outcomes if not outcome.abstained]
    right = sum(outcome.rank == 1 for outcome in made)
    gold = sum(not outcome.is_nil for outcome in outcomes)
    return {
        "n": gold,
        "predicted": len(made),
        **precision_recall(right, len(made), right, gold),
        "coverage": fraction(len(made), len(outcomes)),
    }


def precision_recall(
    right_predicted: int, predicted: int, found_gold: int, gold: int
) -> dict[str, float | None]:
    """Compute precision, recall and F1 from counts; None where nothing was predicted or wanted.

    right_predicted (int): right predictions. found_gold (int): gold items found; the same number,
        unless several predictions may find one item.
    """
    precision, recall = fraction(right_predicted, predicted), fraction(found_gold, gold)
    p = right_predicted / max(1, predicted)
    r = found_gold / max(1, gold)
    f1 = rounded(2 * p * r / (p + r)) if p + r else 0.0 if predicted or gold else None
    return {"precision": precision, "recall": recall, "f1": f1}


def _groups(label: str, outcome: Outcome) -> Sequence[str]:
    return outcome.labels.get(label, ())


class _Table:
    """Gold links as columns: a hit or not at each depth, and the reciprocal rank."""

    def __init__(self, outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
        self._outcomes = outcomes
        self._ks = tuple(ks)
        ranks = np.array([outcome.rank for outcome in outcomes], dtype=np.int64)
        self._retrieved = np.array([outcome.retrieved for outcome in outcomes], dtype=np.int64)
        self._in_kb = np.array([outcome.in_kb for outcome in outcomes], dtype=bool)
        hits = [(ranks > 0) & (ranks <= k) for k in self._ks]
        self._values: Floats = np.column_stack([*hits, reciprocal(ranks)]).astype(np.float64)
        self._bootstrap = Bootstrap([outcome.doc for outcome in outcomes])

    def metrics(self, kept: Flags) -> Metrics:
        """Compute the accuracies of some of the mentions."""
        n = int(kept.sum())
        names = [*(f"acc@{k}" for k in self._ks), "mrr"]
        sums = self._values[kept].sum(axis=0)
        retrieved = self._retrieved[kept]
        is_retrieved = retrieved > 0
        intervals = self._bootstrap.intervals(self._values, kept)
        return {
            "n": n,
            "gold_in_kb": int(self._in_kb[kept].sum()),
            **{name: fraction(total, n) for name, total in zip(names, sums, strict=True)},
            **{
                f"recall@{k}": fraction((is_retrieved & (retrieved <= k)).sum(), n)
                for k in self._ks
            },
            "recall@all": fraction(is_retrieved.sum(), n),
            "ci95": dict(zip(names, intervals, strict=True)),
        }

    def by(self, groups: Callable[[Outcome], Sequence[str]]) -> dict[str, Metrics]:
        """Compute the accuracies of groups, which may overlap."""
        members: dict[str, list[int]] = defaultdict(list)
        for row, outcome in enumerate(self._outcomes):
            for group in groups(outcome):
                members[group].append(row)
        accuracies = {}
        for group in sorted(members):
            if group:
                kept = np.zeros(len(self._outcomes), dtype=bool)
                kept[members[group]] = True
                accuracies[group] = self.metrics(kept)
        return accuracies
