"""A text with its links as HTML, drawn by displaCy, for notebooks."""

from collections.abc import Iterator, Sequence
from html import escape

from ..kb.code_systems import concept_url
from ..types import Data

# Dark text on light ground, in a dark notebook too: a contrast of 13 to 1.
_ENTITY = (
    '<mark class="entity" style="color: #1a1a1a; background: {bg}; padding: 0.25em 0.4em; '
    'line-height: 2; border-radius: 0.35em;">{text} <small>{label} {kb_link}</small></mark>'
)


def render_text(text: str, links: Sequence[Data]) -> str:
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
