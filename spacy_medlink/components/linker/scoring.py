"""What `spacy evaluate` and `spacy train` say of a linker."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.training import Example

from .annotation import NIL, Link
from .lesson import gold_spans

if TYPE_CHECKING:
    from .learning import TrainableLinker

SCORES = ("acc@1", "acc@5", "nel_micro_p", "nel_micro_r", "nel_micro_f")


class _Judged(NamedTuple):
    """A gold mention: the right rows, the ids proposed, best first, and the link that was made."""

    right: frozenset[int]
    proposed: list[str]
    link: str


def score_examples(linker: "TrainableLinker", examples: Sequence[Example]) -> dict[str, Any]:
    """Measure the links of gold mentions.

    acc@k: share of gold mentions whose concept is among the first k candidates, whatever the
    threshold says. nel_micro: precision of the links that were made, recall over all gold mentions
    (spaCy's own score leaves out those that were missed).

    RETURNS (Dict[str, Any]): in 0..1; None throughout where no mention has a gold id.
    """
    judged = [one for example in examples for one in _judge(linker, example)]
    if not judged:
        return dict.fromkeys(SCORES)
    links = [one for one in judged if one.link not in ("", NIL)]
    right = sum(bool(linker.rows_of(one.link) & one.right) for one in links)
    precision = right / len(links) if links else 0.0
    recall = right / len(judged)
    both = precision + recall
    return {
        "acc@1": _accuracy(linker, judged, 1),
        "acc@5": _accuracy(linker, judged, 5),
        "nel_micro_p": precision,
        "nel_micro_r": recall,
        "nel_micro_f": 2 * precision * recall / both if both else 0.0,
    }


def _accuracy(linker: "TrainableLinker", judged: Sequence[_Judged], k: int) -> float:
    hits = sum(any(linker.rows_of(id) & one.right for id in one.proposed[:k]) for one in judged)
    return hits / len(judged)


def _judge(linker: "TrainableLinker", example: Example) -> list[_Judged]:
    spans = gold_spans(linker.spans(example.reference))
    if not spans:
        return []
    if linker.use_gold_ents:
        found = dict(enumerate(linker.link_spans(example.reference, spans)))
        return [
            _Judged(linker.rows_of(span.kb_id_), _ids(found[place]), found[place].id)
            for place, span in enumerate(spans)
        ]
    others = linker.spans(example.predicted)
    predicted = {(span.start_char, span.end_char): span for span in others}
    judged = []
    for span in spans:
        own = predicted.get((span.start_char, span.end_char))
        candidates = [] if own is None else own._.get(linker.prefix + "candidates") or []
        link = "" if own is None else own.kb_id_
        ids = [candidate["id"] for candidate in candidates]
        judged.append(_Judged(linker.rows_of(span.kb_id_), ids, link))
    return judged


def _ids(link: Link) -> list[str]:
    return [candidate["id"] for candidate in link.candidates]
