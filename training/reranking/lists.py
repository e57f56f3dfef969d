"""Lists: mentions with their retrieved candidates, which are hard to tell apart."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.assets import Assets
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.folds import rank_unannotated
from spacy_medlink.fitting.name_examples import SYNONYM, NameExample
from spacy_medlink.fitting.retrieved import RetrievedExamples
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking import Linker
from spacy_medlink.linking.blending import remembered
from spacy_medlink.linking.ranker import CandidateRanker
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Candidate, Mention

Item = TypeVar("Item")
_CHUNK = 256  # mentions that are looked up together
_HELD = 0  # the fold that is not trained on


@dataclass(frozen=True)
class RankedList:
    """mention, its candidates best first, and which of them are right (n_candidates,)."""

    mention: Mention
    candidates: list[Candidate]
    right: NDArray[np.bool_]

    def near(self, min_cosine: float) -> "RankedList":
        """Leave out wrong candidates whose cosine, where there is one, is lower."""
        cosines = [candidate.scores.get("dense", 1.0) for candidate in self.candidates]
        kept = np.flatnonzero(self.right | (np.array(cosines) >= min_cosine))
        return RankedList(
            self.mention, [self.candidates[place] for place in kept], self.right[kept]
        )

    def apart(self) -> Iterator["RankedList"]:
        """Make a list of each candidate."""
        for place, candidate in enumerate(self.candidates):
            yield RankedList(self.mention, [candidate], self.right[place : place + 1])


def unannotated_lists(
    path: Path, assets: Assets, top: int, tiers: list[str] | None = None
) -> tuple[list[RankedList], list[RankedList]]:
    """Look up the mentions of a gold file as if their documents had not been annotated.

    RETURNS (Tuple[List[RankedList], List[RankedList]]): of four fifths of the documents what the
        retriever finds, without what it remembers; of the last one what the ranker makes of it,
        where there is one.
    RAISES (MedlinkError): E107, E401-E407 for the file.
    """
    gold = load_gold(path, assets.kb)
    asked = list(rank_unannotated(assets, gold, top, tiers=tiers, rescorer=None, exact_first=False))
    rest = [
        _list(looked_up.case.mention, looked_up.ranking, looked_up.case.right)
        for looked_up in asked
        if looked_up.fold != _HELD and not remembered(looked_up.ranking)
    ]
    apart = [looked_up for looked_up in asked if looked_up.fold == _HELD]
    mentions, rankings = (
        [looked_up.case.mention for looked_up in apart],
        [looked_up.ranking for looked_up in apart],
    )
    ranker = assets.engine(tiers, calibrator=False, rerank_top=0).parts.rescorer
    if apart and isinstance(ranker, CandidateRanker):
        rankings = ranker.knowing(apart[0].facts_of_names()).rescore(mentions, rankings)
    held = [
        _list(mention, ranking, looked_up.case.right)
        for mention, ranking, looked_up in zip(mentions, rankings, apart, strict=True)
    ]
    return rest, held


def gold_lists(path: Path, kb: KnowledgeBase, engine: Linker, top: int) -> list[RankedList]:
    """Look up the mentions of a gold file, in their context.

    RAISES (MedlinkError): E107, E401-E407 for the file.
    """
    cases = [case for case in load_gold(path, kb).cases() if case.mention.text.strip()]
    return [
        _list(case.mention, ranking, case.right)
        for part in _chunks(cases)
        for case, ranking in zip(
            part, engine.rank([case.mention for case in part], top), strict=True
        )
    ]


def name_lists(
    kb: KnowledgeBase, engine: Linker, top: int, most: int, seed: int
) -> list[RankedList]:
    """Use names as mentions: each is looked up as if its concept did not have it.

    most (int): names; one of each concept first, then the others.
    """
    return [
        _list(Mention(example.text), ranking, example.right)
        for part in _chunks(list(_names(kb, most, np.random.default_rng(seed))))
        for example, ranking in zip(
            part, RetrievedExamples(engine, part).rank(part, top), strict=True
        )
    ]


def _chunks(items: list[Item]) -> Iterator[list[Item]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))


def _names(kb: KnowledgeBase, most: int, generator: np.random.Generator) -> Iterator[NameExample]:
    """Draw names of concepts that have another name with another key."""
    drawn, others = 0, list[NameExample]()
    for row in generator.permutation(len(kb)).tolist():
        if drawn == most:
            return
        concept = kb.concept_at(row)
        rows: dict[str, list[int]] = {}
        for name_row, name in enumerate(concept.names, concept.first_name):
            rows.setdefault(key(name.text), []).append(name_row)
        if len(rows.keys() - {""}) > 1:
            own = [name.text for name in concept.names if key(name.text)]
            examples = [
                NameExample(SYNONYM, text, frozenset([row]), frozenset(rows[key(text)]))
                for text in own
            ]
            drawn += 1
            yield examples.pop(int(generator.integers(len(examples))))
            others += examples
    yield from others[: most - drawn]


def _list(mention: Mention, ranking: Sequence[Candidate], right: Iterable[int]) -> RankedList:
    wanted = set(right)
    flags = np.array([candidate.row in wanted for candidate in ranking], dtype=np.bool_)
    return RankedList(mention, list(ranking), flags)
