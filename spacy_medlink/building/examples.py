"""Mentions of which it is known what they mean, to calibrate on: annotated ones, or names."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..text import key
from ..types import Mention

if TYPE_CHECKING:
    from ..measuring.gold_set import Case

_SAMPLE = 2000  # names that play the mentions
_SEED = 1  # not the sample on which the fusion was chosen


@dataclass(frozen=True)
class Example:
    """A mention to link.

    right (FrozenSet[int]): concept rows that are right; empty where the gold file says NIL, or its
        concept is not in the knowledge base.
    count (int): how often the mention occurs. hidden (Tuple[int, ...]): name rows to take out of
        the knowledge base, so that a mention that is a name must be found through another.
    """

    mention: Mention
    right: frozenset[int]
    count: int = 1
    hidden: tuple[int, ...] = ()


def gold_examples(
    path: str | Path, kb: KnowledgeBase, with_context: bool = False
) -> list[Example]:
    """Read the mentions of a gold file, equal ones once.

    with_context (bool): keep what stands around them, for a reranker.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file.
    """
    from ..measuring import load_gold

    return examples_of(load_gold(path, kb).cases(), with_context)


def examples_of(cases: "Iterable[Case]", with_context: bool = False) -> list[Example]:
    """Make examples of annotated mentions, equal ones once."""
    counts: Counter[tuple[Mention, frozenset[int]]] = Counter(
        (_asked(case.mention, with_context), case.right)
        for case in cases
        if case.mention.text.strip()
    )
    return [Example(mention, right, count) for (mention, right), count in counts.items()]


def _asked(mention: Mention, with_context: bool) -> Mention:
    """Leave out what the document says that the mention is: no threshold is asked for that."""
    left, right = (mention.left, mention.right) if with_context else ("", "")
    return mention._replace(left=left, right=right, identifiers=())


def name_examples(kb: KnowledgeBase, sample: int = _SAMPLE) -> list[Example]:
    """Draw names, one of a concept at most, that has another name with another key.

    Concepts of many names are drawn more often, as they are mentioned more often.
    """
    concepts = kb.name_concepts()
    found: dict[int, Example] = {}
    for name in np.random.default_rng(_SEED).permutation(kb.n_names).tolist():
        row = int(concepts[name])
        if len(found) == sample:
            break
        if row in found:
            continue
        concept = kb.concept_at(row)
        keys = [key(one.text) for one in concept.names]
        own = keys[name - concept.first_name]
        if not own or len(set(keys) - {""}) < 2:
            continue
        hidden = [concept.first_name + place for place, one in enumerate(keys) if one == own]
        text = concept.names[name - concept.first_name].text
        found[row] = Example(Mention(text), frozenset([row]), 1, tuple(hidden))
    return list(found.values())


def count_concepts(examples: Iterable[Example]) -> int:
    """Count the concepts that are right for any."""
    return len({row for one in examples for row in one.right})
