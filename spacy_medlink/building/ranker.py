"""fit_ranker: learns from annotated text which candidates are right, and keeps it if it helps."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..assets import CALIBRATOR, MEMORY, RANKER_FILE, RERANKER, Assets
from ..errors import Errors
from ..evaluation.clustered import standard_error
from ..files import sha256_of
from ..kb import KnowledgeBase
from ..linking.blending import blend, remembered
from ..linking.ranker import RANKER, TOP, WEIGHT, name_facts, softmax
from ..measuring import load_gold
from ..measuring.gold_set import Case
from ..progress import no_progress
from ..ranking import Fitted, Lists, NameFacts, fit, traits_of
from ..retrieval.mask import Mask
from ..retrieval.memory import MentionMemory, Remembered, memory_key, read_memory
from ..types import Candidate, Mention, Progress
from .mention_names import SOURCE
from .variant import left_out, write_variant

_FOLDS = 5
_SEED = 0
_NEEDED = 50  # mentions that tell a right candidate from a wrong one
_BATCH = 512
_ERRORS = 2  # standard errors that the gain must exceed: of a hundred mentions, one says little
_DEPTHS = (1, 5)
_DIGITS = 4


class RankerFitted(NamedTuple):
    """assets (Assets): with the ranker, or without. facts (Dict): figures. kept (bool)."""

    assets: Assets
    facts: dict[str, Any]
    kept: bool


class _Asked(NamedTuple):
    """A case, what was retrieved for it as if its document were not annotated, and its fold."""

    case: Case
    ranking: list[Candidate]
    fold: int
    facts: NameFacts


def fit_ranker(
    assets: Assets,
    out: str | Path,
    gold: str | Path,
    *,
    progress: Progress = no_progress,
) -> RankerFitted:
    """Fit a ranker to annotated text, and write the assets with it if it beats retrieval.

    Documents are dealt into five folds. A mention is looked up as if no document of its fold had
    been annotated: memory and names that only they gave are taken out. It is judged by a model of
    the other folds, and what it gains must be more than two standard errors, without the loss of
    first places over all. Memorised mentions teach nothing, and keep their place.

    gold (Path): documents that the encoder was not fine-tuned on, or what it knows by heart would
        count for more than it is worth.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file, E530 for too few mentions, E109.
    """
    asked = [one for one in _ask(assets, Path(gold), progress) if not remembered(one.ranking)]
    lists = _lists(asked)
    if (found := int(lists.tells.sum())) < _NEEDED:
        raise Errors.too_few_rows(
            path=gold, found=found, wanted=_NEEDED, what="mentions with a right and a wrong answer"
        )
    fitted = fit(lists)
    before, after = _ranks(asked, None), _ranks(asked, _by_mention(fitted.unseen, lists))
    gain, error = float((after - before).mean()), standard_error(after - before, _texts(asked))
    kept = gain > _ERRORS * error and (after == 1).sum() >= (before == 1).sum()
    facts = {
        "mentions": len(asked),
        "documents": len({one.case.doc for one in asked}),
        "fitted_on": {"file": Path(gold).name, "sha256": sha256_of(Path(gold))},
        "penalty": fitted.penalty,
        "top": TOP,
        "retrieval": _figures(before),
        "ranked": _figures(after),
        "gain": round(gain, _DIGITS),
        "standard_error": round(error, _DIGITS),
    }
    return RankerFitted(_write(assets, Path(out), fitted, facts, kept), facts, bool(kept))


def _ask(assets: Assets, gold: Path, progress: Progress) -> Iterator[_Asked]:
    """Look the mentions up, fold by fold."""
    kb = assets.kb
    cases = [one for one in load_gold(gold, kb).cases() if one.mention.text.strip() and one.right]
    fold_of = _folds([case.doc for case in cases])
    remembering = assets.manifest.get("memory") is not None
    lines = read_memory(assets.path / MEMORY) if remembering else []
    row_of = {id: row for row, id in enumerate(kb.iter_ids())}
    for fold in progress(range(_FOLDS), _FOLDS, "looking mentions up"):
        own = [case for case in cases if fold_of[case.doc] == fold]
        left = forget(lines, own, kb)
        memory = MentionMemory.of(left, row_of) if remembering else None
        engine = assets.engine(calibrator=False, rescorer=None, memory=memory or False)
        mask = _without(kb, own, left)
        facts = name_facts(kb, engine.name_concept, left)
        distinct = list(dict.fromkeys(case.mention._replace(left="", right="") for case in own))
        rankings: dict[Mention, list[Candidate]] = {}
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            rankings.update(zip(part, engine.rank_within(part, TOP, mask), strict=True))
        for case in own:
            ranking = rankings[case.mention._replace(left="", right="")]
            yield _Asked(case, ranking, fold, facts)


def forget(
    lines: Sequence[Remembered], cases: Sequence[Case], kb: KnowledgeBase
) -> list[Remembered]:
    """Take from a memory what some of the mentions that it learned from said.

    What nobody else said is gone; who else would have won is not known any more.
    """
    said: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str, str]] = Counter()
    for case in cases:
        own = memory_key(case.mention.long_form or case.mention.text)
        for label in dict.fromkeys((case.gold.type, "")):
            said[own, label] += 1
            for row in case.right:
                right[own, label, kb.concept_at(row).id] += 1
    left = (
        line._replace(
            votes=line.votes - right[line.key, line.label, line.id],
            of=line.of - said[line.key, line.label],
        )
        for line in lines
    )
    return [line for line in left if line.votes > 0]


def _without(kb: KnowledgeBase, cases: Sequence[Case], left: Sequence[Remembered]) -> Mask:
    """Mask the names that only these mentions gave."""
    allowed = np.ones(kb.n_names, dtype=np.bool_)
    own = {memory_key(case.mention.long_form or case.mention.text) for case in cases}
    gone = own - {line.key for line in left}
    for row in sorted({row for case in cases for row in case.right}):
        concept = kb.concept_at(row)
        for place, name in enumerate(concept.names):
            if name.source == SOURCE and memory_key(name.text) in gone:
                allowed[concept.first_name + place] = False
    return Mask.of(allowed)


def _folds(docs: Sequence[str]) -> dict[str, int]:
    distinct = sorted(set(docs))
    dealt = np.random.default_rng(_SEED).permutation(len(distinct)) % _FOLDS
    return dict(zip(distinct, dealt.tolist(), strict=True))


def _lists(asked: Sequence[_Asked]) -> Lists:
    traits = [traits_of(one.ranking[:TOP], one.facts) for one in asked]
    right = [
        np.asarray([own.row in one.case.right for own in one.ranking[:TOP]], dtype=np.bool_)
        for one in asked
    ]
    counts = Counter(_texts(asked))
    return Lists(
        np.vstack(traits) if traits else np.zeros((0, 0)),
        np.concatenate(right) if right else np.zeros(0, dtype=np.bool_),
        np.cumsum([len(one) for one in right], dtype=np.int64),
        np.asarray([one.fold for one in asked], dtype=np.int64),
        # A mention that comes ten times does not teach ten times as much.
        np.asarray([1 / np.sqrt(counts[text]) for text in _texts(asked)]),
    )


def _texts(asked: Sequence[_Asked]) -> list[str]:
    return [one.case.mention.text.lower() for one in asked]


def _by_mention(logits: NDArray[np.float64], lists: Lists) -> list[NDArray[np.float64]]:
    return [logits[start:end] for start, end in lists.spans]


def _ranks(
    asked: Sequence[_Asked], logits: Sequence[NDArray[np.float64]] | None
) -> NDArray[np.float64]:
    """Compute the reciprocal rank of each mention's first right candidate, 0 where none is."""
    found = []
    for place, one in enumerate(asked):
        ranking = one.ranking
        if logits is not None:
            ranking = blend(ranking, 0, softmax(logits[place]), WEIGHT, RANKER)
        hits = (1 / n for n, own in enumerate(ranking, 1) if own.row in one.case.right)
        found.append(next(hits, 0.0))
    return np.asarray(found)


