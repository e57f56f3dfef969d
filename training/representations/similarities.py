"""How alike the pairs of a batch are, before mining and after: SapBERT, figure 2."""

from typing import NamedTuple

import numpy as np
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.mining import HardPairMiner
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats1d

from ..data.pairs import make_pairs
from .mcsm import encode_terms

_PAIRS, _OF_CONCEPT, _MARGIN = 256, 50, 0.2  # pairs a batch and a concept; SapBERT, section 3.1
_BINS = np.linspace(-1, 1, 41)


class Similarities(NamedTuple):
    """Cosines of pairs of names of one concept, and of two."""

    positive: Floats1d
    negative: Floats1d

    def shares(self) -> tuple[Floats1d, Floats1d]:
        """Compute the share of the pairs in each bin, of both kinds: (40,)."""
        counts = (np.histogram(cosines, _BINS)[0] for cosines in self)
        positive, negative = (bins / max(1, bins.sum()) for bins in counts)
        return positive, negative

    @property
    def overlap(self) -> float:
        """The part of the two distributions that is the same, 0..1."""
        return float(np.minimum(*self.shares()).sum())


def similarities(encoder: BiEncoder, kb: KnowledgeBase, seed: int) -> dict[str, Similarities]:
    """Encode a batch as SAP draws it. RETURNS: all its pairs, and those that mining leaves."""
    concepts = kb.name_concepts().astype(np.int64)
    pairs = make_pairs(concepts, np.ones(len(concepts), dtype=bool), _OF_CONCEPT, seed)
    drawn = np.random.default_rng(seed).permutation(len(pairs))[:_PAIRS]
    names = np.unique(pairs[drawn])
    vectors = encode_terms(encoder, [kb.name_at(row).text for row in names.tolist()])
    cosines, concept_of = vectors @ vectors.T, concepts[names]
    first, second = np.triu_indices(len(names), 1)
    is_same = concept_of[first] == concept_of[second]
    hard = HardPairMiner(_MARGIN)(torch.from_numpy(vectors), torch.from_numpy(concept_of))
    anchor, positive, other, negative = (part.numpy() for part in hard)
    return {
        "all pairs": Similarities(
            cosines[first[is_same], second[is_same]], cosines[first[~is_same], second[~is_same]]
        ),
        "hard pairs": Similarities(cosines[anchor, positive], cosines[other, negative]),
    }


def middles() -> list[float]:
    """List the middles of the bins."""
    middle: list[float] = ((_BINS[1:] + _BINS[:-1]) / 2).tolist()
    return middle
