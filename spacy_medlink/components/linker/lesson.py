"""Lesson: what a batch of Examples teaches, as texts to encode and the pairs among them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...text.lexicon import Lexicon
from ...text.normalisation import key
from ...types import Floats2d, Mention
from .contrast import contrast
from .mentions import mentions_of

if TYPE_CHECKING:
    from ...kb import KnowledgeBase

_NAMES_OF_CONCEPT = 4  # drawn to the mention, the preferred name first


def gold_spans(spans: Iterable[Span]) -> list[Span]:
    """List the spans of a reference Doc that have an id: those that say what is right."""
    return [span for span in spans if span.kb_id_ and span.kb_id_ != "NIL"]


def gold_mentions(
    examples: Sequence[Example],
    spans_of: Callable[[Doc], Iterable[Span]],
    resolve_abbreviations: bool,
    lexicon: Lexicon,
) -> list[tuple[Mention, str]]:
    """Collect the gold mentions of Examples with their ids, in order.

    spans_of (Callable[[Doc], Iterable[Span]]): lists the spans that are to be linked.
    """
    found = []
    for example in examples:
        spans = gold_spans(spans_of(example.reference))
        mentions = mentions_of(example.reference, spans, resolve_abbreviations, lexicon)
        found += [(mention, span.kb_id_) for mention, span in zip(mentions, spans, strict=True)]
    return found


@dataclass(frozen=True)
class Lesson:
    """Texts, and which of them are to come near to each other.

    texts (List[str]): the mentions, then the names. n_mentions (int): how many are mentions.
    right, ignored (NDArray[bool]): (n_mentions, n_names).
    """

    texts: list[str]
    n_mentions: int
    right: NDArray[np.bool_]
    ignored: NDArray[np.bool_]

    def loss(self, vectors: Floats2d) -> tuple[float, Floats2d]:
        """Compute the loss of the texts' vectors, (n, dim), and its gradient, (n, dim)."""
        mentions, names = vectors[: self.n_mentions], vectors[self.n_mentions :]
        loss, by_mentions, by_names = contrast(mentions, names, self.right, self.ignored)
        return loss, np.concatenate([by_mentions, by_names])


def make_lesson(
    mentions: Sequence[tuple[str, frozenset[int]]],
    kb: "KnowledgeBase",
    near: Sequence[tuple[int, int]] = (),
) -> Lesson:
    """Put names beside mentions: of their concepts, and of others that lie near.

    mentions (Sequence[Tuple[str, FrozenSet[int]]]): texts with their right concept rows.
    near (Sequence[Tuple[int, int]]): other names worth telling apart: name and concept rows.
    """
    names: dict[tuple[str, int], None] = {}  # (text, concept row), in order
    for text, rows in mentions:
        for row in sorted(rows):
            names.update(dict.fromkeys((name, row) for name in _names(kb, row, text)))
    names.update({(kb.name_at(name).text, concept): None for name, concept in near})
    texts, concepts = [name for name, _ in names], np.array([row for _, row in names])
    keys = np.array([key(text) for text in texts])
    right = np.array([np.isin(concepts, list(rows)) for _, rows in mentions])
    same = np.array([keys == key(text) for text, _ in mentions])
    # The mention's own string: nothing to learn from its own concept, nor against another's.
    return Lesson([*(text for text, _ in mentions), *texts], len(mentions), right, same)


def _names(kb: "KnowledgeBase", row: int, text: str) -> list[str]:
    concept = kb.concept_at(row)
    own = key(text)
    texts = dict.fromkeys(name.text for name in concept.names if not name.obsolete)
    return [name for name in texts if key(name) != own][:_NAMES_OF_CONCEPT]
