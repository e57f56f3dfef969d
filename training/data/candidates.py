"""Candidates: names that two searches propose for each mention, renewed each epoch (BioSyn)."""

from collections.abc import Callable

import numpy as np
import torch

from spacy_medlink.encoders.objectives.protocol import Weights
from spacy_medlink.types import Floats2d, Ints1d, Ints2d

from .mentions import NamesAndMentions
from .tfidf import TfidfIndex

Encode = Callable[[Ints1d], Floats2d]
_BLOCK = 256


class Candidates:
    """The k names proposed for each mention: some by TF-IDF, the others by the current encoder.

    Sung et al. 2020, "Biomedical entity representations with synonym marginalization", section
    3.3: a share is taken from the sparse search, and filled up to k from the dense one.

    names (NamesAndMentions): names and mentions.
    encode (Callable): gives vectors of positions, by the current encoder.
    k (int): names a mention. dense_ratio (float): share of the dense search, 0..1.
    """

    def __init__(self, names: NamesAndMentions, encode: Encode, k: int, dense_ratio: float) -> None:
        self.mentions: Ints1d = np.flatnonzero(names.is_mention)
        self.epoch = -1
        self._names: Ints1d = np.flatnonzero(~names.is_mention)
        self._encode = encode
        self._k = min(k, len(self._names))
        self._from_sparse = self._k - round(self._k * dense_ratio)
        self._texts = names.texts_at(self.mentions)
        self._tfidf = TfidfIndex.of(names.texts_at(self._names))
        self._sparse: Ints2d = self._tfidf.search(self._texts, self._k).rows
        self._rows: Ints2d = np.zeros((len(self.mentions), self._k), dtype=np.int64)
        self._scores: Floats2d = np.zeros(self._rows.shape, dtype=np.float32)

    def renew(self, epoch: int) -> None:
        """Retrieve with the current encoder, unless it was done for this epoch already."""
        if epoch == self.epoch:
            return
        vectors, queries = self._encode(self._names), self._encode(self.mentions)
        for begin in range(0, len(queries), _BLOCK):
            scores = queries[begin : begin + _BLOCK] @ vectors.T
            near = np.argpartition(-scores, self._k - 1, axis=1)[:, : self._k]
            order = np.argsort(-np.take_along_axis(scores, near, axis=1), axis=1, kind="stable")
            for row, dense in enumerate(np.take_along_axis(near, order, axis=1), start=begin):
                self._rows[row] = self._merged(self._sparse[row], dense)
        self._scores = self._tfidf.score(self._texts, self._rows)
        self.epoch = epoch

    def of(self, mentions: Ints1d) -> tuple[Ints2d, Floats2d]:
        """Get the candidates of some mentions.

        mentions (Ints1d): positions, (n,).
        RETURNS (Tuple[Ints2d, Floats2d]): positions of names and their scores by spelling, (n, k).
        """
        places = np.searchsorted(self.mentions, mentions)
        return self._names[self._rows[places]], self._scores[places]

    def at(self, epoch: int, mentions: Ints1d) -> Ints1d:
        """Get all candidates of some mentions in an epoch: positions of names."""
        self.renew(epoch)
        return self.of(mentions)[0].ravel()

    def state(self) -> Weights:
        """Get what a checkpoint must hold."""
        return {
            "epoch": torch.tensor(self.epoch),
            "rows": torch.from_numpy(self._rows),
            "scores": torch.from_numpy(self._scores),
        }

    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        self.epoch = int(state["epoch"])
        self._rows, self._scores = state["rows"].numpy(), state["scores"].numpy()

    def _merged(self, sparse: Ints1d, dense: Ints1d) -> Ints1d:
        """Take the first names of the sparse search, then of the dense search, each name once."""
        proposed = [row for row in sparse[: self._from_sparse].tolist() if row >= 0]
        merged = list(dict.fromkeys([*proposed, *dense.tolist()]))
        return np.array(merged[: self._k])
