"""End-to-end evaluation: a pipeline reads raw text, and its links are compared with gold."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from ..errors import Errors
from ..kb import KnowledgeBase
from ..kb.gold import GoldDocument
from ..types import Progress
from ..util.progress import no_progress
from .gold_set import GoldSet
from .outcome import Metrics
from .provenance import speed
from .spans import Link, link_scores

NIL = "NIL"


class Span(Protocol):
    """The properties of a spaCy Span that are read."""

    start_char: int
    end_char: int
    kb_id_: str


SpansOf = Callable[[str, Sequence[str]], Iterable[Iterable[Span]]]
"""The linked spans of each text, given a language and texts in it."""


def measure_pipeline(
    spans_of: SpansOf, kb: KnowledgeBase, gold: GoldSet, progress: Progress = no_progress
) -> Metrics:
    """Run a pipeline over the documents of a gold file and score its links.

    Gold NILs are no links, and ids that the knowledge base lacks count as not found.

    spans_of (SpansOf): runs the pipeline for a language over texts; their spans may overlap.
    RETURNS (Metrics): scores of `evaluation.link_scores`, "documents" and "speed".
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
    began = time.perf_counter()
    links = list(progress(_links_of(spans_of, documents), None, "linking texts"))
    seconds = time.perf_counter() - began
    return {
        "documents": len(documents),
        **link_scores(wanted, _links(links, kb)),
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


def _links(spans: Sequence[tuple[str, int, int, str]], kb: KnowledgeBase) -> Iterator[Link]:
    rows = {id: frozenset({kb[id].row}) if id in kb else frozenset() for *_, id in spans}
    for doc, start, end, id in spans:
        yield Link(doc, start, end, rows[id])
