"""End-to-end evaluation: a pipeline reads raw text, and its links are compared with gold."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import Errors
from ..kb import KnowledgeBase
from ..kb.gold import GoldDocument
from ..types import Progress
from ..util.progress import no_progress
from .gold_set import GoldSet
from .intervals import Bootstrap, Floats, interval_of
from .metrics import precision_recall
from .outcome import Metrics
from .provenance import speed

NIL = "NIL"


class Span(Protocol):
    """The properties of a spaCy Span that are read."""

    start_char: int
    end_char: int
    kb_id_: str


SpansOf = Callable[[str, Sequence[str]], Iterable[Iterable[Span]]]
"""The linked spans of each text, given a language and texts in it."""
Verdict = Callable[["Link", "Link"], bool]
Links = dict[str, list["Link"]]
"""Spans of each document."""


def measure_pipeline(
    spans_of: SpansOf, kb: KnowledgeBase, gold: GoldSet, progress: Progress = no_progress
) -> Metrics:
    """Run a pipeline over the documents of a gold file and score its links.

    Gold NILs are no links, and ids that the knowledge base lacks count as not found.

    spans_of (SpansOf): runs the pipeline for a language over texts; their spans may overlap.
    RETURNS (Metrics): scores of `link_scores`, "documents" and "speed".
    RAISES (MedlinkError): E407 if no document has both a text and offsets.
    """
    documents = {
        str(at): document
        for at, document in enumerate(gold.documents)
        if document.text is not None and all(mention.start >= 0 for mention in document.mentions)
    }
    if not documents:
        raise Errors.nothing_there(
            path=gold.path,
            what="document with a text and offsets, which `--end-to-end` needs",
            remedy="Give a file of documents, or leave `--end-to-end` out.",
        )
    wanted = [
        Link(doc, mention.start, mention.end, gold.rows(mention))
        for doc, document in documents.items()
        for mention in document.mentions
        if mention.ids
    ]
    rows = lru_cache(None)(lambda id: frozenset({kb[id].row}) if id in kb else frozenset())
    began = time.perf_counter()
    links = list(progress(_links_of(spans_of, documents), None, "linking texts"))
    seconds = time.perf_counter() - began
    return {
        "documents": len(documents),
        **link_scores(wanted, (Link(doc, start, end, rows(id)) for doc, start, end, id in links)),
        "speed": speed(len(documents), "documents", seconds),
    }


def _links_of(
    spans_of: SpansOf, documents: dict[str, GoldDocument]
) -> Iterator[tuple[str, int, int, str]]:
    """Stream (document, start, end, id) of the pipeline's links."""
    for lang in sorted({document.lang for document in documents.values()}):
        texts = {
            doc: document.text or "" for doc, document in documents.items() if document.lang == lang
        }
        for doc, spans in zip(texts, spans_of(lang, list(texts.values())), strict=True):
            for span in spans:
                if span.kb_id_ and span.kb_id_ != NIL:
                    yield doc, span.start_char, span.end_char, span.kb_id_


class Link(NamedTuple):
    """A linked span.

    start, end (int): offsets in its document, in characters.
    concepts (FrozenSet[int]): the concept of a prediction; for gold, all acceptable ones, none if
        the knowledge base lacks them (the span then counts as not found).
    """

    doc: str
    start: int
    end: int
    concepts: frozenset[int]


def link_scores(gold: Iterable[Link], predicted: Iterable[Link]) -> Metrics:
    """Score predicted links against gold links, each span of a document counted once.

    RETURNS (Metrics): "gold" and "predicted" (counts of spans); precision, recall and F1
        under "strict" (the same span, a right concept), "overlap" (spans that share a character,
        a right concept), "spans" and "spans_overlap" (the same for any concept), and "document"
        (the concepts of a document, at any place); each with "f1_ci95" [low, high] (documents
        resampled).
    """
    wanted, made = _by_doc(gold), _by_doc(predicted)
    docs = list(dict.fromkeys([*wanted, *made]))
    bootstrap = Bootstrap(docs)

    def scores(agree: Verdict, gold: Links = wanted, predicted: Links = made) -> Metrics:
        return _scores(docs, bootstrap, gold, predicted, agree)

    return {
        "gold": sum(map(len, wanted.values())),
        "predicted": sum(map(len, made.values())),
        "strict": scores(lambda link, other: _same(link, other) and _meet(link, other)),
        "overlap": scores(lambda link, other: _touch(link, other) and _meet(link, other)),
        "spans": scores(_same),
        "spans_overlap": scores(_touch),
        "document": scores(_meet, _without_place(wanted), _without_place(made)),
    }


def _scores(
    docs: list[str], bootstrap: Bootstrap, gold: Links, predicted: Links, agree: Verdict
) -> Metrics:
    counts = np.zeros((len(docs), 4))  # right predictions, predictions, found gold, gold
    for row, doc in enumerate(docs):
        made, wanted = predicted.get(doc, []), gold.get(doc, [])
        right = sum(any(agree(link, gold_link) for gold_link in wanted) for link in made)
        met = sum(any(agree(gold_link, link) for link in made) for gold_link in wanted)
        counts[row] = right, len(made), met, len(wanted)
    totals = [int(total) for total in counts.sum(axis=0)]
    interval = interval_of(_f1(bootstrap.totals(counts)))
    return {**precision_recall(*totals), "f1_ci95": interval}


def _f1(sums: Floats) -> Floats:
    """Compute F1 of each sample; NaN where nothing was predicted and nothing wanted."""
    right, predicted, met, gold = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(predicted > 0, right / predicted, 0.0)
        recall = np.where(gold > 0, met / gold, 0.0)
        both = precision + recall
        f1 = np.where(both > 0, 2 * precision * recall / both, 0.0)
    return np.where((predicted > 0) | (gold > 0), f1, np.nan)


def _by_doc(links: Iterable[Link]) -> Links:
    grouped: dict[str, dict[Link, None]] = defaultdict(dict)
    for link in links:
        grouped[link.doc][link] = None
    return {doc: list(links_of) for doc, links_of in grouped.items()}


def _without_place(links: Links) -> Links:
    return {
        doc: list(dict.fromkeys(Link(doc, 0, 0, link.concepts) for link in links_of))
        for doc, links_of in links.items()
    }


def _same(link: Link, other: Link) -> bool:
    return (link.start, link.end) == (other.start, other.end)


def _touch(link: Link, other: Link) -> bool:
    return link.start < other.end and other.start < link.end


def _meet(link: Link, other: Link) -> bool:
    return not link.concepts.isdisjoint(other.concepts)
