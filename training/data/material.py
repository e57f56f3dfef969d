"""Material: the names and pairs of a training, from a knowledge base and perhaps a bitext."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.files import sha256_of

from ..recipe.settings import DataSettings, HoldoutSettings
from .bitext import bitext_parts
from .holdout import Holdout, make_holdout
from .names import Tokenize, TrainingNames, joined, name_parts
from .pairs import Pairs, make_pairs, preferred_pairs

_SPECIFIED = ("FSN", "FN")  # how SNOMED CT and the UMLS mark fully specified names


@dataclass(frozen=True)
class Wanted:
    """The choices that decide about the material.

    seed (int): of the random trimming of pairs. bitext (Optional[Path]): a file of translations.
    """

    data: DataSettings
    holdout: HoldoutSettings = field(default_factory=HoldoutSettings)
    seed: int = 0
    bitext: Path | None = None

    def facts(self) -> dict[str, Any]:
        """Return plain values; a bitext is identified by its content, not its path."""
        content = sha256_of(self.bitext) if self.bitext else None
        held = self.holdout.model_dump(exclude={"among"})
        return {"data": self.data.as_dict(), "holdout": held, "seed": self.seed, "bitext": content}


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


def hold_out(kb: KnowledgeBase, wanted: Wanted) -> Holdout:
    """Hold out names, as `make_holdout` does."""
    settings = wanted.holdout
    return make_holdout(kb, settings.fraction, settings.most, settings.seed)


def read_material(kb: KnowledgeBase, tokenize: Tokenize, wanted: Wanted) -> Material:
    """Read everything into memory.

    RAISES (MedlinkError): E530 when no concept has two names to train on.
    """
    holdout = hold_out(kb, wanted)
    skip = frozenset(holdout.rows)
    parts = [*name_parts(kb, tokenize, wanted.data, skip)]
    n_kb = sum(map(len, parts))
    names = joined([*parts, *translations(kb, tokenize, wanted)])
    return Material(names, pair_up(kb, names, wanted), holdout, n_kb)


def translations(kb: KnowledgeBase, tokenize: Tokenize, wanted: Wanted) -> Iterator[TrainingNames]:
    """Read the bitext, if there is one."""
    if wanted.bitext:
        yield from bitext_parts(wanted.bitext, tokenize, len(kb))


def pair_up(kb: KnowledgeBase, names: TrainingNames, wanted: Wanted) -> Pairs:
    """Make the pairs.

    RAISES (MedlinkError): E530 when there is none.
    """
    most, seed = wanted.data.pairs_per_concept, wanted.seed
    if wanted.data.pairs == "preferred":
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
