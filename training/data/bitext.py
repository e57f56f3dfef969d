"""Bitext: pairs of translations, words or titles, each a pseudo-concept.

Liu et al. 2021, "Learning domain-specialised representations for cross-lingual biomedical entity
linking", section 2: general translation pairs with pseudo-labels, beside the names of a
terminology.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..corpora.translations import read_bitext
from .names import Tokenize, TrainingNames, chunks


def bitext_parts(path: Path, tokenize: Tokenize, first_concept: int) -> Iterator[TrainingNames]:
    """Read a bitext as training names: every pair gives two names of a pseudo-concept.

    first_concept (int): number of the first pseudo-concept, above those of the knowledge base.
    """
    for pairs in chunks(read_bitext(path)):
        texts = [text for pair in pairs for text in pair]
        concepts = first_concept + np.arange(len(texts)) // 2
        yield TrainingNames.of_texts(texts, concepts, tokenize)
        first_concept += len(pairs)
