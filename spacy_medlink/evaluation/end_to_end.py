"""End-to-end evaluation: a pipeline reads raw text, and its links are compared with gold."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

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


class Pipeline(Protocol):
    """The methods of a spaCy Language that are used; callers read its Docs."""

    def pipe(self, texts: Iterable[str]) -> Iterator[Any]:
        """Parse texts, one Doc each."""


P = TypeVar("P", bound=Pipeline)


def entities(pipeline: Pipeline, doc: Any) -> Iterable[Span]:
    """Read the entities of a Doc."""
    ents: Iterable[Span] = doc.ents
    return ents


def measure_pipeline(
    pipeline: Callable[[str], P],
    kb: KnowledgeBase,
    gold: GoldSet,
    progress: Progress = no_progress,
    spans: Callable[[P, Any], Iterable[Span]] = entities,
) -> Metrics:
    """Run a pipeline over the documents of a gold file and score its links.

    Gold NILs are no links, and ids that the knowledge base lacks count as not found.

    pipeline (Callable[[str], Pipeline]): gets the pipeline for a language.
    spans (Callable): gets the linked spans of a Doc of the pipeline; they may overlap.
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
    links = list(progress(_found(pipeline, documents, spans), None, "linking texts"))
    seconds = time.perf_counter() - began
    return {
        "documents": len(documents),
        **link_scores(wanted, _links(links, kb)),
        "speed": speed(len(documents), "documents", seconds),
    }


def _found(
    pipeline: Callable[[str], P],
    documents: dict[str, GoldDocument],
    spans: Callable[[P, Any], Iterable[Span]],
) -> Iterator[tuple[str, int, int, str]]:
    """Stream (document, start, end, id) of the pipeline's links."""
    for lang in sorted({document.lang for document in documents.values()}):
        texts = {
            doc: document.text or "" for doc, document in documents.items() if document.lang == lang
        }
        opened = pipeline(lang)
        for doc, parsed in zip(texts, opened.pipe(texts.values()), strict=True):
            for span in spans(opened, parsed):
                if span.kb_id_ and span.kb_id_ != NIL:
                    yield doc, span.start_char, span.end_char, span.kb_id_


def _links(spans: Sequence[tuple[str, int, int, str]], kb: KnowledgeBase) -> Iterator[Link]:
    rows = {id: frozenset({kb[id].row}) if id in kb else frozenset() for *_, id in spans}
    for doc, start, end, id in spans:
        yield Link(doc, start, end, rows[id])
