"""Labels: groups of mentions by length, abbreviation, and presence in the training mentions."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..kb import KnowledgeBase
from ..kb.vocabularies import groups_of
from .gold_set import Case

Labels = dict[str, list[str]]
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


def labels_of(kb: KnowledgeBase, case: Case, seen: Seen | None = None) -> Labels:
    """List the groups that a case is in.

    kb (KnowledgeBase): has the semantic types of gold concepts. seen (Optional[Seen]): the training
        mentions, where they were given.
    """
    of_concepts = (kb.concept_at(row, names=False).types for row in case.right)
    types = sorted({type for types in of_concepts for type in types})
    is_short = bool(case.mention.long_form) or is_abbreviation(case.gold.text)
    groups: Labels = {
        LENGTH: [_length(case.gold.text)],
        ABBREVIATION: [_yes(is_short)],
        COMPOSITE: [_yes(len(case.parts) > 1)],
        SEMANTIC_TYPE: types,
        SEMANTIC_GROUP: list(groups_of(types)),
    }
    if seen is not None:
        groups[MENTION] = [SEEN if case.gold.text in seen.texts else UNSEEN]
        groups[CODE] = [SEEN if is_seen_code(case, seen) else UNSEEN]
    return {label: names for label, names in groups.items() if names}


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
    return [{label: of_case[label] for label in of_case if label in kept} for of_case in labels]


def _length(text: str) -> str:
    words = max(1, len(text.split()))
    return f"{_LONGEST} words or more" if words >= _LONGEST else f"{words} word{'s' * (words > 1)}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
