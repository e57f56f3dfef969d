"""Judges a linker on gold mentions by any of the protocols."""

import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import islice
from math import prod
from typing import NamedTuple

import numpy as np

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
_KEYS: Mapping[str, Callable[[int, str], Hashable]] = {
    "names": lambda _, text: paper_key(text),
    "entries": lambda concept, text: (concept, text),
}
"""What ranks count by the protocols that count names, of a row of a concept and its name."""


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
    linker: Linker,
    kb: KnowledgeBase,
    cases: Sequence[Case],
    *,
    depth: int,
    protocol: str = "concepts",
    keep: int = 1,
    discard: Collection[str] = (),
    with_lexicon: bool = True,
    progress: Progress = no_progress,
    what: str = "ranking",
) -> Judged:
    """Rank mentions and judge the rankings.

    A composite case is right where all its parts are, and its rank is that of the worst part. What
    the linker finds without models that order candidates anew counts as retrieved.

    depth (int): answers wanted in each ranking.
    protocol (str): "concepts" counts concepts. "names" counts distinct names, as the papers do: a
        name is right if any concept that has it is gold. "entries" counts each name of each
        concept, as a dictionary file has a line for it. With both, only the long form of an
        abbreviation is searched.
    keep (int): candidates to keep for each mention.
    discard (Collection[str]): labels of mentions that the linker ignores.
    with_lexicon (bool): look up the meanings of abbreviations in a lexicon.
    """
    names = _Names(kb, _KEYS[protocol]) if protocol in _KEYS else None
    retriever = None if linker.parts.rescorer is None else linker.with_parts(rescorer=None)
    width = max(depth, RETRIEVAL_DEPTH)
    judged = Judged([], [], 0.0)
    starts = range(0, len(cases), _BATCH)
    for start in progress(starts, len(starts), what):
        batch = cases[start : start + _BATCH]
        mentions = [mention for case in batch for mention in case.parts]
        if not with_lexicon:
            mentions = [mention._replace(expansions=(), verbatim=()) for mention in mentions]
        began = time.perf_counter()
        ranked = _rank(linker, mentions, width, names, discard)
        judged = judged._replace(seconds=judged.seconds + time.perf_counter() - began)
        proposed = _rank(retriever, mentions, width, names, discard) if retriever else ranked
        rankings, proposals = iter(ranked), iter(proposed)
        for case in batch:
            of_case, proposed_for = (
                list(islice(rankings_of, len(case.parts))) for rankings_of in (rankings, proposals)
            )
            right = case.right if names is None else names.keys_of(case.right)
            rank, retrieved = (_worst(each, right) for each in (of_case, proposed_for))
            rank = rank if rank <= depth else 0
            judged.outcomes.append(_outcome(kb, case, of_case, rank, retrieved))
            judged.candidates.append(_merged(of_case, keep))
    return judged


def _worst(rankings: Sequence[_Ranked], right: Collection[Hashable]) -> int:
    """Compute the rank at which all parts are right; 0 if one of them never is."""
    ranks = [first_right(ranking.answers, right) for ranking in rankings]
    return max(ranks) if all(ranks) else 0


def _share(tied: Collection[int], right: Collection[int]) -> float:
    """Compute the chance that one of the tied concepts, drawn at random, is right."""
    return sum(row in right for row in tied) / max(1, len(tied))


def _merged(rankings: Sequence[_Ranked], keep: int) -> list[Candidate]:
    """Merge the parts' candidates in turn: all first ones, all second ones and so on."""
    in_turn = (
        ranking.candidates[rank]
        for rank in range(keep)
        for ranking in rankings
        if rank < len(ranking.candidates)
    )
    return list(islice(in_turn, keep))


