"""Annotated mentions to calibrate on; `name_examples` makes others of names."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..kb import KnowledgeBase
from ..types import Mention

if TYPE_CHECKING:
    from ..evaluation.gold_set import Case


@dataclass(frozen=True)
class Example:
    """A mention to link.

    right (FrozenSet[int]): concept rows that are right; empty where the gold file says NIL, or its
        concept is not in the knowledge base.
    count (int): how often the mention occurs.
    """

    mention: Mention
    right: frozenset[int]
    count: int = 1


def gold_examples(path: str | Path, kb: KnowledgeBase, with_context: bool = False) -> list[Example]:
    """Read the mentions of a gold file, equal ones once.

    with_context (bool): keep what stands around them, for a reranker.
    RAISES (MedlinkError): E107, E401-E404, E407 for the file.
    """
    from ..evaluation import load_gold

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


def count_concepts(examples: Iterable[Example]) -> int:
    """Count the concepts that are right for any."""
    return len({row for one in examples for row in one.right})
