"""Texts without labels, which a student and its teacher both encode."""

from collections.abc import Collection

import numpy as np

from spacy_medlink.fitting.mutations import mutated
from spacy_medlink.kb import KnowledgeBase

from .names import distinct_names

_MOST = 1_000_000  # more than a student is trained on; the teacher encodes them all


def read_texts(
    kb: KnowledgeBase, mutations: int, seed: int, skip: Collection[int] = ()
) -> list[str]:
    """Read names in random order, each followed by its mutations; a million texts, at most.

    mutations (int): of each name, at most. skip (Collection[int]): held-out name rows.
    """
    generator = np.random.default_rng(seed)
    rows = [entry[0] for entry in distinct_names(kb) if entry[0] not in skip]
    texts: list[str] = []
    for row in generator.permutation(len(rows))[:_MOST].tolist():
        name = kb.name_at(rows[row])
        texts.append(name.text)
        made = (mutated(name.text, generator, name.lang or "en") for _ in range(mutations))
        texts += filter(None, made)
        if len(texts) >= _MOST:
            break
    return texts
