"""How alike the pairs of a batch are, before mining and after: SapBERT, figure 2."""

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
MIDDLES: list[float] = ((_BINS[1:] + _BINS[:-1]) / 2).tolist()


Cosines = tuple[Floats1d, Floats1d]
"""Of pairs of names of one concept, and of two."""


def shares(cosines: Floats1d) -> Floats1d:
    """Compute the share of the pairs in each bin of `MIDDLES`."""
    counts = np.histogram(cosines, _BINS)[0]
    part: Floats1d = counts / max(1, counts.sum())
    return part


def overlap(pairs: Cosines) -> float:
    """Compute the part of the two distributions that is the same, 0..1."""
    return float(np.minimum(*map(shares, pairs)).sum())


def similarities(encoder: BiEncoder, kb: KnowledgeBase, seed: int) -> dict[str, Cosines]:
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
        "all pairs": (cosines[first, second][is_same], cosines[first, second][~is_same]),
        "hard pairs": (cosines[anchor, positive], cosines[other, negative]),
    }