def _figures(ranks: NDArray[np.float64]) -> dict[str, float]:
    shares = {f"acc@{n}": float((ranks >= 1 / n).mean()) for n in _DEPTHS}
    return {k: round(v, _DIGITS) for k, v in {**shares, "mrr": float(ranks.mean())}.items()}


def _write(assets: Assets, out: Path, fitted: Fitted, facts: dict[str, Any], kept: bool) -> Assets:
    """Write the assets with the ranker, or without it.

    Scores change with a ranker, and so does the order that a reranker was chosen behind: what was
    fitted to the old ones does not hold.
    """
    gained = f"{facts['gain']} +/- {facts['standard_error']}"
    why = "" if kept else f"it does not beat retrieval beyond doubt (mrr gained {gained})"
    changes: dict[str, Any] = {
        "ranker": facts if kept else None,
        "left_out": left_out(assets, "ranker", why),
    }
    without = [RANKER_FILE]
    if kept or assets.manifest.get("ranker") is not None:
        without += [CALIBRATOR, RERANKER]
        changes |= {"calibrator": None, RERANKER: None}
    conditions = assets.conditions(assets.engine(calibrator=False, rescorer=None))
    model = replace(fitted.model, fitted_for=conditions)

    def add(path: Path) -> None:
        if kept:
            model.save(path / RANKER_FILE)

    return write_variant(assets, out, changes, without=without, add=add)
