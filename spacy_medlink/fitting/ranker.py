"""Fits a ranker to annotated text, or to names, and keeps it if it helps.

Without annotated text, examples made of names replace mentions (`name_examples`): a name that must
be found through another name of its concept or in another language, and one with a slip of the pen.
The encoder finds the former, the n-gram tier the latter. How often text has each kind is not known,
so that each counts the same.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..evaluation.gold_set import GoldSet
from ..evaluation.intervals import rank_figures, reciprocal, standard_error
from ..evaluation.outcome import first_right
from ..kb import KnowledgeBase
from ..linking.asset_parts import AssetParts
from ..linking.blending import blend, remembered
from ..linking.facts import NameFacts, name_facts
from ..linking.features import Features, features_of_candidates
from ..linking.linear import Floats, LinearModel
from ..linking.ranker import (
    OF_NAMES,
    RANKER,
    RANKER_FEATURES,
    TOP,
    WEIGHT,
    CandidateRanker,
    softmax,
)
from ..types import Candidate, Data, Facts, Progress
from ..util.progress import no_progress
from .examples import Flags
from .folds import RankedCase, deal, rank_unannotated
from .name_examples import SLIP, SYNONYM, TRANSLATED
from .retrieved import RetrievedExamples

KINDS_OF_NAMES = (SYNONYM, TRANSLATED, SLIP)
_NEEDED = 50  # least mentions with a right and a wrong candidate
_ERRORS = 2  # least gain in standard errors
_DEPTHS = (1, 5)
_DIGITS = 4
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
_OF_NAMES = 1e-2  # penalty; names themselves would choose one too small for text
_MOST_ITERATIONS = 500


@dataclass(frozen=True, eq=False)
class Lists:
    """Candidates of n mentions, end to end.

    features (Features): (n_candidates, n_features). right (Flags): (n_candidates,).
    ends (NDArray[int64]): where each mention's candidates end, (n,).
    folds (NDArray[int64]): fold of each mention; models of the other folds score it, (n,).
    weights (Floats): of the mentions, (n,).
    """

    features: Features
    right: Flags
    ends: NDArray[np.int64]
    folds: NDArray[np.int64]
    weights: Floats

    @classmethod
    def of(
        cls,
        rankings: Sequence[Sequence[Candidate]],
        right: Sequence[Set[int]],
        folds: NDArray[np.int64],
        weights: Floats,
        facts_of_names: Iterable[NameFacts],
    ) -> "Lists":
        """Make features of rankings, none of them empty, of whose rows some are right."""
        features = [
            features_of_candidates(ranking, RANKER_FEATURES, facts)
            for ranking, facts in zip(rankings, facts_of_names, strict=False)
        ]
        flags = [
            np.asarray([candidate.row in wanted for candidate in ranking], dtype=np.bool_)
            for ranking, wanted in zip(rankings, right, strict=True)
        ]
        ends = np.cumsum([len(ranking) for ranking in rankings], dtype=np.int64)
        return cls(np.vstack(features), np.concatenate(flags), ends, folds, weights)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Compute where the candidates of each mention begin and end."""
        return list(zip([0, *self.ends[:-1].tolist()], self.ends.tolist(), strict=True))

    @property
    def tells(self) -> Flags:
        """Tell which mentions have both a right and a wrong candidate, as fitting needs: (n,)."""
        flags = [
            bool(self.right[start:end].any()) and not self.right[start:end].all()
            for start, end in self.spans
        ]
        return np.asarray(flags, dtype=np.bool_)


class Fitted(NamedTuple):
    """model (LinearModel): of all mentions. penalty (float): the best one.

    unseen (Floats): scores of all candidates by models that were fitted without the mention's fold.
    losses (Dict[float, float]): log loss of each penalty on unseen mentions.
    """

    model: LinearModel
    penalty: float
    unseen: Floats
    losses: dict[float, float]


class RankerFit(NamedTuple):
    """A ranker that was fitted, and whether it helps.

    ranker (Optional[CandidateRanker]): ready for use; None where it does not help.
    entry (Dict[str, Any]): figures, for the manifest. why_not (str): why it does not help.
    """

    ranker: CandidateRanker | None
    entry: Data
    why_not: str


