"""Pipelines over the tiny assets, and what a Doc says once it is linked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_medlink.assets import Assets
from spacy_medlink.components.extensions import SPAN_ATTRIBUTES

TEXTS = [
    "He had a heart attack and fever.",
    "",
    "Nothing to see here.",
    "Known type 2 diabetes, HTN and asthma; Fieber 😀.",
    "A pericardial effusion (PE) was drained; the PE came back.",
    "   \n\n\t ",
]


def pipeline(assets: Assets, mentions: bool = True, **config: Any) -> Language:
    """Make a pipeline that links, and finds what it links if `mentions`."""
    nlp = spacy.blank("en")
    path = str(assets.path)
    if mentions:
        # Names in all languages: one of the texts has "Fieber".
        nlp.add_pipe("medical_mentions", config={"assets": path, "languages": []})
    nlp.add_pipe("medical_linker", config={"assets": path, **config})
    return nlp


def architecture(path: Path | None) -> dict[str, str | None]:
    """Name an encoder in a config; None for that of the assets."""
    name = None if path is None else str(path)
    return {"@architectures": "spacy-medlink.TransformerBiEncoder.v1", "name": name}


def finder(
    assets: Assets, lang: str = "en", linking: dict[str, Any] | None = None, **config: Any
) -> Language:
    """Make a pipeline that finds mentions, and links them if `linking` has settings for that."""
    nlp = spacy.blank(lang)
    own = {"assets": str(assets.path)}
    nlp.add_pipe("medical_mentions", config={**own, **config})
    if linking is not None:
        nlp.add_pipe("medical_linker", config={**own, **linking})
    return nlp


def texts_and_ids(nlp: Language, text: str) -> list[tuple[str, str]]:
    """List the entities of a text with the ids that they are linked to."""
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


def doc_with(nlp: Language, text: str, *ents: str, label: str = "DISEASE") -> Doc:
    """Make a Doc, not yet linked, with entities at the first place of each text."""
    doc = nlp.make_doc(text)
    spans = []
    for ent in ents:
        span = doc.char_span(text.index(ent), text.index(ent) + len(ent), label=label)
        assert span is not None, ent
        spans.append(span)
    doc.set_ents(spans)
    return doc


def values(spans: Sequence[Span], prefix: str = "") -> list[dict[str, Any]]:
    """List what is written on spans."""
    return [
        {
            "text": span.text,
            "label": span.label_,
            "kb_id": span.kb_id_,
            **{name: span._.get(prefix + name) for name in SPAN_ATTRIBUTES},
        }
        for span in spans
    ]
