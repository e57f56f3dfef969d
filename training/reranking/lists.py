"""Lists: mentions with their retrieved candidates, which are hard to tell apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.folds import rank_unannotated
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking import Linker
from spacy_medlink.linking.blending import remembered
from spacy_medlink.linking.ranker import CandidateRanker
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Candidate, Mention

_CHUNK = 256  # mentions that are looked up together
_HELD = 0  # the fold that is not trained on


@dataclass(frozen=True)
class RankedList:
    """mention, its candidates best first, and which of them are right (n_candidates,)."""

    mention: Mention
    candidates: list[Candidate]
    right: NDArray[np.bool_]


def unannotated_lists(
    path: Path, assets: Assets, top: int, tiers: list[str] | None = None
) -> tuple[list[RankedList], list[RankedList]]:
    """Look up the mentions of a gold file as if their documents had not been annotated.

    RETURNS (Tuple[List[RankedList], List[RankedList]]): of four fifths of the documents what the
        retriever finds, without what it remembers; of the last one what the ranker makes of it,
        where there is one.
    RAISES (MedlinkError): E107, E401-E407 for the file.
    """
    asked = list(rank_unannotated(assets, load_gold(path, assets.kb), top, tiers=tiers))
    rest = [
        _list(one.case.mention, one.ranking, one.case.right)
        for one in asked
        if one.fold != _HELD and not remembered(one.ranking)
    ]
    own = [one for one in asked if one.fold == _HELD]
    mentions, rankings = [one.case.mention for one in own], [one.ranking for one in own]
    ranker = assets.engine(tiers, calibrator=False, rerank_top=0).parts.rescorer
    if own and isinstance(ranker, CandidateRanker):
        rankings = ranker.knowing(own[0].facts()).rescore(mentions, rankings)
    held = [
        _list(mention, ranking, one.case.right)
        for mention, ranking, one in zip(mentions, rankings, own, strict=True)
    ]
    return rest, held


def gold_lists(path: Path, kb: KnowledgeBase, engine: Linker, top: int) -> list[RankedList]:
    """Look up the mentions of a gold file, in their context.

    RAISES (MedlinkError): E107, E401-E407 for the file.
    """
    cases = [case for case in load_gold(path, kb).cases() if case.mention.text.strip()]
    lists = []
    for start in range(0, len(cases), _CHUNK):
        part = cases[start : start + _CHUNK]
        rankings = engine.rank([case.mention for case in part], top)
        for case, ranking in zip(part, rankings, strict=True):
            lists.append(_list(case.mention, ranking, case.right))
    return lists


def name_lists(
    kb: KnowledgeBase, engine: Linker, top: int, most: int, seed: int
) -> list[RankedList]:
    """Use names as mentions: each is looked up after it was removed from its concept.

    most (int): names; one of each concept first, then the others.
    """
    queries = list(_names(kb, most, np.random.default_rng(seed)))
    lists = []
    for start in range(0, len(queries), _CHUNK):
        part = queries[start : start + _CHUNK]
        found = engine.retrieval.search([text for _, text in part])
        rows, fused, scores = found.rows, engine.retrieval.fused(found), found.scores
        for place, (concept, text) in enumerate(part):
            own = {tier: values[place] for tier, values in scores.items()}
            ranking = _ranking(kb, engine, rows[place], fused[place], own, concept, text, top)
            lists.append(_list(Mention(text), ranking, {concept}))
    return lists


def _names(
    kb: KnowledgeBase, most: int, generator: np.random.Generator
) -> Iterable[tuple[int, str]]:
    """Draw (concept row, name) of concepts that have another name with another key."""
    drawn, others = 0, list[tuple[int, str]]()
    for row in generator.permutation(len(kb)).tolist():
        if drawn == most:
            return
        names = [name.text for name in kb.concept_at(row).names if key(name.text)]
        if len({key(text) for text in names}) > 1:
            drawn += 1
            yield row, names.pop(int(generator.integers(len(names))))
            others += [(row, text) for text in names]
    yield from others[: most - drawn]


def _ranking(
    kb: KnowledgeBase,
    engine: Linker,
    rows: NDArray[np.int64],
    fused: NDArray[np.float32],
    scores: dict[str, NDArray[np.float32]],
    concept: int,
    text: str,
    top: int,
) -> list[Candidate]:
    """Rank concepts by their best names, without names equal to the mention."""
    own, found = key(text), dict[int, Candidate]()
    for place in np.lexsort((rows, -fused)).tolist():
        row = int(rows[place])
        if row < 0:
            continue
        of = int(engine.name_concept[row])
        if of in found or (of == concept and key(kb.name_at(row).text) == own):
            continue
        tiers = {tier: float(values[place]) for tier, values in scores.items()}
        found[of] = Candidate(of, row, float(fused[place]), tiers)
        if len(found) == top:
            break
    return list(found.values())


def _list(mention: Mention, ranking: Sequence[Candidate], right: Iterable[int]) -> RankedList:
    wanted = set(right)
    flags = np.array([one.row in wanted for one in ranking], dtype=np.bool_)
    return RankedList(mention, list(ranking), flags)