def fit_ranker(
    assets: AssetParts, gold: GoldSet, top: int = TOP, progress: Progress = no_progress
) -> RankerFit:
    """Fit a ranker to annotated text; it is kept if it beats retrieval.

    Documents are split into five folds. A mention is looked up as if no document of its fold had
    been annotated: the memory and the names that come only from the fold are left out. A model of
    the other folds scores it. The gain must exceed two standard errors, and the number of right
    first candidates must not fall. Remembered mentions are not fitted to, and keep their place.

    gold (GoldSet): documents that the encoder was not trained on; otherwise the dense tier would
        get too much weight.
    top (int): candidates to order; more cost time, and let more distant ones rise.
    RAISES (MedlinkError): E407 where every mention is NIL, E530 for too few mentions, E302 for a
        top below 2.
    """
    check_top(top)
    every = list(rank_unannotated(assets, gold, top, progress, rescorer=None, exact_first=False))
    cases = [case for case in every if case.case.right and not remembered(case.ranking)]
    if not cases:
        raise Errors.too_few_rows(path=gold.path, found=0, wanted=_NEEDED, what="mentions to rank")
    counts = Counter(_texts(cases))
    lists = Lists.of(
        [case.ranking for case in cases],
        [case.case.right for case in cases],
        np.asarray([case.fold for case in cases], dtype=np.int64),
        # A mention that occurs ten times counts less than ten mentions.
        np.asarray([1 / np.sqrt(counts[text]) for text in _texts(cases)]),
        [case.facts_of_names() for case in cases],
    )
    if (usable := int(lists.tells.sum())) < _NEEDED:
        raise Errors.too_few_rows(
            path=gold.path,
            found=usable,
            wanted=_NEEDED,
            what="mentions with a right and a wrong answer",
        )
    fitted = fit(lists)
    right = [case.case.right for case in cases]
    before, after = _before_and_after([case.ranking for case in cases], right, lists, fitted)
    facts, why_not = _judged(before, after, _texts(cases))
    first = int(((before if why_not else after) == 1).sum())
    entry = {
        "unannotated": _with_remembered(every, first),
        "mentions": len(cases),
        "documents": len({case.case.doc for case in cases}),
        "fitted_on": {"file": gold.path.name, "sha256": gold.sha256},
        "penalty": fitted.penalty,
        "top": top,
        **facts,
    }
    if why_not:
        return RankerFit(None, entry, why_not)
    facts_of_names = name_facts(assets.kb, assets.name_concept, assets.memory_lines)
    conditions = assets.conditions(assets.engine(calibrator=False, rescorer=None))
    return RankerFit(CandidateRanker(fitted.model, facts_of_names, top, conditions), entry, "")


def fit_ranker_on_names(
    names: RetrievedExamples, kb: KnowledgeBase, fitted_for: Facts
) -> RankerFit:
    """Fit a ranker to examples made of names, so that it knows what each tier is worth here.

    Only `OF_NAMES` of the features count, and a mention that is a name is not ordered anew.

    names (RetrievedExamples): with a linker without a rescorer. fitted_for (Mapping): what that
        linker's scores depend on (`conditions`).
    """
    examples = names.of_kinds(KINDS_OF_NAMES)
    facts_of_names = name_facts(kb, names.engine.name_concept)
    found = [
        (example, ranking)
        for example, ranking in zip(examples, names.rank(examples, TOP), strict=True) if ranking
    ]  # fmt: skip
    if len(found) < _NEEDED:
        return RankerFit(None, {}, f"{len(found)} examples are too few")
    counts = Counter(example.kind for example, _ in found)
    right, rankings = [example.right for example, _ in found], [ranking for _, ranking in found]
    concepts = np.asarray([example.concept for example, _ in found])
    weights = np.asarray([1 / counts[example.kind] for example, _ in found])
    lists = Lists.of(rankings, right, deal(concepts), weights, repeat(facts_of_names))
    lists.features[:, [name not in OF_NAMES for name in RANKER_FEATURES]] = 0.0
    fitted = fit(lists, [_OF_NAMES])
    before, after = _before_and_after(rankings, right, lists, fitted)
    # The weights that it replaces were proven by nothing, so it need not be better beyond doubt.
    groups = [str(concept) for concept in concepts.tolist()]
    facts, why_not = _judged(before, after, groups, errors=0)
    entry = {
        "examples": dict(sorted(counts.items())),
        "fitted_on": {"names": "of the knowledge base"},
        "penalty": fitted.penalty,
        "top": TOP,
        **facts,
    }
    if why_not:
        return RankerFit(None, entry, why_not)
    ranker = CandidateRanker(fitted.model, facts_of_names, TOP, fitted_for, on_names=True)
    return RankerFit(ranker, entry, "")


def _before_and_after(
    rankings: Sequence[Sequence[Candidate]],
    right: Sequence[Set[int]],
    lists: Lists,
    fitted: Fitted,
) -> tuple[Floats, Floats]:
    """Compute the reciprocal ranks of right candidates, as retrieved and by unseen models: (n,)."""
    ranked = [
        blend(ranking, 0, softmax(fitted.unseen[start:end]), WEIGHT, RANKER)
        for ranking, (start, end) in zip(rankings, lists.spans, strict=True)
    ]
    before, after = (
        reciprocal(
            [
                first_right([candidate.row for candidate in ranking], wanted)
                for ranking, wanted in zip(order, right, strict=True)
            ]
        )
        for order in (rankings, ranked)
    )
    return before, after


