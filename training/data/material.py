"""Material: all that a training is made of, from a knowledge base and perhaps a bitext."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.files import sha256_of

from .bitext import bitext_blocks
from .holdout import Holdout, make_holdout
from .names import (
    Block,
    Reading,
    Tokenize,
    TrainingNames,
    empty_block,
    joined,
    name_blocks,
)
from .pairs import Pairs, make_pairs, preferred_pairs


@dataclass(frozen=True)
class Wanted:
    """What is asked of the material.

    reading (Reading): how names are read. pairs (str): "all", or "preferred" for those with the
    preferred name alone. pairs_per_concept (int): at most. seed (int): of what is
    trimmed. fraction, most, holdout_seed: of the hold-out (`make_holdout`).
    bitext (Optional[Path]): a file of translations.
    """

    reading: Reading
    pairs_per_concept: int
    seed: int
    fraction: float
    most: int
    holdout_seed: int
    bitext: Path | None = None
    pairs: str = "all"

    def facts(self) -> dict[str, Any]:
        """Write as plain values; of the bitext its content counts, not its place."""
        facts = asdict(self)
        facts["reading"]["languages"] = list(self.reading.languages)
        facts["bitext"] = sha256_of(self.bitext) if self.bitext else None
        return facts


@dataclass(frozen=True)
class Material:
    """Names and pairs to train on, and what is held out.

    names (TrainingNames): those of the knowledge base, then those of the bitext.
    languages (NDArray[np.int16]): number of the language of each name, -1 unknown.
    pairs (Pairs): of synonyms, then of translations. holdout (Holdout): nowhere among the names.
    n_kb (int): names of the knowledge base.
    """

    names: TrainingNames
    languages: NDArray[np.int16]
    pairs: Pairs
    holdout: Holdout
    n_kb: int

    @property
    def kb_names(self) -> TrainingNames:
        """The names of the knowledge base, which held-out names are looked for among."""
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


def hold_out(kb: KnowledgeBase, wanted: Wanted) -> Holdout:
    """Hold out names, as `make_holdout` does."""
    return make_holdout(kb, wanted.fraction, wanted.most, wanted.holdout_seed)


def read_material(kb: KnowledgeBase, tokenize: Tokenize, wanted: Wanted) -> Material:
    """Read everything into memory.

    RAISES (MedlinkError): E503 when no concept has two names to train on.
    """
    holdout = hold_out(kb, wanted)
    skip = frozenset(holdout.rows)
    blocks = [empty_block(), *name_blocks(kb, tokenize, wanted.reading, skip)]
    n_kb = sum(len(block.rows) for block in blocks)
    blocks += translations(kb, tokenize, wanted)
    names, languages = joined(blocks)
    return Material(names, languages, pair_up(kb, names, wanted), holdout, n_kb)


def translations(kb: KnowledgeBase, tokenize: Tokenize, wanted: Wanted) -> Iterator[Block]:
    """Read the bitext, if there is one."""
    if wanted.bitext:
        yield from bitext_blocks(wanted.bitext, tokenize, len(kb))


def pair_up(kb: KnowledgeBase, names: TrainingNames, wanted: Wanted) -> Pairs:
    """Make the pairs.

    RAISES (MedlinkError): E503 when there is none.
    """
    make = preferred_pairs if wanted.pairs == "preferred" else make_pairs
    pairs = make(names.concepts, names.trainable, wanted.pairs_per_concept, wanted.seed)
    if not len(pairs):
        raise Errors.too_few_names(path=kb.path, concepts=0)
    return pairs
