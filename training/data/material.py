"""Material: the names and pairs of a training, from a knowledge base and perhaps a bitext.

A bitext has pairs of translations, words or titles, each a pseudo-concept (Liu et al. 2021,
"Learning domain-specialised representations for cross-lingual biomedical entity linking", section
2: general translation pairs with pseudo-labels, beside the names of a terminology).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase

from ..corpora.translations import read_bitext
from ..recipe.settings import DataSettings, Recipe
from .holdout import Holdout, make_holdout
from .names import TrainingNames, read_names
from .pairs import Pairs, make_pairs, preferred_pairs

_SPECIFIED = ("FSN", "FN")  # how SNOMED CT and the UMLS mark fully specified names


@dataclass(frozen=True)
class Material:
    """Names and pairs to train on, and the hold-out.

    names (TrainingNames): of the knowledge base, then of the bitext.
    pairs (Pairs): of synonyms, then of translations. holdout (Holdout): not among the names.
    n_kb (int): names of the knowledge base.
    """

    names: TrainingNames
    pairs: Pairs
    holdout: Holdout
    n_kb: int

    @property
    def kb_names(self) -> TrainingNames:
        """The names of the knowledge base, which are searched for held-out names."""
        return self.names if self.n_kb == len(self.names) else self.names.first(self.n_kb)

    @property
    def synonyms(self) -> Pairs:
        """The pairs of synonyms."""
        return self.pairs[: self._n_synonyms]

    @property
    def translations(self) -> Pairs:
        """The pairs of the bitext."""
        return self.pairs[self._n_synonyms :]

    @property
    def _n_synonyms(self) -> int:
        return int(np.searchsorted(self.pairs[:, 0], self.n_kb))


def read_material(kb: KnowledgeBase, recipe: Recipe, bitext: Path | None = None) -> Material:
    """Read everything into memory: about 100 bytes a name.

    bitext (Optional[Path]): a file of translations.
    RAISES (MedlinkError): E530 when no concept has two names to train on, E107 and E401 for a
        bitext.
    """
    held = recipe.holdout
    holdout = make_holdout(kb, held.fraction, held.most, held.seed)
    names = read_names(kb, holdout.rows, recipe.data)
    n_kb = len(names)
    if bitext is not None:
        names += _translations(bitext, len(kb))
    pairs = pair_up(kb, names, recipe.data, recipe.training.seed)
    return Material(names, pairs, holdout, n_kb)


def _translations(path: Path, first_concept: int) -> TrainingNames:
    """Read a bitext as training names: every pair gives two names of a pseudo-concept."""
    texts = [text for pair in read_bitext(path) for text in pair]
    return TrainingNames.of_texts(texts, first_concept + np.arange(len(texts)) // 2)


def pair_up(kb: KnowledgeBase, names: TrainingNames, data: DataSettings, seed: int) -> Pairs:
    """Make the pairs. seed (int): of their random trimming.

    RAISES (MedlinkError): E530 when there is none.
    """
    most = data.pairs_per_concept
    if data.pairs == "preferred":
        rows = [row for row, (_, name) in enumerate(kb.iter_names()) if name.tty in _SPECIFIED]
        specified = np.isin(names.rows, rows)
        pairs = preferred_pairs(names.concepts, names.trainable, specified, most, seed)
    else:
        pairs = make_pairs(names.concepts, names.trainable, most, seed)
    if not len(pairs):
        raise Errors.too_few_rows(
            path=kb.path, found=0, what="concepts with two names or more", wanted=2
        )
    return pairs
