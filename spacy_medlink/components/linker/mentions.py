"""From a Doc to mentions, as `Linker.prepare` makes them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span

from ...types import Mention
from ...util.telling import tell
from ..extensions import READING

if TYPE_CHECKING:  # imported when something is linked: spaCy imports this with every `spacy.blank`
    from ...text.lexicon import Lexicon


def mentions_of(
    doc: Doc,
    spans: Sequence[Span],
    resolve_abbreviations: bool,
    lexicon: "Lexicon",
    beside: Iterable[Span] = (),
    warn: Callable[[str], None] = tell,
) -> list[Mention]:
    """Make a mention of each span of a Doc, as `linking.prepare` does.

    resolve_abbreviations (bool): read `doc._.abbreviations` and `span._.long_form`, where a
        component has written them, and the definitions in the text.
    beside (Iterable[Span]): further mentions of the document. warn (Callable): see `Document`.
    """
    if not spans:
        return []
    from ...linking.prepare import Document, Place, prepare

    text = doc.text
    has_definitions = resolve_abbreviations and Doc.has_extension("abbreviations")
    definitions = _definitions(doc) if has_definitions else {}
    has_meaning = bool(doc.user_data) and Span.has_extension(READING)  # kept in the user data
    has_long_form = resolve_abbreviations and Span.has_extension("long_form")

    places = []
    for span in (*spans, *beside):
        start, end = span.start_char, span.end_char
        meaning = str(span._.get(READING) or "") if has_meaning else ""
        long_form = _long_form(span) if has_long_form else ""
        # `span.text` would join the tokens anew.
        places.append(Place(text[start:end], start, end, span.label_, meaning, long_form))
    document = Document(text, places[: len(spans)], places[len(spans) :], definitions, warn)
    return prepare(document, lexicon, resolve_abbreviations)


def _definitions(doc: Doc) -> dict[str, str]:
    """Read the abbreviations that another component has found."""
    pairs = map(_pair, doc._.abbreviations or ())
    return {short: long for short, long in pairs if short and long}


def _pair(entry: Any) -> tuple[str, str]:
    """Read an entry of `doc._.abbreviations`: a span, or its serialized form."""
    if isinstance(entry, dict):
        return str(entry.get("short_text", "")), str(entry.get("long_text", ""))
    if isinstance(entry, Span):
        return entry.text, _long_form(entry)
    return "", ""


def _long_form(span: Span) -> str:
    """Read `span._.long_form`: a span or a text."""
    if not Span.has_extension("long_form"):
        return ""
    long = span._.long_form
    return long.text if isinstance(long, Span) else str(long or "")
