"""Desk: one terminology of the service, with a thread that links waiting texts together."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from queue import Full, Queue
from typing import TYPE_CHECKING, Any, NamedTuple

from ..annotate.records import record_of_link
from ..annotate.worker import linked_docs
from ..components.linker.annotation import NIL
from ..components.pipelines import linked_spans, linker_of, open_pipeline
from ..components.reading import make_doc
from ..errors import Errors, MedlinkError
from ..mapping.mapper import Mapper

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from ..kb import KnowledgeBase
    from ..linking import Linker
    from ..mapping.terms import Term
    from .corrections import CorrectionFile

_TOGETHER = 32  # texts that are linked at once
Filters = tuple[tuple[str, Any], ...]


class _Job(NamedTuple):
    """The work that a request waits for: links of a text, or another function."""

    done: "Future[Any]"
    text: str = ""
    filters: Filters = ()
    candidates: int = 0
    work: Callable[[], Any] | None = None


class Desk:
    """A pipeline, and the only thread that uses it.

    While the thread works, requests wait and become the next batch. So batches grow with the
    traffic, and no request waits for a batch to fill.

    name (str): of the terminology. source (str): assets, a pipeline, a package or "starter".
    waiting (int): most requests that may wait; further ones are refused (E622).
    corrections (Optional[CorrectionFile]): corrections, which apply as soon as they are made.
    notes (Sequence[str]): texts whose links are to be reviewed.
    RAISES (MedlinkError): what `open_pipeline` raises, E652 for a pipeline with another overlay.
    """

    def __init__(
        self, name: str, source: str, lang: str = "en", device: str = "auto", waiting: int = 256,
        corrections: "CorrectionFile | None" = None, notes: Sequence[str] = (), **settings: Any,
    ) -> None:  # fmt: skip
        self.name, self.lang, self.notes = name, lang, notes
        self._nlp = open_pipeline(source, lang, device, **settings)
        self._linker, self.corrections = linker_of(self._nlp), corrections
        if corrections is not None:
            if self._linker.opened.overlay.is_used:
                raise Errors.overlay_taken(source=source)
            self._linker.configure(overlay=str(corrections.path))
        self._mapper: tuple[Linker, int, Mapper] | None = None
        _ = self._linker.engine  # bad assets raise here, before the first request
        self._jobs: Queue[_Job | None] = Queue(waiting)
        self._thread = threading.Thread(target=self._run, name=f"desk {name}", daemon=True)
        self._thread.start()

    @property
    def kb(self) -> "KnowledgeBase":
        """The knowledge base."""
        return self._linker.kb

    @property
    def places(self) -> tuple[str, ...]:
        """The paths of its files."""
        own = () if self.corrections is None else (str(self.corrections.path),)
        return str(self.kb.path), str(self._linker.assets.path), *own

    @property
    def facts(self) -> dict[str, Any]:
        """The description of the terminology: names and numbers."""
        kb, assets = self.kb, self._linker.assets
        return {
            "name": self.name,
            "lang": self.lang,
            "concepts": len(kb),
            "names": kb.n_names,
            "tiers": list(assets.manifest["tiers"]),
            "code_schemes": kb.code_schemes(),
            "corrections": self.corrections is not None,
            "notes": len(self.notes),
        }

    @property
    def n_waiting(self) -> int:
        """Number of waiting requests."""
        return self._jobs.qsize()

    def link(self, text: str, filters: Mapping[str, Any], candidates: int) -> "Future[Any]":
        """Ask for the links of a text.

        RETURNS (Future): of a list of records, as `annotate.records.record_of_link` makes them.
        RAISES (MedlinkError): E622 where too many wait.
        """
        given = tuple(
            (key, value if isinstance(value, str) else tuple(value))
            for key, value in filters.items()
            if value
        )
        return self._ask(_Job(Future(), text, given, candidates))

    def explain(self, text: str, start: int, end: int) -> "Future[Any]":
        """Ask why a mention, characters of a text, is linked as it is.

        RETURNS (Future): of `linking.explanation.Explanation.as_dict()`, and "text".
        RAISES (MedlinkError): E622 where too many wait.
        """
        return self._ask(_Job(Future(), work=lambda: self._explain(text, start, end)))

    def locate(
        self, text: str, start: int, end: int, instead: Sequence[int], ids: Sequence[str]
    ) -> "Future[Any]":
        """Ask for the data of a mention that a correction needs.

        instead (Sequence[int]): start and end of the mention that it replaces, or none.
        RETURNS (Future): of "start" and "end" of whole words, the "ids", "type" (the entity
            label), "lang", "long_form", and "before": the replaced mention and its link.
        RAISES (MedlinkError): E622 where too many wait; the future E106, E625, E627.
        """
        place, old = (start, end), tuple(instead)
        return self._ask(_Job(Future(), work=lambda: self._locate(text, place, old, ids)))

    def map(self, terms: Sequence["Term"], k: int) -> "Future[Any]":
        """Ask for the mappings of terms, with k candidates each.

        RETURNS (Future): of a list of `mapping.mapper.Mapping`.
        RAISES (MedlinkError): E622 where too many wait.
        """
        return self._ask(_Job(Future(), work=lambda: self._map(terms, k)))

    def close(self) -> None:
        """Finish all waiting requests, and stop."""
        self._jobs.put(None)
        self._thread.join()

    def _ask(self, job: _Job) -> "Future[Any]":
        try:
            self._jobs.put_nowait(job)
        except Full:
            raise Errors.busy(count=self._jobs.maxsize) from None
        return job.done

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            batch = [self._jobs.get()]
            while len(batch) < _TOGETHER and not self._jobs.empty():
                batch.append(self._jobs.get())
            goes_on = None not in batch
            self._answer([job for job in batch if job is not None])

    def _answer(self, jobs: list[_Job]) -> None:
        """Answer jobs, with equal filters together; cancelled jobs are left out."""
        groups: dict[Filters, list[_Job]] = {}
        for job in jobs:
            if not job.done.set_running_or_notify_cancel():
                continue
            if job.work is not None:
                _settle(job.done, job.work)
            else:
                groups.setdefault(job.filters, []).append(job)
        for filters, own in groups.items():
            try:
                self._link(own, dict(filters))
            except Exception as error:  # of the filters, or of the assets
                for job in own:
                    if not job.done.done():
                        job.done.set_exception(error)

    def _link(self, jobs: list[_Job], filters: dict[str, Any]) -> None:
        # Words of notes must not stay in spaCy's memory.
        with self._nlp.memory_zone():
            found = list(linked_docs(self._nlp, [job.text for job in jobs], filters))
            for job, (doc, problem) in zip(jobs, found, strict=True):
                if doc is None:
                    job.done.set_exception(Errors.not_linked(problem=problem))
                else:
                    job.done.set_result(self._records(doc, job.candidates))

    def _records(self, doc: "Doc", candidates: int) -> list[dict[str, Any]]:
        spans = linked_spans(doc, self._linker.spans_key)
        return [record_of_link(span, self._linker.prefix, candidates) for span in spans]

    def _map(self, terms: Sequence["Term"], k: int) -> Any:
        self._linker.rebuild_index()  # corrections may have changed
        linker, made = self._linker.linker, self._mapper
        if made is None or made[0] is not linker or made[1] != k:
            mapper = Mapper(linker.using(top_k=k), k)
            made = self._mapper = linker, k, mapper
        return made[2].map(terms)

    def _explain(self, text: str, start: int, end: int) -> dict[str, Any]:
        with self._nlp.memory_zone():
            explanation = self._linker.explain(_span(make_doc(self._nlp, text), start, end))
            return {**explanation.as_dict(), "text": str(explanation)}

    def _locate(
        self, text: str, place: tuple[int, int], instead: tuple[int, ...], ids: Sequence[str]
    ) -> dict[str, Any]:
        kb, linker = self.kb, self._linker
        for id in ids:
            if id not in kb:
                raise Errors.unknown_concept(path=kb.path, id=id)
        with self._nlp.memory_zone():
            ((doc, problem),) = linked_docs(self._nlp, [text])
            if doc is None:
                raise Errors.not_linked(problem=problem)
            span = _span(doc, *place)
            old = _span(doc, *instead) if len(instead) == 2 else span
            there = linked_spans(doc, linker.spans_key)
            label = next((one.label_ for one in there if one.start < old.end > old.start), "")
            (mention,) = linker.preparer.mentions_of(doc, [span])
            (before,) = linker.link_spans(doc, [old])
            return {
                "start": span.start_char, "end": span.end_char, "ids": [*ids], "type": label,
                "lang": doc.lang_, "long_form": mention.long_form,
                "before": {
                    "mention": old.text, "ids": [] if before.id == NIL else [before.id],
                },
            }  # fmt: skip


def _span(doc: "Doc", start: int, end: int) -> "Span":
    """Get the span of whole words around characters of a Doc."""
    is_within = 0 <= start < end <= len(doc.text)  # spaCy takes no numbers beyond 32 bits
    span = doc.char_span(start, end, alignment_mode="expand") if is_within else None
    if span is None or not span.text.strip():
        raise Errors.no_such_span(start=start, end=end, length=len(doc.text))
    return span


def _settle(done: "Future[Any]", work: Callable[[], Any]) -> None:
    try:
        done.set_result(work())
    except MedlinkError as error:
        done.set_exception(error)
    except Exception as error:  # the thread must live on, and the caller must know
        done.set_exception(error)
