"""Prepare: makes mentions, with the forms to look up, of the spans of a document."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import NamedTuple

from ..errors import Warnings
from ..text.abbreviations import LongForms, find_definitions, implied_definitions
from ..text.abbreviations.expansion import LONGEST
from ..text.identifiers import find_identifiers, identifiers_of
from ..text.lexicon import Lexicon, Surroundings
from ..text.normalisation import key
from ..types import Mention
from ..util.telling import tell

CONTEXT = 64  # characters on each side


class Place(NamedTuple):
    """A mention and its place in a document.

    text (str): as it is looked up. start, end (int): offsets in characters; -1 where unknown.
    label (str): the entity label. meaning (str): the meaning that another component gives, used
        even if abbreviations are not resolved. long_form (str): the long form that one gives.
    """

    text: str
    start: int = -1
    end: int = -1
    label: str = ""
    meaning: str = ""
    long_form: str = ""


class Document(NamedTuple):
    """A text with its mentions.

    mentions (Sequence[Place]): to be linked. beside (Sequence[Place]): other mentions, which may
        define abbreviations or own the written identifiers.
    definitions (Mapping[str, str]): abbreviations that another component found; they have priority
        over those found here.
    warn (Callable): called with W340 or W341 if a document exceeds a limit.
    """

    text: str
    mentions: Sequence[Place]
    beside: Sequence[Place] = ()
    definitions: Mapping[str, str] = {}
    warn: Callable[[str], None] = tell


def prepare(
    document: Document,
    lexicon: Lexicon,
    resolve_abbreviations: bool = True,
    resolve_identifiers: bool = True,
) -> list[Mention]:
    """Make the mentions of a document.

    lexicon (Lexicon): meanings of abbreviations that the document does not define.
    resolve_abbreviations (bool): look for abbreviations that the document defines, and for those
        that its mentions imply.
    resolve_identifiers (bool): look for identifiers that the document writes beside its mentions.
    """
    if not document.mentions:
        return []
    every = [*document.mentions, *document.beside]
    long_forms, implied = [one.meaning for one in every], dict[str, str]()
    if resolve_abbreviations:
        long_forms, implied = _long_forms(document, every, lexicon)
    written = _identifiers(document.text, every, long_forms) if resolve_identifiers else repeat(())
    around = Surroundings(document.text)
    return [
        _mention(around, place, long_form, identifiers, lexicon, implied)
        for place, long_form, identifiers in zip(
            document.mentions, long_forms, written, strict=False
        )
    ]


def bare_mention(text: str, label: str, lexicon: Lexicon) -> Mention:
    """Make a mention without a document."""
    return _mention(Surroundings(), Place(text, 0, 0, label), "", (), lexicon, {})


def _long_forms(
    document: Document, every: Sequence[Place], lexicon: Lexicon
) -> tuple[list[str], dict[str, str]]:
    """Find long forms. RETURNS: that of each mention, and the abbreviations mentions imply."""
    found = find_definitions(document.text)
    texts = [one.text for one in every]
    implied = implied_definitions(texts, {**found, **document.definitions}, document.warn)
    # What mentions imply is a guess: a lexicon has priority, unless it does not decide.
    guessed = {short: its for short, its in implied.items() if short not in lexicon}
    if not (found or document.definitions or guessed):
        return [one.meaning or one.long_form for one in every], implied
    if any(len(own) > LONGEST for own in texts):
        document.warn(Warnings.long_mention.format(longest=LONGEST))

    @cache
    def long_forms_of(part: int) -> LongForms:
        own = found.at(found.parts[part - 1]) if part else found.at(-1)
        return LongForms({**own, **document.definitions, **guessed})

    return [
        one.meaning
        or one.long_form
        or long_forms_of(bisect_right(found.parts, one.start)).written_out(one.text)
        for one in every
    ], implied


def _identifiers(
    text: str, every: Sequence[Place], long_forms: Sequence[str]
) -> Iterable[tuple[str, ...]]:
    found = find_identifiers(text)
    if not found or any(one.end < 0 for one in every):
        return repeat(())
    meanings = [key(long or one.text) for one, long in zip(every, long_forms, strict=True)]
    return identifiers_of(text, found, [(one.start, one.end) for one in every], meanings)


def _mention(
    around: Surroundings,
    place: Place,
    long_form: str,
    identifiers: tuple[str, ...],
    lexicon: Lexicon,
    implied: Mapping[str, str],
) -> Mention:
    own, start, end, label = place[:4]
    text = around.text
    left = text[start - CONTEXT if start > CONTEXT else 0 : start] if start > 0 else ""
    right = text[end : end + CONTEXT] if end >= 0 else ""
    if end < 0:
        start = end = 0
    # A lexicon knows few texts; the context is read for those alone.
    is_known = not long_form and own in lexicon
    sense = lexicon.sense(own, around.at(start, end, label)) if is_known else None
    if sense is None:
        return Mention(own, long_form, label, left, right, (), identifiers)
    if not sense.longs and own.strip() in implied:
        return Mention(own, implied[own.strip()], label, left, right, (), identifiers)
    verbatim = sense.verbatim(" ".join(own.split()))
    return Mention(own, "", label, left, right, sense.expansions, identifiers, verbatim)
