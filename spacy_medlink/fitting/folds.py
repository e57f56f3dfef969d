"""Folds: parts of the documents that are looked up as if they had not been annotated.

The assets may know these documents already, by the memory of corrections and by names from
mentions. With this knowledge, a model could learn nothing from them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.gold_set import Case, GoldSet, without_ids
from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.asset_parts import AssetParts
from ..linking.facts import NameFacts, name_facts
from ..linking.ranker import with_facts
from ..retrieval.mask import Mask
from ..retrieval.memory import NIL, Entry, MentionMemory, Remembered, memory_key
from ..types import FROM_MENTIONS, Candidate, Mention, Progress
from ..util.progress import no_progress
from .memory import entries_of, key_of, votes_of

FOLDS = 5
_SEED = 0
_BATCH = 512


class RankedCase(NamedTuple):
    """A case, its candidates as if its document had not been annotated, and its fold.

    denied (bool): whether the corrections of the other folds say that it is no concept.
    facts_of_names (Callable[[], NameFacts]): from the annotations of the other folds; made at the
        first call.
    """

    case: Case
    ranking: list[Candidate]
    denied: bool
    fold: int
    facts_of_names: Callable[[], NameFacts]


class Fold(NamedTuple):
    """A fifth of the documents, looked up as if they had not been annotated.

    position (int): from 0. cases (List[Case]): their mentions. memory (Optional[MentionMemory]): of
        the other documents. gone (List[int]): rows of the names that only this fold gave.
    facts_of_names (Callable[[], NameFacts]): from the annotations of the others; made at the first
        call.
    """

    position: int
    cases: list[Case]
    memory: MentionMemory | None
    gone: list[int]
    facts_of_names: Callable[[], NameFacts]

    def engine(self, assets: AssetParts, **settings: Any) -> Linker:
        """Make a linker with the memory, and a ranker's knowledge, of the other documents."""
        linker = assets.engine(calibrator=False, memory=self.memory or False, **settings)
        rescorer = with_facts(linker.parts.rescorer, self.facts_of_names)
        return linker if rescorer is None else linker.with_parts(rescorer=rescorer)


def folds(assets: AssetParts, gold: GoldSet, progress: Progress = no_progress) -> Iterator[Fold]:
    """Split the documents of a gold file into five folds.

    RAISES (MedlinkError): E407 where every mention is NIL.
    """
    kb = assets.kb
    if not gold.ids:
        raise without_ids(gold.path)
    cases = [case for case in gold.cases() if case.mention.text.strip()]
    docs = [case.doc for case in cases]
    fold_of = dict(zip(docs, deal(docs).tolist(), strict=True))
    remembering = assets.manifest.get("memory") is not None
    lines = assets.memory_lines
    alone = remembering and _is_all_of_it(assets, gold)
    row_of = {id: row for row, id in enumerate(kb.iter_ids())}
    name_concept = kb.name_concepts()
    for fold in progress(range(FOLDS), FOLDS, "looking mentions up"):
        of_fold = [case for case in cases if fold_of[case.doc] == fold]
        if alone:
            left = votes_of((case for case in cases if fold_of[case.doc] != fold), kb).lines()
        else:
            left = forget(lines, of_fold, kb)
        memory = MentionMemory.of(left, row_of) if remembering else None
        facts_of_names = cache(partial(name_facts, kb, name_concept, left))
        keys_of_others = {line.key for line in left}
        keys_of_others.update(key_of(case) for case in cases if fold_of[case.doc] != fold)
        yield Fold(fold, of_fold, memory, _gone(kb, of_fold, keys_of_others), facts_of_names)


def rank_unannotated(
    assets: AssetParts,
    gold: GoldSet,
    top: int,
    progress: Progress = no_progress,
    **settings: Any,
) -> Iterator[RankedCase]:
    """Rank candidates for the mentions of a gold file, those of no concept too.

    Documents are split into five folds. For the mentions of a fold, the memory and the names that
    come only from the fold are left out.

    top (int): candidates of each mention. settings: of the linker, see `open_linker`.
    RAISES (MedlinkError): E407 where every mention is NIL.
    """
    for fold in folds(assets, gold, progress):
        engine = fold.engine(assets, **settings)
        mask = Mask.without(fold.gone, assets.kb.n_names)
        distinct = list(dict.fromkeys(map(without_surroundings, fold.cases)))
        ranked: dict[Mention, tuple[list[Candidate], bool]] = {}
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            rankings = zip(engine.rank(part, top, mask), engine.denied(part), strict=True)
            ranked.update(zip(part, rankings, strict=True))
        for case in fold.cases:
            asked = ranked[without_surroundings(case)]
            yield RankedCase(case, *asked, fold.position, fold.facts_of_names)


def without_surroundings(case: Case) -> Mention:
    """Remove a mention's context, and the identifiers that its document gives."""
    return case.mention._replace(left="", right="", identifiers=())


def _is_all_of_it(assets: AssetParts, gold: GoldSet) -> bool:
    """Tell whether the memory was learned from this file alone."""
    sources = assets.manifest["memory"]["sources"]
    return [source["sha256"] for source in sources] == [gold.sha256]


def forget(
    lines: Sequence[Remembered], cases: Sequence[Case], kb: KnowledgeBase
) -> list[Remembered]:
    """Remove the votes of some mentions from a memory.

    A line without other votes is removed; the runner-up of a line is unknown.
    """
    votes_cast: Counter[Entry] = Counter()
    right: Counter[tuple[Entry, str]] = Counter()
    for case in cases:
        if case.gold.ids and not case.right:
            continue  # the memory has no concepts that the knowledge base lacks
        for entry in entries_of(case):
            votes_cast[entry] += 1
            for id in {kb.concept_at(row, names=False).id for row in case.right} or {NIL}:
                right[entry, id] += 1
    left = (
        line._replace(
            votes=line.votes - right[line.entry, line.id],
            of=line.of - votes_cast[line.entry],
        )
        for line in lines
    )
    return [line for line in left if line.votes > 0]


def _gone(kb: KnowledgeBase, cases: Sequence[Case], keys_of_others: Set[str]) -> list[int]:
    """List the names that only these mentions gave; `said` has the keys of all others."""
    gone = {key_of(case) for case in cases} - keys_of_others
    rows = []
    for row in sorted({row for case in cases for row in case.right}):
        concept = kb.concept_at(row)
        for offset, name in enumerate(concept.names):
            if name.source == FROM_MENTIONS and memory_key(name.text) in gone:
                rows.append(concept.first_name + offset)
    return rows


def deal(groups: Sequence[str] | NDArray[np.int64], folds: int = FOLDS) -> NDArray[np.int64]:
    """Assign groups, such as documents, to folds, always in the same way: (n,) fold numbers."""
    distinct, group = np.unique(np.asarray(groups), return_inverse=True)
    dealt = np.random.default_rng(_SEED).permutation(len(distinct)) % folds
    return np.asarray(dealt[group], dtype=np.int64)