def _judged(
    before: Floats, after: Floats, groups: Sequence[str], errors: float = _ERRORS
) -> tuple[Data, str]:
    """Make the figures for the manifest, and say why the new order is not kept; "" where it is.

    errors (float): standard errors that it must gain.
    """
    gain, error = float((after - before).mean()), standard_error(after - before, groups)
    facts = {
        "retrieval": rank_figures(before, _DEPTHS),
        "ranked": rank_figures(after, _DEPTHS),
        "gain": round(gain, _DIGITS),
        "standard_error": round(error, _DIGITS),
    }
    if gain > errors * error and (after == 1).sum() >= (before == 1).sum():
        return facts, ""
    gained = f"mrr gained {facts['gain']} +/- {facts['standard_error']}"
    return facts, f"it does not beat retrieval beyond doubt ({gained})"


def check_top(top: int) -> None:
    """Refuse to order a single candidate: E302."""
    if top < 2:
        raise Errors.bad_setting(name="top", value=top, rule="must be at least 2")


def fit(lists: Lists, penalties: Sequence[float] = PENALTIES) -> Fitted:
    """Fit by the listwise softmax, with the penalty on squared weights that is best on others.

    The loss of a mention is -log of the softmax share of its right candidates.
    """
    unseen: dict[float, Floats] = {}
    losses: dict[float, float] = {}
    for penalty in penalties:
        logits = np.zeros(len(lists.right))
        for fold in np.unique(lists.folds).tolist():
            model = _fit(lists, lists.folds != fold, penalty)
            of_fold = np.repeat(lists.folds == fold, np.diff(lists.ends, prepend=0))
            logits[of_fold] = model.score(lists.features[of_fold])
        unseen[penalty], losses[penalty] = logits, _loss(logits, lists)
    best = min(penalties, key=lambda penalty: losses[penalty])
    every = np.ones(len(lists.ends), dtype=np.bool_)
    return Fitted(_fit(lists, every, best), best, unseen[best], losses)


def _with_remembered(every: Sequence[RankedCase], first: int) -> dict[str, int]:
    """Count the mentions whose concept is known, those in the memory too, and how many are right.

    first (int): right first candidates among the mentions that the ranker orders.
    """
    in_kb = [case for case in every if case.case.right]
    in_memory = [case for case in in_kb if remembered(case.ranking)]
    right = sum(case.ranking[0].row in case.case.right for case in in_memory)
    return {"mentions": len(in_kb), "right": first + right}


def _texts(cases: Sequence[RankedCase]) -> list[str]:
    return [case.case.mention.text.lower() for case in cases]


def _fit(lists: Lists, chosen: Flags, penalty: float) -> LinearModel:
    from scipy.optimize import minimize  # takes half a second to import; linking does not need it

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

    solution = minimize(
        loss, np.zeros(len(RANKER_FEATURES)), jac=True, method="L-BFGS-B",
        options={"maxiter": _MOST_ITERATIONS},
    )  # fmt: skip
    return replace(model, weights=np.asarray(solution.x, dtype=np.float64))


def _padded(lists: Lists, chosen: Flags) -> tuple[Features, Flags, Flags, Floats]:
    """Pad the chosen mentions: (n, most candidates, ...); which are right, which are there."""
    spans = [span for span, wanted in zip(lists.spans, chosen.tolist(), strict=True) if wanted]
    most = max((end - start for start, end in spans), default=0)
    features = np.zeros((len(spans), most, len(RANKER_FEATURES)))
    right = np.zeros((len(spans), most), dtype=np.bool_)
    real = np.zeros((len(spans), most), dtype=np.bool_)
    for at, (start, end) in enumerate(spans):
        features[at, : end - start] = lists.features[start:end]
        right[at, : end - start] = lists.right[start:end]
        real[at, : end - start] = True
    return features, right, real, lists.weights[chosen]


def _loss(logits: Floats, lists: Lists) -> float:
    total, weight = 0.0, 0.0
    told = zip(lists.spans, lists.tells.tolist(), lists.weights.tolist(), strict=True)
    for (start, end), tells, weight_of in told:
        if tells:
            powers = np.exp(_stable(logits[None, start:end])[0])
            total -= weight_of * float(np.log(powers[lists.right[start:end]].sum() / powers.sum()))
            weight += weight_of
    return total / weight if weight else 0.0


def _stable(logits: Floats) -> Floats:
    stable: Floats = np.maximum(logits - logits.max(axis=1, keepdims=True), -700.0)
    # Padding keeps a probability of 0.
    return np.where(np.isneginf(logits), -np.inf, stable)
