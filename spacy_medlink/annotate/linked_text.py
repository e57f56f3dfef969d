"""Links of single texts: `spacy_medlink.link` for one text, a TextLinker for many."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..components.pipelines import STARTER, linked_spans, linker_of, open_pipeline
from ..components.reading import make_doc
from ..kb.code_systems import concept_url
from ..types import Data
from .formats import format_named
from .records import record_of_link, use_umls_codes

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Record = Data
# Dark text on light ground, in a dark notebook too: a contrast of 13 to 1.
_ENTITY = (
    '<mark class="entity" style="color: #1a1a1a; background: {bg}; padding: 0.25em 0.4em; '
    'line-height: 2; border-radius: 0.35em;">{text} <small>{label} {kb_link}</small></mark>'
)


def link(text: str, source: str = STARTER, **options: Any) -> "LinkedText":
    """Find and link the mentions of a text.

    source (str): assets, a saved pipeline, an installed package, or "starter".
    options: as `TextLinker.open` takes them. For many texts open a TextLinker once.
    RAISES (MedlinkError): as `TextLinker.open`.
    """
    return TextLinker.open(source, **options)(text)


class LinkedText(Sequence[Record]):
    """A text with its links, which are records as `medlink link --json` prints them.

    A notebook shows the text with its mentions marked; `list` and `pandas.DataFrame` take it.
    """

    def __init__(self, text: str, records: list[Record]) -> None:
        self.text, self._records = text, records

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __repr__(self) -> str:
        links = (f"{record['mention']!r}: {', '.join(record['ids']) or 'NIL'}" for record in self)
        return f"<LinkedText {{{', '.join(links)}}}>"

    def _repr_html_(self) -> str:
        return _render(self.text, self._records)

    def to_format(self, format: str, doc_id: str = "1") -> str:
        """Write the text and its links in a format of other tools.

        format (str): a name of `annotate.formats.formats()`. doc_id (str): id of the text.
        RAISES (MedlinkError): E108 for an unknown format.
        """
        record = {"doc_id": doc_id, "text": self.text, "mentions": self._records}
        return "".join(format_named(format).write([record]))


class TextLinker:
    """A pipeline, opened once, that finds and links the mentions of texts.

    nlp (Language): a pipeline with a `medical_linker`. (For mentions without a text, see
    `linking.Linker`.)
    RAISES (MedlinkError): E603 for a pipeline without a `medical_linker`.
    """

    def __init__(self, nlp: "Language") -> None:
        self.nlp, self._linker = nlp, linker_of(nlp)

    @classmethod
    def open(
        cls, source: str = STARTER, *, lang: str = "en", device: str | None = None, **settings: Any
    ) -> "TextLinker":
        """Open assets or a pipeline; `cui` is that of the UMLS, unless the settings differ.

        source (str): assets, a saved pipeline, an installed package, or "starter".
        lang (str): of the texts, for assets. settings: of the linker, such as `threshold`.
        device (Optional[str]): device of the networks; None for spaCy's device.
        RAISES (MedlinkError): E201-E204, E603 for the source, E302 for a bad threshold.
        """
        linker = cls(open_pipeline(str(source), lang, device, **settings))
        if "cui_scheme" not in settings:
            use_umls_codes(linker._linker)
        return linker

    def __call__(self, text: str, *, explain: bool = False) -> LinkedText:
        """Link a text of any length.

        explain (bool): add an "explanation" to each link (see `linking.explain.Explanation`).
        """
        self.nlp.max_length = max(self.nlp.max_length, len(text) + 1)
        return self._linked(self.nlp(make_doc(self.nlp, text)), explain)

    def pipe(self, texts: Iterable[str]) -> Iterator[LinkedText]:
        """Link a stream of texts, in batches."""
        docs = self.nlp.pipe(make_doc(self.nlp, text) for text in texts)
        return (self._linked(doc, False) for doc in docs)

    def _linked(self, doc: "Doc", explain: bool) -> LinkedText:
        settings = self._linker.settings
        spans = linked_spans(doc, settings.spans_key)
        records = [record_of_link(span, settings.prefix, settings.top_k) for span in spans]
        if explain:
            for span, record in zip(spans, records, strict=True):
                record["explanation"] = self._linker.explain(span)
        return LinkedText(doc.text, records)


def _render(text: str, links: Sequence[Data]) -> str:
    """Render a text with its links as a piece of HTML: each mention with name and id."""
    from spacy import displacy

    drawn = {"text": text, "ents": list(_entities(links)), "title": None}
    options = {"template": _ENTITY}
    markup: str = displacy.render(drawn, "ent", manual=True, jupyter=False, options=options)
    return markup


def _entities(links: Sequence[Data]) -> Iterator[Data]:
    """Describe the longest of overlapping mentions, since displaCy cannot draw overlaps."""
    end = 0
    for link in sorted(links, key=lambda link: (link["start"], -link["end"])):
        if link["start"] < end:
            continue
        end = link["end"]
        id = str(link["ids"][0]) if link["ids"] else "NIL"
        url = concept_url(id, link["codes"]) if link["ids"] else ""
        entity = {"start": link["start"], "end": end, "label": escape(link["name"] or "")}
        if url:
            yield {**entity, "kb_id": escape(id), "kb_url": escape(url)}
        else:  # an id without a page is no hyperlink
            yield {**entity, "params": {"kb_link": escape(id)}}
