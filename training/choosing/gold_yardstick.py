"""GoldYardstick: measures encoders on annotated mentions, on the same terms as their base."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d, Ints1d, Mention

from ..data.names import TokenTable, TrainingNames
from ..loop.encoding import encode_names
from ..loop.precision import Precision
from ..recipe.settings import Recipe
from .selection import Figures, Halves
from .validation import measure, rank, shortlist

_NEVER = 1 << 30  # the rank of a mention whose concept is not in the knowledge base


class GoldYardstick:
    """Mentions of a gold file, the names they are looked for among, and how well the base does.

    Ranks count concepts, by the dense tier alone; every mention of the file counts. Beside `dev`
    (all mentions), `unseen` are those whose text training has not seen.

    base (Halves): the base's figures among all names. vectors (Floats2d): the base's vectors of
    all names, (n_names, dim).
    """

    def __init__(
        self,
        base: BiEncoder,
        names: TrainingNames,
        gold: Path,
        kb: KnowledgeBase,
        seen: Collection[str],
        recipe: Recipe,
        precision: Precision,
    ) -> None:
        """Read the file and encode all names.

        seen (Collection[str]): texts of training, lower-cased.
        RAISES (MedlinkError): E107, E401-E407 for the file.
        """
        self._names, self._precision = names, precision
        cases = list(load_gold(gold, kb).cases())
        texts = [_form(case.mention) for case in cases]
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        self._tokens = TokenTable.build(iter(distinct), base.tokenize)
        self._query: Ints1d = np.array([distinct[text] for text in texts], dtype=np.int64)
        known = set(np.unique(names.concepts).tolist())
        pairs = [
            (place, concept)
            for place, case in enumerate(cases)
            for concept in sorted(case.right & known)
        ]
        self._owner, self._golds = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        unseen = (_form(case.mention).lower() not in seen for case in cases)
        self._unseen = np.fromiter(unseen, dtype=np.bool_, count=len(cases))
        self._all: Ints1d = np.arange(len(names))
        self.vectors: Floats2d = encode_names(
            base, names.tokens, self._all, precision, what="Encoding names with the base"
        )
        self.base = self._halves(base, self.vectors, self._all)
        self._shortlist = shortlist(
            self._encoded(base)[self._query[self._owner]],
            self._golds,
            self.vectors,
            names.concepts,
            recipe.selection.shortlist,
        )

    def fast(self, encoder: BiEncoder) -> Figures:
        """Measure among the shortlist: the names that the base took for near ones."""
        vectors = encode_names(encoder, self._names.tokens, self._shortlist, self._precision)
        return self._halves(encoder, vectors, self._shortlist)["dev"]

    def whole(self, encoder: BiEncoder) -> Halves:
        """Measure among all names."""
        vectors = encode_names(
            encoder, self._names.tokens, self._all, self._precision, what="Encoding names"
        )
        return self._halves(encoder, vectors, self._all)

    def facts(self) -> dict[str, Any]:
        """Count what is compared with what."""
        return {
            "dev_mentions": len(self._query),
            "unseen_mentions": int(self._unseen.sum()),
            "not_in_kb": len(self._query) - len(np.unique(self._owner)),
            "names": len(self._names),
            "shortlist": len(self._shortlist),
        }

    def _encoded(self, encoder: BiEncoder) -> Floats2d:
        every = np.arange(len(self._tokens))
        return encode_names(encoder, self._tokens, every, self._precision)

    def _halves(self, encoder: BiEncoder, vectors: Floats2d, wanted: Ints1d) -> Halves:
        queries = self._encoded(encoder)[self._query[self._owner]]
        own = rank(queries, self._golds, vectors, self._names.concepts[wanted])
        ranks = np.full(len(self._query), _NEVER)
        np.minimum.at(ranks, self._owner, own)  # of several right concepts the best one
        halves = {"dev": measure(ranks)}
        if self._unseen.any():
            halves["unseen"] = measure(ranks[self._unseen])
        return halves


def _form(mention: Mention) -> str:
    return (mention.long_form or mention.text).strip()
