"""Records of documents: their mentions with links, as plain data."""

from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc, Span

from ..components.context import ATTRIBUTES
from ..components.extensions import SPAN_ATTRIBUTES, is_stored, is_written, registered_prefixes
from ..components.linker import MedicalLinker
from ..components.pipelines import linked_spans
from ..text.context import SECTION
from ..types import Data
from .documents import Document

_DIGITS = 4  # of scores: further digits differ between batches
_NIL = ("", "NIL")
_UMLS = "UMLS"
# Attributes that are written unchanged; not `kb_ents`, since `candidates` holds more.
_SAID = ("kb_ents", "cui", "name", "candidates", "codes", "reason")
_OTHERS = [name for name in SPAN_ATTRIBUTES if name not in _SAID]
# Attributes of context components: ours have the same names as medspaCy's.
_SAID_OF = {**ATTRIBUTES, SECTION: SECTION}
_NEGEX = "negex"  # negspacy's


def use_umls_codes(linker: MedicalLinker) -> None:
    """Let `cui` be the CUI of the UMLS where the terminology has it, unless a setting says more."""
    if linker.settings.cui_scheme is None and _UMLS in linker.kb.code_schemes():
        linker.configure(cui_scheme=_UMLS)


class Where(NamedTuple):
    """The place of a linker's links: span groups or entities, and the prefix of attributes."""

    spans_key: str | Sequence[str] | None
    prefix: str


def record_of(
    document: Document, doc: Doc, where: Where, candidates: int = 0, with_text: bool = False
) -> Data:
    """Make the record of a document, in the project's format of gold files.

    candidates (int): written beside each link. with_text (bool): the whole text, too.

    RETURNS (Dict[str, Any]): "doc_id", "text" if wanted, and "mentions" in the order of the text,
        as `record_of_link` makes them.
    """
    spans = linked_spans(doc, where.spans_key)
    mentions = [record_of_link(span, where.prefix, candidates) for span in spans]
    text = {"text": document.text} if with_text else {}
    return {"doc_id": document.id, **text, "mentions": mentions}


def rejection_of(document: Document, problem: str) -> Data:
    """Make the record of a document that was set aside: never with its text."""
    return {"doc_id": document.id, "place": document.place, "problem": problem}


def record_of_link(span: Span, prefix: str = "", kept: int = 0) -> Data:
    """Make the record of a linked span, a gold mention with more fields. All JSON uses this form.

    prefix (str): of the linker's attributes, unless the link is that of another linker of the
        pipeline. kept (int): number of candidates.
    RETURNS (Dict[str, Any]): "start", "end" (characters), "mention", "type" (the entity label),
        "ids" (of the link, none for NIL), "cui", "name", "matched", "score", "prob" (None for NIL),
        "reason" (why it is NIL), "codes", "candidates" (as `_.candidates` has them, scores
        rounded), the other attributes of `extensions.SPAN_ATTRIBUTES` but "kb_ents", and "negated",
        "historical", "hypothetical", "family", "uncertain" and "section" if a component has set
        them: `medical_context`, medspaCy's ConText or negspacy.
    """
    prefix = _prefix_of(span, prefix)
    candidates = span._.get(f"{prefix}candidates")
    linked = span.kb_id_ not in _NIL
    best = candidates[0] if linked and candidates else {}
    return {
        "start": span.start_char, "end": span.end_char, "mention": span.text, "type": span.label_,
        "ids": [span.kb_id_] if linked else [],
        "cui": span._.get(f"{prefix}cui"), "name": span._.get(f"{prefix}name"),
        "matched": best.get("matched"), "score": _rounded(best.get("score")),
        "prob": _rounded(best.get("prob")),
        "reason": span._.get(f"{prefix}reason") or None,
        "codes": span._.get(f"{prefix}codes"),
        "candidates": [_candidate(candidate) for candidate in candidates[:kept]],
        **{name: span._.get(prefix + name) for name in _OTHERS},
        **_said_of(span),
    }  # fmt: skip


def _prefix_of(span: Span, prefix: str) -> str:
    """Find the linker whose link is the `kb_id` of a span: several may have linked it."""
    for candidate_prefix in (prefix, *registered_prefixes()):
        links = span._.get(f"{candidate_prefix}kb_ents")
        if links and links[0][0] == span.kb_id_:
            return candidate_prefix
    return prefix


def _said_of(span: Span) -> Data:
    is_said = any(is_stored(span, name) for name in _SAID_OF.values())
    context = {
        key: span._.get(name) for key, name in _SAID_OF.items() if is_said or is_written(name)
    }
    if Span.has_extension(_NEGEX):
        context["negated"] = bool(span._.get(_NEGEX) or context.get("negated"))
    return context


def _candidate(candidate: Data) -> Data:
    scores = {tier: _rounded(score) for tier, score in candidate["scores"].items()}
    rounded = {name: _rounded(candidate[name]) for name in ("score", "prob")}
    return {**candidate, **rounded, "scores": scores}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
