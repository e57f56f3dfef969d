"""Annotated mentions looked up as if their documents had not been annotated.

What the assets have learned from the same documents, the memory of corrections and the mentions
that became names, would leave nothing to learn from them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..assets import MEMORY, Assets
from ..kb import KnowledgeBase
from ..linking.ranker import name_facts
from ..measuring import load_gold
from ..measuring.gold_set import Case
from ..progress import no_progress
from ..ranking import NameFacts
from ..retrieval.mask import Mask
from ..retrieval.memory import MentionMemory, Remembered, memory_key, read_memory
from ..types import Candidate, Mention, Progress
from .endings import Example, learn_endings, name_examples
from .mention_names import SOURCE

_FOLDS = 5
_SEED = 0
_BATCH = 512


class Asked(NamedTuple):
    """A case, what was retrieved for it as if its document were not annotated, and its fold.

    facts (Callable[[], NameFacts]): of all names, as far as the other folds are annotated; made
        when they are first asked for.
    """

    case: Case
    ranking: list[Candidate]
    fold: int
    facts: Callable[[], NameFacts]


def ask_unannotated(
    assets: Assets, gold: Path, top: int, progress: Progress = no_progress
) -> Iterator[Asked]:
    """Look the mentions of a gold file up, by the retriever alone; those of no concept, too.

    Documents are dealt into five folds; memory and names that only the documents of a fold gave are
    taken out for its mentions.

    top (int): candidates of each.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file.
    """
    kb = assets.kb
    cases = [one for one in load_gold(gold, kb).cases() if one.mention.text.strip()]
    fold_of = _folds([case.doc for case in cases])
    remembering = assets.manifest.get("memory") is not None
    lines = read_memory(assets.path / MEMORY) if remembering else []
    row_of = {id: row for row, id in enumerate(kb.iter_ids())}
    names = cache(partial(name_examples, kb))
    for fold in progress(range(_FOLDS), _FOLDS, "looking mentions up"):
        own = [case for case in cases if fold_of[case.doc] == fold]
        left = forget(lines, own, kb)
        memory = MentionMemory.of(left, row_of) if remembering else None
        engine = assets.engine(calibrator=False, rescorer=None, memory=memory or False)
        mask = _without(kb, own, left)
        facts = cache(partial(_facts, kb, engine.name_concept, left, names))
        distinct = list(dict.fromkeys(case.mention._replace(left="", right="") for case in own))
        rankings: dict[Mention, list[Candidate]] = {}
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            rankings.update(zip(part, engine.rank_within(part, top, mask), strict=True))
        for case in own:
            ranking = rankings[case.mention._replace(left="", right="")]
            yield Asked(case, ranking, fold, facts)


def forget(
    lines: Sequence[Remembered], cases: Sequence[Case], kb: KnowledgeBase
) -> list[Remembered]:
    """Take from a memory what some of the mentions that it learned from said.

    What nobody else said is gone; who else would have won is not known any more.
    """
    said: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str, str]] = Counter()
    for case in cases:
        if case.gold.ids and not case.right:
            continue  # the memory has not learned from what the knowledge base lacks
        own = memory_key(case.mention.long_form or case.mention.text)
        for label in dict.fromkeys((case.gold.type, "")):
            said[own, label] += 1
            for row in case.right:
                right[own, label, kb.concept_at(row, names=False).id] += 1
    left = (
        line._replace(
            votes=line.votes - right[line.key, line.label, line.id],
            of=line.of - said[line.key, line.label],
        )
        for line in lines
    )
    return [line for line in left if line.votes > 0]


def _facts(
    kb: KnowledgeBase,
    name_concept: NDArray[np.int32],
    left: Sequence[Remembered],
    names: Callable[[], Sequence[Example]],
) -> NameFacts:
    return name_facts(kb, name_concept, left, learn_endings(names(), left))


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
