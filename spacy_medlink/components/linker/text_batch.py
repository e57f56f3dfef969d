"""TextBatch: a batch of Examples as texts to encode, and the concepts that they stand for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Span
from thinc.api import Ops

from ...text.normalisation import hash_keys, key
from ...types import Ints1d

if TYPE_CHECKING:
    from ...encoders.objectives.protocol import Objective
    from ...kb import KnowledgeBase

_APART = "\0"  # no key of a text begins with it
_NAMES_OF_CONCEPT = 4  # names that a mention is pulled to, the preferred one first


@dataclass(frozen=True)
class TextBatch:
    """Texts, and the concepts that they stand for.

    texts (List[str]): mentions and names. spans (List[Span]): spans of the first texts, for an
    encoder that reads the context. labels (Ints1d): (n,), equal where two texts stand for
    the same concept. strings (Ints1d): (n,), equal where two texts have the same key.
    """

    texts: list[str]
    labels: Ints1d
    strings: Ints1d
    spans: Sequence[Span] = ()

    def loss(self, objective: "Objective", vectors: Any, ops: Ops) -> tuple[float, Any]:
        """Compute the loss of the texts' vectors, and its gradient.

        vectors (Floats2d): (n, dim), arrays of `ops`. RETURNS: the loss; the gradient, (n, dim).
        """
        import torch
        from thinc.api import torch2xp, xp2torch

        from ...encoders.objectives.protocol import Batch
        from ...util.devices import sent

        tensor = xp2torch(vectors, requires_grad=True)
        columns = np.stack([np.arange(len(self.texts)), self.labels, self.strings])
        names, labels, strings = sent(columns, tensor.device)
        batch = Batch(names, labels, strings)
        loss, _ = objective(tensor, batch)
        if loss.requires_grad:
            torch.autograd.backward(loss)
        gradient = tensor.new_zeros(tensor.shape) if tensor.grad is None else tensor.grad
        return float(loss.detach()), torch2xp(gradient, ops=ops)


def make_batch(
    mentions: Sequence[tuple[str, frozenset[int]]],
    kb: "KnowledgeBase",
    near: Sequence[tuple[int, int]] = (),
    spans: Sequence[Span] = (),
) -> TextBatch:
    """Put names beside mentions: names of their concepts, and of other concepts nearby.

    mentions (Sequence[Tuple[str, FrozenSet[int]]]): texts with their right concept rows.
    near (Sequence[Tuple[int, int]]): names of other concepts nearby: name and concept rows.
    spans (Sequence[Span]): spans of the mentions, if the encoder reads them in their context. Then
        a mention is a text of its own, even if a name has the same words.
    """
    label_of = _labels([rows for _, rows in mentions])
    texts: dict[tuple[str, int], str] = {}  # by key and label: each once
    for row, (text, rows) in enumerate(mentions):
        text_key = f"{_APART}{row}" if spans else key(text)
        texts.setdefault((text_key, label_of[min(rows)]), text)
    for text, rows in mentions:
        for row in sorted(rows):
            for name in _names(kb, row, "" if spans else text):
                texts.setdefault((key(name), label_of[row]), name)
    for name_row, row in near:
        name = kb.text_at(name_row)
        texts.setdefault((key(name), label_of.get(row, row)), name)
    keys, labels = zip(*texts, strict=True)
    return TextBatch([*texts.values()], np.array(labels), hash_keys(keys).view(np.int64), spans)


def _labels(rights: Sequence[frozenset[int]]) -> Mapping[int, int]:
    """Label concept rows; all concepts that one mention may mean have the same label."""
    labels: dict[int, int] = {}
    for rows in rights:
        joined = {labels.get(row, row) for row in rows}
        least = min(joined)
        labels.update((row, least) for row, label in [*labels.items()] if label in joined)
        labels.update(dict.fromkeys(rows, least))
    return labels


def _names(kb: "KnowledgeBase", row: int, text: str) -> list[str]:
    concept = kb.concept_at(row)
    of_text = key(text)
    texts = dict.fromkeys(name.text for name in concept.names if not name.obsolete)
    return [name for name in texts if key(name) != of_text][:_NAMES_OF_CONCEPT]
