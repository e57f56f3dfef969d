"""The candidates of spaCy's `entity_linker`, and its choice before any training.

Its knowledge base (`InMemoryLookupKB`) gets our names as aliases. A terminology does not say how
often a name means each concept, so the prior probabilities are equal.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.peers.names import NameRows, best_first, names_of
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Candidate, Mention


class SpacyRanker:
    """Ranks the concepts with the mention's text as a name, by prior probability.

    depth (int): not used; only equal names are found.
    """

    def __init__(self, kb: KnowledgeBase, depth: int) -> None:
        # A build reads gold with this package, and needs neither spaCy nor the torch behind it.
        from spacy.kb import InMemoryLookupKB
        from spacy.vocab import Vocab

        self._rows = NameRows(kb)
        self._kb = InMemoryLookupKB(Vocab(), entity_vector_length=1)
        concepts = self._rows.concepts
        ids = [id for id, _ in concepts]
        self._kb.set_entities(
            entity_list=ids, freq_list=[1] * len(ids), vector_list=np.zeros((len(ids), 1)).tolist()
        )
        shared: dict[str, list[str]] = {}
        for id, names in concepts:
            for name in names:
                shared.setdefault(name, []).append(id)
        for name, own in shared.items():
            self._kb.add_alias(name, own, [1 / len(own)] * len(own))

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention, by its long form if there is one."""
        return [best_first(self._find(one.long_form or one.text), k) for one in mentions]

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names for each text: (name row, prior probability)."""
        return [names_of(self._find(text), k) for text in texts]

    def _find(self, text: str) -> list[Candidate]:
        return [
            self._rows.candidate(one.entity_, one.alias_, one.prior_prob)
            for one in self._kb.get_alias_candidates(text)
        ]
