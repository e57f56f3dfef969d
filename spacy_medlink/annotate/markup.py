"""A text with its links as HTML, drawn by displaCy, for notebooks."""

from collections.abc import Sequence
from html import escape

from ..kb.code_systems import concept_url
from ..types import Data

# Dark text on each of these has a contrast of at least 7 to 1 (WCAG AAA).
_COLOURS = ("#cfe8ff", "#d6f5d6", "#ffe3b3", "#f3d9fa", "#ffd6d6", "#d0f4f0", "#e8e4c9", "#e0e0ff")
_NIL_COLOUR = "#e5e5e5"
_NIL = "NIL"
_ENTITY = (
    '<mark class="entity" title="{title}" style="color: #1a1a1a; background: {bg}; '
    'padding: 0.25em 0.4em; margin: 0 0.15em; line-height: 2; border-radius: 0.35em;">{text}'
    '<span style="font-size: 0.75em; vertical-align: middle; margin-left: 0.5rem">{kb_link}'
    "</span></mark>"
)


def render_text(text: str, links: Sequence[Data]) -> str:
    """Render a text with its links as a piece of HTML."""
    from spacy import displacy

    kinds = sorted({_kind(link) for link in links if link["ids"]})
    colours = {
        concept_type: _COLOURS[nth % len(_COLOURS)] for nth, concept_type in enumerate(kinds)
    }
    shown = [_entity(link) for link in _without_overlaps(links)]
    markup: str = displacy.render(
        [{"text": text, "ents": shown, "title": None}],
        style="ent",
        manual=True,
        jupyter=False,
        options={"colors": {**colours, _NIL: _NIL_COLOUR}, "template": _ENTITY},
    )
    return markup


def _entity(link: Data) -> Data:
    url, id = _url(link), escape(_id(link))
    score = "" if link["score"] is None else f" ({link['score']:.3f})"
    params = {"title": escape(f"{link['name'] or _NIL}{score}")}
    return {
        "start": link["start"],
        "end": link["end"],
        "label": _kind(link) if link["ids"] else _NIL,
        "kb_id": id,
        "kb_url": escape(url),
        # A concept without a page is shown by its id alone, without a hyperlink.
        "params": params if url else {**params, "kb_link": id},
    }


def _kind(link: Data) -> str:
    """Get the kind that colours a link: the concept's first type, or the entity's label."""
    types = link["candidates"][0]["types"] if link["candidates"] else []
    return str(types[0] if types else link["type"]).upper()


def _id(link: Data) -> str:
    return str(link["ids"][0]) if link["ids"] else _NIL


def _url(link: Data) -> str:
    return concept_url(link["ids"][0], link["codes"]) if link["ids"] else ""


def _without_overlaps(links: Sequence[Data]) -> list[Data]:
    """Keep the longest of overlapping mentions, since displaCy cannot draw overlaps."""
    kept: list[Data] = []
    end = 0
    for link in sorted(links, key=lambda link: (link["start"], -link["end"])):
        if link["start"] >= end:
            kept.append(link)
            end = link["end"]
    return kept
