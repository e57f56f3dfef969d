"""The mentions of a Doc: their text, context, and what their abbreviations stand for."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from spacy.tokens import Doc, Span

from ..abbreviations import find_definitions, implied_definitions, written_out
from ..extensions import READING
from ..lexicon import Lexicon
from ..types import Mention

CONTEXT = 64  # characters on each side


def mentions_of(
    doc: Doc,
    spans: Sequence[Span],
    resolve_abbreviations: bool,
    lexicon: Lexicon,
    beside: Iterable[Span] = (),
) -> list[Mention]:
    """Make a mention of each span.

    resolve_abbreviations (bool): look for what the document defines: by itself, and in
        `doc._.abbreviations` and `span._.long_form` where a component has written them; and for
        what its mentions show abbreviations to mean.
    lexicon (Lexicon): what undefined abbreviations may stand for.
    beside (Iterable[Span]): further mentions of the document, which may show that, too.
    """
    if not spans:
        return []
    text = doc.text
    defined: dict[str, str] = {}
    if resolve_abbreviations:
        defined = _definitions(doc, text, chain(spans, beside), lexicon)
    return [
        _mention(
            text,
            span,
            _reading(span) or (_long_form(span, defined) if resolve_abbreviations else ""),
            lexicon,
        )
        for span in spans
    ]


def _mention(text: str, span: Span, long_form: str, lexicon: Lexicon) -> Mention:
    start, end, label = span.start_char, span.end_char, span.label_
    own = text[start:end]  # `span.text` joins the tokens anew
    expansions = () if long_form or not len(lexicon) else lexicon.expansions(own, label)
    left, right = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    return Mention(own, long_form, label, left, right, expansions)


def _reading(span: Span) -> str:
    """Read `span._.reading`: what a mention says, as `medical_mentions` read it."""
    return str(span._.get(READING) or "") if Span.has_extension(READING) else ""


def _definitions(doc: Doc, text: str, spans: Iterable[Span], lexicon: Lexicon) -> dict[str, str]:
    """Find what the document defines; a component that looked for it knows better than we do."""
    defined = find_definitions(text)
    if Doc.has_extension("abbreviations"):
        for found in doc._.abbreviations or ():
            short, long = _pair(found)
            if short and long:
                defined[short] = long
    mentions = (text[span.start_char : span.end_char] for span in spans)
    implied = implied_definitions(mentions, defined)
    # A lexicon was written for these documents; what mentions imply is a guess.
    return defined | {short: its for short, its in implied.items() if short not in lexicon}


def _pair(found: Any) -> tuple[str, str]:
    """Read an entry of `doc._.abbreviations`: a span, or what is left of it when serialized."""
    if isinstance(found, dict):
        return str(found.get("short_text", "")), str(found.get("long_text", ""))
    if isinstance(found, Span):
        return found.text, _own_long_form(found)
    return "", ""


def _long_form(span: Span, defined: dict[str, str]) -> str:
    return _own_long_form(span) or (written_out(span.text, defined) if defined else "")


def _own_long_form(span: Span) -> str:
    """Read `span._.long_form`: a span or a text."""
    if not Span.has_extension("long_form"):
        return ""
    long = span._.long_form
    return long.text if isinstance(long, Span) else str(long or "")
