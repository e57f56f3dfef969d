"""Judges a linker, or a system to compare with, on gold mentions by either protocol."""

import time
from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.decision import Decision, decide
from ..types import Candidate, Mention, Progress
from ..util.progress import no_progress
from .gold_set import Case
from .outcome import Outcome, first_right
from .protocols import paper_key

_BATCH = 512
# Candidates at deeper places do not count as retrieved.
RETRIEVAL_DEPTH = 64
_MOST_KEPT = 100  # candidates to keep for a mention


class Ranker(Protocol):
    """The methods of a system that a linker is compared with."""

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention, best first."""

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names for each text: (name row, score), best first."""


class Judged(NamedTuple):
    """The outcomes of cases, in their order.

    candidates (List[List[Candidate]]): the best candidates of each case, at most `keep`.
    seconds (float): time of the ranking alone.
    """

    outcomes: list[Outcome]
    candidates: list[list[Candidate]]
    seconds: float


class _Ranked(NamedTuple):
    """Answers for a mention, best first, their candidates, and whether it is NIL.

    tied (Collection[int]): rows of the concepts that tie for the first place.
    """

    answers: Sequence[Hashable]
    candidates: Sequence[Candidate]
    abstained: bool
    tied: Collection[int]


def judge(
    system: Linker | Ranker,
    kb: KnowledgeBase,
    cases: Sequence[Case],
    *,
    depth: int,
    protocol: str = "concepts",
    threshold: float | None = 0.0,
    keep: int = 1,
    retriever: Linker | None = None,
    discard: Collection[str] = (),
    with_lexicon: bool = True,
    progress: Progress = no_progress,
    what: str = "ranking",
) -> Judged:
    """Rank mentions and judge the rankings.

    A composite case is right where all its parts are, and its rank is that of the worst part.

    depth (int): answers wanted in each ranking.
    protocol (str): "concepts" counts concepts. "names" counts distinct names, as the papers do: a
        name is right if any concept that has it is gold; for an abbreviation, only the long form is
        searched.
    threshold (Optional[float]): a first answer with a lower score or probability is no link
        (NIL); None for what the linker's calibrator recommends.
    keep (int): candidates to keep for each mention.
    retriever (Optional[Linker]): the linker without models that order candidates anew, if it has
        any; its candidates count as retrieved.
    discard (Collection[str]): labels of mentions that the linker ignores.
    with_lexicon (bool): look up the meanings of abbreviations in a lexicon.
    """
    by_names = protocol == "names"
    names = _Names(kb)
    outcomes: list[Outcome] = []
    kept: list[list[Candidate]] = []
    seconds = 0.0
    starts = range(0, len(cases), _BATCH)
    if isinstance(system, Linker):
        system = system.using(threshold=threshold)
    for start in progress(starts, len(starts), what):
        batch = cases[start : start + _BATCH]
        mentions = [mention for case in batch for mention in _looked_up(case)]
        if not with_lexicon:
            mentions = [one._replace(expansions=(), verbatim=()) for one in mentions]
        began = time.perf_counter()
        ranked = _rank(system, names, mentions, depth, by_names, threshold, discard)
        seconds += time.perf_counter() - began
        proposed = ranked
        if retriever is not None:
            proposed = _rank(retriever, names, mentions, depth, by_names, threshold, discard)
        taken, proposals = iter(ranked), iter(proposed)
        for case in batch:
            own = _take(taken, case)
            right: Collection[Hashable] = names.keys_of(case.right) if by_names else case.right
            rank = _worst(own, right)
            outcomes.append(
                _outcome(
                    case,
                    rank=rank if rank <= depth else 0,
                    retrieved=_worst(_take(proposals, case), right),
                    abstained=any(one.abstained for one in own),
                    share=prod(_share(one.tied, case.right) for one in own),
                )
            )
            kept.append(_merged(own, keep))
    return Judged(outcomes, kept, seconds)


def _looked_up(case: Case) -> tuple[Mention, ...]:
    return case.parts or (case.mention,)


def _take(ranked: Iterator[_Ranked], case: Case) -> list[_Ranked]:
    return [next(ranked) for _ in _looked_up(case)]


def _worst(ranked: Sequence[_Ranked], right: Collection[Hashable]) -> int:
    """Compute the rank at which all parts are right; 0 if one of them never is."""
    ranks = [first_right(one.answers, right) for one in ranked]
    return max(ranks) if all(ranks) else 0


def _share(tied: Collection[int], right: Collection[int]) -> float:
    """Compute the chance that one of the tied concepts, drawn at random, is right."""
    return sum(row in right for row in tied) / max(1, len(tied))


