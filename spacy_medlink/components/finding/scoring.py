"""Scores of the mentions that were found, for `spacy evaluate` and `spacy train`."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from spacy.scorer import PRFScore, Scorer, get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example

from ...errors import Warnings
from ...types import Data
from ...util.telling import tell
from ..extensions import read_characters
from ..pipelines import linked_spans

SCORES = ("mentions_p", "mentions_r", "mentions_f")


def score_mentions(examples: Sequence[Example], spans_key: str | None, name: str) -> Data:
    """Measure the mentions found against the mentions of the gold Docs.

    spans_key (Optional[str]): the group that is compared; None for `doc.ents`.
    name (str): of the component, for the warning that no label of the gold Docs is one of its own.
    RETURNS (Dict[str, Any]): `SCORES`, which count the characters that were read, whatever tokens
        they are in, in 0..1; and what spaCy gives for an NER ("ents_p", ...) or a span categorizer
        ("spans_KEY_p", ...), where labels and tokens count. None where the gold Docs have no
        mentions.
    """
    spans_of = partial(linked_spans, spans_key=spans_key)

    def has_annotation(doc: Doc) -> bool:
        return bool(doc.has_annotation("ENT_IOB")) if spans_key is None else spans_key in doc.spans

    counts, annotated = PRFScore(), [it for it in examples if has_annotation(it.reference)]
    for example in annotated:
        found, gold = map(spans_of, (example.predicted, example.reference))
        counts.score_set(set(map(read_characters, found)), set(map(read_characters, gold)))
    values = (counts.precision, counts.recall, counts.fscore) if annotated else (None,) * 3
    scores: Data = dict(zip(SCORES, values, strict=True))
    if spans_key is None:
        scores |= get_ner_prf(examples)
    else:
        how: Data = {"has_annotation": has_annotation, "allow_overlap": True}
        how["getter"] = lambda doc, attr: spans_of(doc)
        scores |= Scorer.score_spans(examples, f"spans_{spans_key}", **how)
    if scores["mentions_f"]:
        _warn_of_labels(examples, spans_of, name)
    return scores


def _warn_of_labels(examples: Iterable[Example], spans_of: Any, name: str) -> None:
    predicted, gold = set[str](), set[str]()
    for example in examples:
        predicted.update(span.label_ for span in spans_of(example.predicted))
        gold.update(span.label_ for span in spans_of(example.reference))
    if not predicted & gold:
        labels = (", ".join(sorted(labels)[:3]) for labels in (gold, predicted))
        tell(Warnings.other_labels.format(name=name, gold=next(labels), found=next(labels)))
