"""Abbreviations that a document uses beside their long form and never defines.

"congestive heart failure" in one line of a note and "CHF" in another. Of 235 undefined
abbreviations among the mentions of two training corpora (NCBI disease, BC5CDR), 30, in eleven
abstracts, have such a partner, and it means the same in every case.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from ...errors import Warnings
from ..normalisation import key
from .expansion import LongForms
from .initials import abbreviates

_SHORT = re.compile(r"[^\W\d_]{3,6}")
_SHORTS, _LONGS = 500, 2_000  # different ones of a document that are compared
_LONGEST = 120  # characters of a long form


def implied_definitions(
    mentions: Iterable[str],
    defined: Mapping[str, str],
    warn: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Find mentions that abbreviate another mention of their document.

    An abbreviation has three to six capitals, which are the initials of the other mention's words,
    or of the parts that these are made of ("OAB", "overactive bladder"). Other letters from inside
    words are not enough, as they are where a document defines: "PNA" is not "peanut allergy".

    mentions (Iterable[str]): the texts of a document's mentions.
    defined (Mapping[str, str]): what is defined already: the long form of each short form.
    warn (Optional[Callable]): is called with W340 where not all mentions are compared.
    RETURNS (Dict[str, str]): further short forms; none that two different mentions would explain.
    """
    shorts, longs = dict[str, None](), dict[str, list[str]]()
    texts, known = dict.fromkeys(mentions), LongForms(defined)
    for text in texts:
        short = text[:-1] if text[-1:] == "s" else text
        if short.isupper() and _SHORT.fullmatch(short) and not known.written_out(short):
            shorts[short] = None
    if not shorts:
        return {}
    if warn is not None and (len(shorts) > _SHORTS or len(texts) > _LONGS):
        warn(Warnings.many_abbreviations.format(shorts=_SHORTS, longs=_LONGS))
    for text in list(texts)[:_LONGS]:
        if text.strip() and len(text) <= _LONGEST:
            longs.setdefault(text.lstrip()[0].lower(), []).append(text)
    found: dict[str, str] = {}
    for short in list(shorts)[:_SHORTS]:
        own = [text for text in longs.get(short[0].lower(), ()) if abbreviates(short, text)]
        if own and len({key(text) for text in own}) == 1:
            found[short] = " ".join(own[0].split())
    return found
