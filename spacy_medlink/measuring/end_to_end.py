"""End to end: a pipeline reads raw text, and what it links is held against the gold standard."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from ..errors import Errors
from ..evaluation import Link, link_scores
from ..gold import GoldDocument
from ..kb import KnowledgeBase
from ..progress import no_progress
from ..types import Progress
from .gold_set import GoldSet
from .resources import speed

NIL = "NIL"


class Span(Protocol):
    """What is read of a spaCy Span."""

    start_char: int
    end_char: int
    kb_id_: str


class Doc(Protocol):
    """What is read of a spaCy Doc."""

    @property
    def ents(self) -> Iterable[Span]:
        """The entities."""
        ...


class Pipeline(Protocol):
    """What is asked of a spaCy Language."""

    def pipe(self, texts: Iterable[str]) -> Iterator[Any]:
        """Parse texts, one Doc each."""
        ...


def measure_pipeline(
    pipeline: Callable[[str], Pipeline],
    kb: KnowledgeBase,
    gold: GoldSet,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Run a pipeline over the documents of a gold file and score its links.

    Gold NILs are no links, and ids that the knowledge base lacks cannot be found.

    pipeline (Callable[[str], Pipeline]): gives the pipeline for a language.
    RETURNS (Dict[str, Any]): scores of `evaluation.link_scores`, "documents" and "speed".
    RAISES (MedlinkError): E406 without a document that has a text and offsets.
    """
    documents = {
        str(number): document
        for number, document in enumerate(gold.documents)
        if document.text is not None and all(mention.start >= 0 for mention in document.mentions)
    }
    if not documents:
        raise Errors.no_texts(path=gold.path)
    wanted = [
        Link(doc, mention.start, mention.end, gold.rows(mention))
        for doc, document in documents.items()
        for mention in document.mentions
        if mention.ids
    ]
    began = time.perf_counter()
    spans = list(progress(_found(pipeline, documents), None, "linking texts"))
    seconds = time.perf_counter() - began
    return {
        "documents": len(documents),
        **link_scores(wanted, _links(spans, kb)),
        "speed": speed(len(documents), "documents", seconds),
    }


def _found(
    pipeline: Callable[[str], Pipeline], documents: dict[str, GoldDocument]
) -> Iterator[tuple[str, int, int, str]]:
    """Stream (document, start, end, id) of what the pipeline links."""
    for lang in sorted({document.lang for document in documents.values()}):
        own = {
            doc: document.text or "" for doc, document in documents.items() if document.lang == lang
        }
        for doc, parsed in zip(own, pipeline(lang).pipe(own.values()), strict=True):
            for span in parsed.ents:
                if span.kb_id_ and span.kb_id_ != NIL:
                    yield doc, span.start_char, span.end_char, span.kb_id_


def _links(spans: Sequence[tuple[str, int, int, str]], kb: KnowledgeBase) -> Iterator[Link]:
    rows = {id: frozenset({kb[id].row}) if id in kb else frozenset() for *_, id in spans}
    for doc, start, end, id in spans:
        yield Link(doc, start, end, rows[id])