def _rank(
    linker: Linker,
    mentions: Sequence[Mention],
    width: int,
    names: "_Names | None",
    discard: Collection[str],
) -> list[_Ranked]:
    """Rank mentions by concepts, or by names where they are given."""
    if names is not None:
        return names.rank(linker, mentions)
    heeded = [mention for mention in mentions if mention.label not in discard]
    decisions, ignored = iter(linker.decide(heeded, keep=width)), Decision(None, [])
    return [
        _ranked(ignored if mention.label in discard else next(decisions)) for mention in mentions
    ]


def _outcome(
    kb: KnowledgeBase, case: Case, rankings: Sequence[_Ranked], rank: int, retrieved: int
) -> Outcome:
    return Outcome(
        rank,
        gold=list(case.gold.ids),
        right=[kb.brief_at(row)[0] for row in sorted(case.right)],
        abstained=any(ranking.abstained for ranking in rankings),
        retrieved=retrieved,
        doc=case.doc_id or case.doc,
        start=case.gold.start,
        end=case.gold.end,
        lang=case.lang,
        type=case.gold.type,
        share=prod(_share(ranking.tied, case.right) for ranking in rankings),
    )


def _ranked(decision: Decision) -> _Ranked:
    answers = decision.answers
    tied = answers[0].tied or (answers[0].row,) if answers else ()
    rows = [candidate.row for candidate in answers]
    return _Ranked(rows, answers, decision.link is None, tied)


def rank_names(linker: Linker, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
    """Rank names instead of concepts: (name row, fused score), the papers' protocol.

    texts (Sequence[str]): the forms to search, one a mention.
    """
    hits = linker.retrieval.search(texts)
    rankings = []
    for rows, scores in zip(hits.rows, linker.retrieval.fused(hits), strict=True):
        # A name that several tiers propose occurs several times, with its exact score once.
        best: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            best[row] = max(score, best.get(row, score))
        best.pop(-1, None)
        rankings.append(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k])
    return rankings


def _name(key: Hashable) -> Hashable:
    """Return what the keys of one name in several concepts share."""
    return key[1].lower() if isinstance(key, tuple) else key


class _Names:
    """Names as ranks count them: the key of each."""

    def __init__(self, kb: KnowledgeBase, key: Callable[[int, str], Hashable]) -> None:
        self._kb, self._concepts = kb, kb.name_concepts()
        self._keys = list(map(key, self._concepts.tolist(), kb.iter_texts()))

    def rank(self, linker: Linker, mentions: Sequence[Mention]) -> list[_Ranked]:
        """Rank the distinct names for each mention."""
        texts = [mention.long_form or mention.text for mention in mentions]
        # All names are needed, since many are the same string and only distinct ones count.
        distinct = list(map(self._distinct, rank_names(linker, texts, self._kb.n_names)))
        candidates = [candidates for _, candidates, _ in distinct]
        decisions = decide(candidates, linker.settings.threshold)
        return [
            _Ranked(answers, candidates, decision.chosen is None, tied)
            for (answers, candidates, tied), decision in zip(distinct, decisions, strict=True)
        ]

    def _distinct(
        self, ranking: Sequence[tuple[int, float]]
    ) -> tuple[list[Hashable], list[Candidate], frozenset[int]]:
        """Keep each distinct name once.

        RETURNS: their keys, best first; candidates of the first ones; the concepts that have the
            first name.
        """
        first: dict[Hashable, tuple[int, float]] = {}
        rows: dict[Hashable, list[int]] = {}
        for row, score in ranking:
            key = self._keys[row]
            first.setdefault(key, (row, score))
            rows.setdefault(_name(key), []).append(row)
        candidates = [
            Candidate(int(self._concepts[row]), row, score, {})
            for row, score in islice(first.values(), _MOST_KEPT)
        ]
        best = next(iter(rows.values()), [])
        return list(first), candidates, frozenset(self._concepts[best].tolist())

    def keys_of(self, concepts: Collection[int]) -> frozenset[Hashable]:
        """Make the keys of all names of some concepts."""
        ends = (np.searchsorted(self._concepts, [row, row + 1]).tolist() for row in concepts)
        return frozenset(key for start, end in ends for key in self._keys[start:end])
