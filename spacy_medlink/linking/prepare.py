"""Prepare: makes mentions, with the forms to look up, of the spans of a document."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    warn (Callable): called with W340 if a document exceeds a limit.
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
    if resolve_abbreviations:
        long_forms, implied = _long_forms(document, every, lexicon)
    else:
        long_forms, implied = [mention.meaning for mention in every], dict[str, str]()
    written = _identifiers(document.text, every, long_forms) if resolve_identifiers else repeat(())
    around = Surroundings(document.text)
    return list(
        map(
            _mention, repeat(around), document.mentions, long_forms, written, repeat(lexicon),
            repeat(implied),
        )
    )  # fmt: skip


def bare_mention(text: str, label: str, lexicon: Lexicon) -> Mention:
    """Make a mention without a document."""
    return _mention(Surroundings(), Place(text, 0, 0, label), "", (), lexicon, {})


def _long_forms(
    document: Document, every: Sequence[Place], lexicon: Lexicon
) -> tuple[list[str], dict[str, str]]:
    """Find long forms. RETURNS: that of each mention, and the abbreviations mentions imply."""
    definitions = find_definitions(document.text)
    defined = {**definitions, **document.definitions} if definitions else document.definitions
    texts = [mention.text for mention in every]
    implied = implied_definitions(texts, defined, document.warn)
    # What mentions imply is a guess: a lexicon has priority, unless it does not decide.
    guessed = {short: long for short, long in implied.items() if short not in lexicon}
    if not (defined or guessed):
        return [mention.meaning or mention.long_form for mention in every], implied
    if max(map(len, texts)) > LONGEST:
        document.warn(Warnings.long_mention.format(longest=LONGEST))
    by_part: dict[int, LongForms] = {}
    long_forms = []
    for mention in every:
        long_form = mention.meaning or mention.long_form
        if not long_form:
            part = bisect_right(definitions.parts, mention.start)
            if part not in by_part:
                here = definitions.at(definitions.parts[part - 1] if part else -1)
                by_part[part] = LongForms({**here, **document.definitions, **guessed})
            long_form = by_part[part].written_out(mention.text)
        long_forms.append(long_form)
    return long_forms, implied


def _identifiers(
    text: str, every: Sequence[Place], long_forms: Sequence[str]
) -> Iterable[tuple[str, ...]]:
    identifiers = find_identifiers(text)
    if not identifiers or any(mention.end < 0 for mention in every):
        return repeat(())
    meanings = [key(long or mention.text) for mention, long in zip(every, long_forms, strict=True)]
    places = [(mention.start, mention.end) for mention in every]
    return identifiers_of(text, identifiers, places, meanings)


def _mention(
    around: Surroundings,
    where: Place,
    long_form: str,
    identifiers: tuple[str, ...],
    lexicon: Lexicon,
    implied: Mapping[str, str],
) -> Mention:
    written, start, end, label = where[:4]
    text = around.text
    left = text[start - CONTEXT if start > CONTEXT else 0 : start] if start > 0 else ""
    right = text[end : end + CONTEXT] if end >= 0 else ""
    if end < 0:
        start = end = 0
    # A lexicon knows few texts; the context is read for those alone.
    is_known = not long_form and written in lexicon
    sense = lexicon.sense(written, around.at(start, end, label)) if is_known else None
    if sense is None:
        return Mention(written, long_form, label, left, right, (), identifiers)
    if not sense.longs and written.strip() in implied:
        return Mention(written, implied[written.strip()], label, left, right, (), identifiers)
    verbatim = sense.verbatim(" ".join(written.split()))
    return Mention(written, "", label, left, right, sense.expansions, identifiers, verbatim)
