"""Terminology: a pipeline and its knowledge base, with a method for each thing a service asks."""

from collections.abc import Sequence
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...annotate.records import record_of_link, use_umls_codes
from ...annotate.worker import linked_docs
from ...components.linker.annotation import NIL
from ...components.pipelines import linked_spans, linker_of, open_pipeline
from ...components.reading import make_doc
from ...errors import Errors, MedlinkError
from ...fitting.review import Doubtful, doubt_of
from ...kb.browse import describe_concept, resolve_code, search_concepts
from ...kb.code_systems import concept_url
from ...kb.overlay import OverlaidKb
from ...kb.resolve import IdResolver
from ...types import Data, Facts
from ...util.json_text import read_json, write_json
from ..mapping.mapper import Mapper
from ..mapping.mapper import Mapping as TermMapping
from ..mapping.outputs import MapInfo, format_of
from ..mapping.reviewed import Reviewed, Row
from ..mapping.tables import Problems
from ..mapping.terms import Columns, Term, Terms, pasted

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from ...linking import Linker

_SHOWN = 200  # of children, relations and the like


class Opening(NamedTuple):
    """What a pipeline is opened with. overlay (str): a file of corrections, or ""."""

    source: str
    lang: str = "en"
    device: str = "auto"
    overlay: str = ""


