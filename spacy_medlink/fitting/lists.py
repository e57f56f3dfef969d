"""Fitting a ranking model to candidates of which it is known which are right."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ranking.features import Features
from ..ranking.linear import Floats, LinearModel
from ..ranking.ranker import RANKER_FEATURES

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
_MOST_ITERATIONS = 500

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lists:
    """Candidates of n mentions, one after the other.

    features (Features): (n_candidates, n_features). right (Flags): (n_candidates,).
    ends (NDArray[int64]): where each mention's candidates end, (n,).
    folds (NDArray[int64]): mentions of one fold are tried with a model of the others, (n,).
    weights (Floats): what each mention counts, (n,).
    """

    features: Features
    right: Flags
    ends: NDArray[np.int64]
    folds: NDArray[np.int64]
    weights: Floats

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where the candidates of each mention begin and end."""
        return list(zip([0, *self.ends[:-1].tolist()], self.ends.tolist(), strict=True))

    @property
    def tells(self) -> Flags:
        """Tell which mentions have a right and a wrong candidate, as learning needs: (n,)."""
        found = [
            bool(self.right[start:end].any()) and not self.right[start:end].all()
            for start, end in self.spans
        ]
        return np.asarray(found, dtype=np.bool_)


class Fitted(NamedTuple):
    """model (LinearModel): of all mentions. penalty (float): the one that was best.

    unseen (Floats): scores of all candidates by models that had not seen the mention's fold.
    losses (Dict[float, float]): log loss of each penalty on unseen mentions.
    """

    model: LinearModel
    penalty: float
    unseen: Floats
    losses: dict[float, float]


def fit(lists: Lists) -> Fitted:
    """Fit by the listwise softmax, with the penalty on squared weights that does best on others.

    The loss of a mention is -log of the share of the softmax that its right candidates have.
    """
    unseen: dict[float, Floats] = {}
    losses: dict[float, float] = {}
    for penalty in PENALTIES:
        logits = np.zeros(len(lists.right))
        for fold in np.unique(lists.folds).tolist():
            model = _fit(lists, lists.folds != fold, penalty)
            own = np.repeat(lists.folds == fold, np.diff(lists.ends, prepend=0))
            logits[own] = model.score(lists.features[own])
        unseen[penalty], losses[penalty] = logits, _loss(logits, lists)
    best = min(PENALTIES, key=lambda penalty: losses[penalty])
    every = np.ones(len(lists.ends), dtype=np.bool_)
    return Fitted(_fit(lists, every, best), best, unseen[best], losses)


def _fit(lists: Lists, chosen: Flags, penalty: float) -> LinearModel:
    from scipy.optimize import minimize  # half a second that linking need not pay

    features, right, real, weights = _padded(lists, chosen & lists.tells)
    model = LinearModel.standardising(RANKER_FEATURES, features[real])
    if not len(weights):
        return model
    scaled = model.standardise(features) * real[..., None]
    never = np.where(real, 0.0, -np.inf)
    share = weights / weights.sum()

    def loss(w: Floats) -> tuple[float, Floats]:
        powers = np.exp(_stable(scaled @ w + never))
        among = powers / powers.sum(axis=1, keepdims=True)
        hit = (among * right).sum(axis=1)
        wanted = among * right / hit[:, None]
        slope = np.einsum("n,nc,nct->t", share, among - wanted, scaled)
        return float(-share @ np.log(hit) + penalty * w @ w), slope + 2 * penalty * w

    found = minimize(
        loss, np.zeros(len(RANKER_FEATURES)), jac=True, method="L-BFGS-B",
        options={"maxiter": _MOST_ITERATIONS},
    )  # fmt: skip
    return replace(model, weights=np.asarray(found.x, dtype=np.float64))


def _padded(lists: Lists, chosen: Flags) -> tuple[Features, Flags, Flags, Floats]:
    """Lay the chosen mentions out: (n, most candidates, ...), which are right, which are there."""
    spans = [span for span, wanted in zip(lists.spans, chosen.tolist(), strict=True) if wanted]
    most = max((end - start for start, end in spans), default=0)
    features = np.zeros((len(spans), most, len(RANKER_FEATURES)))
    right = np.zeros((len(spans), most), dtype=np.bool_)
    real = np.zeros((len(spans), most), dtype=np.bool_)
    for place, (start, end) in enumerate(spans):
        features[place, : end - start] = lists.features[start:end]
        right[place, : end - start] = lists.right[start:end]
        real[place, : end - start] = True
    return features, right, real, lists.weights[chosen]


def _loss(logits: Floats, lists: Lists) -> float:
    total, weight = 0.0, 0.0
    told = zip(lists.spans, lists.tells.tolist(), lists.weights.tolist(), strict=True)
    for (start, end), tells, own in told:
        if tells:
            powers = np.exp(_stable(logits[None, start:end])[0])
            total -= own * float(np.log(powers[lists.right[start:end]].sum() / powers.sum()))
            weight += own
    return total / weight if weight else 0.0


def _stable(logits: Floats) -> Floats:
    stable: Floats = np.maximum(logits - logits.max(axis=1, keepdims=True), -700.0)
    # Padding stays impossible.
    return np.where(np.isneginf(logits), -np.inf, stable)