def _merged(ranked: Sequence[_Ranked], keep: int) -> list[Candidate]:
    """Merge the parts' candidates in turn: all first ones, all second ones and so on."""
    in_turn = (
        one.candidates[place]
        for place in range(keep)
        for one in ranked
        if place < len(one.candidates)
    )
    return [candidate for candidate, _ in zip(in_turn, range(keep), strict=False)]


def _rank(
    system: Linker | Ranker,
    names: "_Names",
    mentions: Sequence[Mention],
    depth: int,
    by_names: bool,
    threshold: float | None,
    discard: Collection[str],
) -> list[_Ranked]:
    if by_names:
        return _rank_names(system, names, mentions, threshold)
    keep = max(depth, RETRIEVAL_DEPTH)
    if not isinstance(system, Linker):
        return [_ranked(one) for one in decide(system.rank(mentions, keep), threshold)]
    decisions = iter(
        system.decide([one for one in mentions if one.label not in discard], keep=keep)
    )
    left = Decision(None, [])
    return [_ranked(left if one.label in discard else next(decisions)) for one in mentions]


def _ranked(decision: Decision) -> _Ranked:
    answers = decision.answers
    tied = answers[0].tied or (answers[0].row,) if answers else ()
    return _Ranked([one.row for one in answers], answers, decision.link is None, tied)


def _rank_names(
    system: Linker | Ranker, names: "_Names", mentions: Sequence[Mention], threshold: float | None
) -> list[_Ranked]:
    texts = [mention.long_form or mention.text for mention in mentions]
    # All names found are needed, since many are the same string and only distinct ones count.
    ranked = (
        rank_names(system, texts, names.count)
        if isinstance(system, Linker)
        else system.rank_names(texts, names.count)
    )
    found = [_distinct(names, ranking) for ranking in ranked]
    decisions = decide([candidates for _, candidates, _ in found], threshold)
    return [
        _Ranked(answers, candidates, decision.chosen is None, tied)
        for (answers, candidates, tied), decision in zip(found, decisions, strict=True)
    ]


def rank_names(linker: Linker, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
    """Rank names instead of concepts: (name row, fused score), the papers' protocol.

    texts (Sequence[str]): the forms to search, one a mention.
    """
    found = linker.retrieval.search(texts)
    rankings = []
    for rows, scores in zip(found.rows, linker.retrieval.fused(found), strict=True):
        # A name that several tiers propose occurs several times, with its exact score once.
        best: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            best[row] = max(score, best.get(row, score))
        best.pop(-1, None)
        rankings.append(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k])
    return rankings


def _distinct(
    names: "_Names", ranking: Sequence[tuple[int, float]]
) -> tuple[list[str], list[Candidate], frozenset[int]]:
    """Keep each distinct name once.

    RETURNS: their keys, best first; candidates of the first ones; the concepts of the first name.
    """
    first: dict[str, tuple[int, float]] = {}
    rows: dict[str, list[int]] = {}
    for row, score in ranking:
        key = names.key_at(row)
        first.setdefault(key, (row, score))
        rows.setdefault(key, []).append(row)
    best = next(iter(rows.values()), [])
    candidates = [
        Candidate(names.concept_at(row), row, score, {})
        for row, score in islice(first.values(), _MOST_KEPT)
    ]
    return list(first), candidates, frozenset(map(names.concept_at, best))


class _Names:
    """Reads names in the papers' form; each is read once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self.count = kb.n_names
        self.key_at = lru_cache(maxsize=1 << 18)(self._key_at)
        self._keys_of_concept = lru_cache(maxsize=1 << 16)(self._read_concept)

    @cached_property
    def _concepts(self) -> NDArray[np.int32]:
        return self._kb.name_concepts()

    def keys_of(self, rows: Collection[int]) -> frozenset[str]:
        """Make the keys of all names of some concepts."""
        return frozenset(key for row in rows for key in self._keys_of_concept(row))

    def concept_at(self, row: int) -> int:
        """Get the concept row of a name."""
        return int(self._concepts[row])

    def _key_at(self, row: int) -> str:
        return paper_key(self._kb.name_at(row).text)

    def _read_concept(self, row: int) -> tuple[str, ...]:
        return tuple(paper_key(name.text) for name in self._kb.concept_at(row).names)


def _outcome(case: Case, rank: int, retrieved: int, abstained: bool, share: float) -> Outcome:
    return Outcome(
        rank=rank,
        is_nil=not case.gold.ids,
        abstained=abstained,
        in_kb=bool(case.right),
        doc=case.doc,
        lang=case.lang,
        type=case.gold.type,
        retrieved=retrieved,
        share=share,
    )