class Terminology:
    """A pipeline with its terminology. Each public method is what the service may ask.

    RAISES (MedlinkError): what `open_pipeline` raises, E652 for a pipeline with another overlay.
    """

    def __init__(self, opening: Opening) -> None:
        source, lang, device, overlay = opening
        self._nlp = open_pipeline(source, lang, device)
        self._linker = linker_of(self._nlp)
        if overlay:
            if self._linker.opened.overlay.is_used:
                raise Errors.overlay_taken(source=source)
            self._linker.configure(overlay=overlay)
        use_umls_codes(self._linker)
        self._mapper: tuple[Linker, int, Mapper] | None = None
        _ = self._linker.engine  # bad assets raise here, before the first request

    def facts(self) -> Data:
        """Describe the terminology; "paths" are its files, which no answer may show."""
        kb, assets = self._linker.kb, self._linker.assets
        return {
            "lang": self._nlp.lang,
            "concepts": len(kb),
            "names": kb.n_names,
            "tiers": list(assets.manifest["tiers"]),
            "code_schemes": kb.code_schemes(),
            "paths": [str(kb.path), str(assets.path)],
        }

    def link(self, texts: Sequence[str], filters: Facts, candidates: int) -> list[bytes]:
        """Link texts. RETURNS: the mentions of each text as JSON.

        RAISES (MedlinkError): E625 for a text that cannot be linked; as `MedicalLinker.predict`.
        """
        documents = self._documents(texts, filters, candidates)
        return [write_json(mentions).encode() for mentions in documents]

    def explain(self, text: str, start: int, end: int) -> bytes:
        """Say why a mention, characters of a text, is linked as it is: JSON.

        RAISES (MedlinkError): E627 for offsets that are no mention.
        """
        with self._nlp.memory_zone():
            explanation = self._linker.explain(_span(make_doc(self._nlp, text), start, end))
            return write_json({**explanation.as_dict(), "text": str(explanation)}).encode()

    def doubtful(self, texts: Sequence[str]) -> list[list[tuple[Doubtful, Data]]]:
        """List the mentions of each text with the doubt about their links."""
        kept = ("start", "end", "mention", "ids", "prob")
        return [
            [(doubt_of(record), {name: record[name] for name in kept}) for record in records]
            for records in self._documents(texts, {}, 1)
        ]

    def locate(
        self, text: str, characters: tuple[int, int], instead: tuple[int, ...], ids: Sequence[str]
    ) -> Data:
        """Get the data of a mention that a correction needs.

        instead (Tuple[int, ...]): start and end of the mention that it replaces, or none.
        RETURNS: "start" and "end" of whole words, the "ids", "type" (the entity label), "lang",
            "long_form", and "before": the replaced mention and its link.
        RAISES (MedlinkError): E106, E625, E627; as `read_corrections`.
        """
        self.read_corrections()
        kb, linker = self._linker.kb, self._linker
        for id in ids:
            if id not in kb:
                raise Errors.unknown_concept(path=kb.path, id=id)
        with self._nlp.memory_zone():
            doc = self._linked(text)
            span = _span(doc, *characters)
            old = _span(doc, *instead) if len(instead) == 2 else span
            there = linked_spans(doc, linker.settings.spans_key)
            label = next((ent.label_ for ent in there if ent.start < old.end > old.start), "")
            (mention,) = linker.mentions(doc, [span])
            return {
                "start": span.start_char, "end": span.end_char, "ids": [*ids], "type": label,
                "lang": doc.lang_, "long_form": mention.long_form,
                "before": {"mention": old.text, "ids": self._ids_of(doc, old)},
            }  # fmt: skip

    def is_linked(self, text: str, start: int, end: int, ids: Sequence[str]) -> bool:
        """Tell whether a mention is linked to one of these ids, or to none where none is given."""
        with self._nlp.memory_zone():
            doc = self._linked(text)
            linked = self._ids_of(doc, _span(doc, start, end))
        return set(linked) <= set(ids) if linked else not ids

    def read_corrections(self) -> None:
        """Read the file of corrections if it has changed.

        RAISES (MedlinkError): E105, E107, E401, with its line, where it cannot be read.
        """
        self._linker.rebuild_index()
        problem = self._linker.opened.overlay.problem
        if problem is not None:
            raise problem

    def search(self, text: str, limit: int) -> list[Data]:
        """Find concepts by name, as `search_concepts` does, with their codes."""
        self._linker.rebuild_index()
        kb = self._linker.kb
        hits = search_concepts(kb, text, limit, self._beginning)
        return [{**hit._asdict(), "codes": kb[hit.id].codes} for hit in hits]

    def _beginning(self, text: str, k: int) -> list[tuple[int, int]]:
        """Find names in the index of words, but for those that rules have removed."""
        assets, kb = self._linker.assets, self._linker.kb
        gone = kb.dropped if isinstance(kb, OverlaidKb) else {}
        return [names for names in assets.beginning(text, k) if names[0] not in gone]

    def resolve(self, code: str) -> Data:
        """Read the concepts that have this very id or code; `resolve_code` says what it gives."""
        ids, answer = resolve_code(self._linker.kb, self._resolver, code)
        concepts = [read_json(self.describe(id).decode()) for id in ids[:_SHOWN]]
        return {**answer, "concepts": concepts}

    @cached_property
    def _resolver(self) -> IdResolver:
        return IdResolver(self._linker.kb)

    def names_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Get the names of concepts; ids without a concept are left out."""
        return {id: self._linker.kb[id].name for id in ids if id in self._linker.kb}

    def describe(self, id: str) -> bytes:
        """Read all that is known of a concept, of long lists the first 200: JSON.

        RAISES (MedlinkError): E106, E640 as `describe_concept`.
        """
        self._linker.rebuild_index()
        described = describe_concept(self._linker.kb, id)
        short = {
            key: value[:_SHOWN] if isinstance(value, list) else value
            for key, value in described.items()
        }
        url = concept_url(described["id"], described["codes"])
        return write_json({**short, "url": url}).encode()

    def read_terms(
        self, table: str, columns: Columns
    ) -> tuple[list[str], list[TermMapping], dict[str, int]]:
        """Read a table of terms. RETURNS: headers of the context, terms, lines set aside by reason.

        Of a table that `medlink map` wrote, the terms have what was decided.
        RAISES (MedlinkError): as `mapping.terms.Terms`.
        """
        rows, problems = pasted(table, columns.name), Problems()
        terms = Terms(rows, columns, "", problems)
        try:
            reviewed = Reviewed(rows, self._linker.kb)
        except MedlinkError:  # E160: another table
            reviewed = Reviewed(None, self._linker.kb)
        kept = list(dict.fromkeys(terms) if reviewed.path else terms)
        read = [reviewed.updated(TermMapping(term)) for term in kept]
        return list(terms.context), read, dict(problems.aside)

    def map(
        self, terms: Sequence[Term], decided: Sequence[Sequence[Row]], k: int
    ) -> list[TermMapping]:
        """Map terms, with k candidates each; those that were decided keep their concepts."""
        self._linker.rebuild_index()  # corrections may have changed
        linker, made = self._linker.linker, self._mapper
        if made is None or made[0] is not linker or made[1] != k:
            made = self._mapper = (
                linker,
                k,
                Mapper(linker.using(top_k=k), k, self._nlp.lang or "en"),
            )
        reviewed = Reviewed(None, self._linker.kb)
        new = made[2].map(terms)
        return [reviewed.applied(mapping, rows) for mapping, rows in zip(new, decided, strict=True)]

    def write_mappings(
        self, format: str, mappings: Sequence[TermMapping], source: str, context: Sequence[str],
        extra: Sequence[str], k: int,
    ) -> bytes:  # fmt: skip
        """Write mappings as a file of `medlink map`. context, extra: headers of columns."""
        file, kb = StringIO(), self._linker.kb
        info = MapInfo(kb, source, list(context), list(extra), k)
        format_of(Path(), kb, format).write(file, iter(mappings), info)
        return file.getvalue().encode()

    def _documents(self, texts: Sequence[str], filters: Facts, candidates: int) -> list[list[Data]]:
        """Link texts of one request in a memory zone of their own.

        The zone forgets their words, and keeps one request from changing what spaCy reads in
        another: it takes words with the same 64-bit hash for equal.
        """
        settings = self._linker.settings
        with self._nlp.memory_zone():
            documents = []
            for doc, problem in linked_docs(self._nlp, texts, filters):
                if doc is None:
                    raise Errors.not_linked(problem=problem)
                spans = linked_spans(doc, settings.spans_key)
                records = (record_of_link(span, settings.prefix, candidates) for span in spans)
                documents.append([_with_url(record) for record in records])
            return documents

    def _linked(self, text: str) -> "Doc":
        ((doc, problem),) = linked_docs(self._nlp, [text])
        if doc is None:
            raise Errors.not_linked(problem=problem)
        return doc

    def _ids_of(self, doc: "Doc", span: "Span") -> list[str]:
        (link,) = self._linker.link_spans(doc, [span])
        return [] if link.id == NIL else [link.id]


def _with_url(record: Data) -> Data:
    url = concept_url(record["ids"][0], record["codes"]) if record["ids"] else ""
    return {**record, "url": url}


def _span(doc: "Doc", start: int, end: int) -> "Span":
    """Get the span of whole words around characters of a Doc."""
    is_within = 0 <= start < end <= len(doc.text)  # spaCy takes no numbers beyond 32 bits
    span = doc.char_span(start, end, alignment_mode="expand") if is_within else None
    if span is None or not span.text.strip():
        raise Errors.no_such_span(start=start, end=end, length=len(doc.text))
    return span
