"""What the ids of a terminology end with, learned from its names and from annotated mentions."""

from collections.abc import Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..ranking.endings import Endings, ending_of
from ..retrieval.memory import Remembered
from ..text.normalisation import key
from .mention_names import SOURCE

_NAMES = 20_000  # that are learned from, at most
_NAME_WEIGHT = 0.3  # of a name beside a mention: annotators choose endings, names only have them
_SEED = 0


Example = tuple[str, str, float]
"""Key of a text, ending of what it means, and what it counts."""


def name_examples(kb: KnowledgeBase) -> list[Example]:
    """Take names as examples, without those that annotated mentions gave: the memory says them."""
    concepts = kb.name_concepts()
    chosen = np.random.default_rng(_SEED).permutation(kb.n_names)[:_NAMES]
    ending_at: dict[int, str] = {}
    examples = []
    for row in np.sort(chosen).tolist():
        name, concept = kb.name_at(row), int(concepts[row])
        if name.source == SOURCE:
            continue
        if concept not in ending_at:
            ending_at[concept] = ending_of(kb.concept_at(concept, names=False).id)
        examples.append((key(name.text), ending_at[concept], _NAME_WEIGHT))
    return examples


def learn_endings(names: Sequence[Example], lines: Sequence[Remembered]) -> Endings | None:
    """Learn what ids end with.

    names (Sequence[Example]): of `name_examples`. lines (Sequence[Remembered]): what annotated
        mentions were.
    RETURNS (Optional[Endings]): None where ids have no endings to tell apart.
    """
    from .ending_counts import fit_endings

    # A mention that comes ten times does not teach ten times as much.
    mentions = [
        (line.key.lstrip("^"), ending_of(line.id), float(np.sqrt(line.votes)))
        for line in lines if line.is_general and line.id
    ]  # fmt: skip
    examples = [*mentions, *names]
    if not any(ending for _, ending, _ in examples):
        return None
    texts, endings, weights = zip(*examples, strict=True)
    return fit_endings(texts, endings, weights)
