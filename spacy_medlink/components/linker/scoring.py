"""Scores of a linker for `spacy evaluate` and `spacy train`."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from spacy.tokens import Doc, Span
from spacy.training import Example

from ...types import Data
from .annotation import NIL, Link
from .writing import SpanWriter

SCORES = ("acc@1", "acc@5", "nel_micro_p", "nel_micro_r", "nel_micro_f")


class _Links(Protocol):
    """The methods of a linker that scoring needs."""

    @property
    def span_writer(self) -> SpanWriter: ...
    def link_spans(self, doc: Doc, spans: Sequence[Span]) -> list[Link]: ...
    def ids_of(self, id: str) -> frozenset[str]: ...


class _Judged(NamedTuple):
    """A gold mention: the right ids, the ids of the candidates, best first, and the link."""

    right: frozenset[str]
    proposed: list[str]
    link: str


def score_examples(linker: _Links, examples: Sequence[Example]) -> Data:
    """Measure the links of gold mentions.

    acc@k: share of gold mentions whose concept is among the first k candidates, without regard to
    the threshold. nel_micro: precision of the links made, recall over all gold mentions (spaCy's
    own score leaves out missed mentions).

    RETURNS (Dict[str, Any]): in 0..1; None throughout where no mention has a gold id.
    """
    judged = [mention for example in examples for mention in _judge(linker, example)]
    if not judged:
        return dict.fromkeys(SCORES)
    links = [mention for mention in judged if mention.link not in ("", NIL)]
    right = sum(mention.link in mention.right for mention in links)
    precision = right / len(links) if links else 0.0
    recall = right / len(judged)
    both = precision + recall
    return {
        "acc@1": _accuracy(judged, 1),
        "acc@5": _accuracy(judged, 5),
        "nel_micro_p": precision,
        "nel_micro_r": recall,
        "nel_micro_f": 2 * precision * recall / both if both else 0.0,
    }


def _accuracy(judged: Sequence[_Judged], k: int) -> float:
    right = sum(not mention.right.isdisjoint(mention.proposed[:k]) for mention in judged)
    return right / len(judged)


def _judge(linker: _Links, example: Example) -> list[_Judged]:
    spans = linker.span_writer.gold(example.reference)
    if not spans:
        return []
    right = [linker.ids_of(span.kb_id_) for span in spans]
    links = linker.link_spans(example.reference, spans)
    return [
        _Judged(ids, [candidate.id for candidate in link.candidates], link.id)
        for ids, link in zip(right, links, strict=True)
    ]
