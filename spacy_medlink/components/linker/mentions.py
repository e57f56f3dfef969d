"""The mentions of a Doc: their text, context, and what their abbreviations stand for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from spacy.tokens import Doc, Span

from ...errors import Warnings
from ...text.abbreviations import LongForms, find_definitions, implied_definitions
from ...text.abbreviations.expansion import LONGEST
from ...text.identifiers import find_identifiers, identifiers_of
from ...text.lexicon import Lexicon, Surroundings
from ...text.normalisation import key
from ...types import Mention
from ...util.telling import tell
from ..extensions import READING

CONTEXT = 64  # characters on each side


def mentions_of(
    doc: Doc,
    spans: Sequence[Span],
    resolve_abbreviations: bool,
    lexicon: Lexicon,
    resolve_identifiers: bool = False,
    beside: Iterable[Span] = (),
    warn: Callable[[str], None] = tell,
) -> list[Mention]:
    """Make a mention of each span.

    resolve_abbreviations (bool): look for what the document defines: by itself, and in
        `doc._.abbreviations` and `span._.long_form` where a component has written them; and for
        what its mentions show abbreviations to mean.
    lexicon (Lexicon): what undefined abbreviations may stand for.
    resolve_identifiers (bool): look for identifiers that the document writes beside its mentions.
    beside (Iterable[Span]): further mentions of the document, which may show that or have them.
    warn (Callable): is called with W340 or W341 where a document goes beyond what is looked at.
    """
    if not spans:
        return []
    text, every = doc.text, [*spans, *beside]
    places = [(span.start_char, span.end_char) for span in every]
    texts = [text[start:end] for start, end in places]  # `span.text` joins the tokens anew
    long_forms, implied = _readings(doc, every), dict[str, str]()
    if resolve_abbreviations:
        defined = _definitions(doc, text)
        implied = implied_definitions(texts, defined, warn)
        # What mentions imply is a guess: a lexicon goes before it, unless it does not decide.
        defined = defined | {short: its for short, its in implied.items() if short not in lexicon}
        expand = LongForms(defined).written_out
        if defined and any(len(own) > LONGEST for own in texts):
            warn(Warnings.long_mention.format(longest=LONGEST))
        long_forms = [
            reading or _long_form(span) or expand(own)
            for reading, span, own in zip(long_forms, every, texts, strict=True)
        ]
    written: Iterable[tuple[str, ...]] = repeat(())
    if resolve_identifiers and (found := find_identifiers(text)):
        meanings = [key(long or own) for long, own in zip(long_forms, texts, strict=True)]
        written = identifiers_of(text, found, places, meanings)
    labels, around = [span.label_ for span in spans], Surroundings(text)
    facts = zip(labels, places, texts, long_forms, written, strict=False)  # of spans alone
    return [_mention(around, *own, lexicon, implied) for own in facts]


def bare_mention(text: str, label: str, lexicon: Lexicon) -> Mention:
    """Make a mention that stands in no document."""
    return _mention(Surroundings(), label, (0, 0), text, "", (), lexicon, {})


def _mention(
    around: Surroundings,
    label: str,
    place: tuple[int, int],
    own: str,
    long_form: str,
    identifiers: tuple[str, ...],
    lexicon: Lexicon,
    implied: Mapping[str, str],
) -> Mention:
    start, end = place
    left, right = around.text[max(0, start - CONTEXT) : start], around.text[end : end + CONTEXT]
    sense = None if long_form else lexicon.sense(own, around.at(start, end, label))
    if sense is None:
        return Mention(own, long_form, label, left, right, (), identifiers)
    if not sense.longs and own.strip() in implied:
        return Mention(own, implied[own.strip()], label, left, right, (), identifiers)
    verbatim = sense.verbatim(" ".join(own.split()))
    return Mention(own, "", label, left, right, sense.expansions, identifiers, verbatim)


def _readings(doc: Doc, spans: Sequence[Span]) -> list[str]:
    """Read `span._.reading`: what mentions say, as `medical_mentions` read it."""
    if not doc.user_data or not Span.has_extension(READING):  # which is where it is kept
        return [""] * len(spans)
    return [str(span._.get(READING) or "") for span in spans]


def _definitions(doc: Doc, text: str) -> dict[str, str]:
    """Find what the document defines; a component that looked for it knows better than we do."""
    defined = find_definitions(text)
    if Doc.has_extension("abbreviations"):
        for found in doc._.abbreviations or ():
            short, long = _pair(found)
            if short and long:
                defined[short] = long
    return defined


def _pair(found: Any) -> tuple[str, str]:
    """Read an entry of `doc._.abbreviations`: a span, or what is left of it when serialized."""
    if isinstance(found, dict):
        return str(found.get("short_text", "")), str(found.get("long_text", ""))
    if isinstance(found, Span):
        return found.text, _long_form(found)
    return "", ""


def _long_form(span: Span) -> str:
    """Read `span._.long_form`: a span or a text."""
    if not Span.has_extension("long_form"):
        return ""
    long = span._.long_form
    return long.text if isinstance(long, Span) else str(long or "")
