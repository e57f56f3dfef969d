"""Labels: groups of mentions by length, abbreviation, and presence in the training mentions."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..kb import KnowledgeBase
from ..kb.vocabularies import groups_of
from .gold_set import Case

Labels = dict[str, tuple[str, ...]]
LENGTH, ABBREVIATION, COMPOSITE = "length", "abbreviation", "composite"
SEMANTIC_TYPE, SEMANTIC_GROUP = "semantic_type", "semantic_group"
MENTION, CODE = "mention", "code"
SEEN, UNSEEN = "seen", "unseen"

_LONGEST = 5  # words; longer mentions form one group
_ONE_WORD = re.compile(r"\S{2,10}")


class Seen(NamedTuple):
    """The training mentions, for labels.

    texts (FrozenSet[str]): mentions of the gold file that occur in them. ids (FrozenSet[str]):
        their gold ids. rows (FrozenSet[int]): the concepts of these ids.
    """

    texts: frozenset[str]
    ids: frozenset[str]
    rows: frozenset[int]


class Labeller:
    """Groups cases.

    kb (KnowledgeBase): has the semantic types of gold concepts.
    seen (Optional[Seen]): the training mentions, where they were given.
    """

    def __init__(self, kb: KnowledgeBase, seen: Seen | None = None) -> None:
        self._seen = seen
        self._types_at = lru_cache(maxsize=1 << 16)(
            lambda row: kb.concept_at(row, names=False).types
        )

    def labels(self, case: Case) -> Labels:
        """List the groups that a case is in."""
        types = tuple(sorted({type for row in case.right for type in self._types_at(row)}))
        groups_of_case: Labels = {
            LENGTH: (_length(case.gold.text),),
            ABBREVIATION: (_yes(bool(case.mention.long_form) or is_abbreviation(case.gold.text)),),
            COMPOSITE: (_yes(len(case.parts) > 1),),
        }
        if types:
            groups_of_case[SEMANTIC_TYPE] = types
            groups_of_case[SEMANTIC_GROUP] = groups_of(types)
        if self._seen is not None:
            groups_of_case[MENTION] = (SEEN if case.gold.text in self._seen.texts else UNSEEN,)
            groups_of_case[CODE] = (SEEN if is_seen_code(case, self._seen) else UNSEEN,)
        return {label: groups for label, groups in groups_of_case.items() if groups}


def is_abbreviation(text: str) -> bool:
    """Tell whether a mention looks like an abbreviation: a short word with two capitals."""
    text = text.strip()
    return bool(_ONE_WORD.fullmatch(text)) and sum(map(str.isupper, text)) >= 2


def is_seen_code(case: Case, seen: Seen) -> bool:
    """Tell whether a gold id of a case, or its concept, occurs in the training mentions."""
    return not (seen.ids.isdisjoint(case.gold.ids) and seen.rows.isdisjoint(case.right))


def useful(labels: Sequence[Labels]) -> list[Labels]:
    """Leave out labels with only one group, such as lengths if all mentions are one word."""
    groups: dict[str, set[str]] = {}
    for of_case in labels:
        for label, names in of_case.items():
            groups.setdefault(label, set()).update(names)
    kept = {label for label, names in groups.items() if len(names) > 1 or label in (MENTION, CODE)}
    return [_only(of_case, kept) for of_case in labels]


def _only(labels: Labels, kept: Collection[str]) -> Labels:
    return {label: names for label, names in labels.items() if label in kept}


def _length(text: str) -> str:
    words = max(1, len(text.split()))
    return f"{_LONGEST} words or more" if words >= _LONGEST else f"{words} word{'s' * (words > 1)}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
