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

_SHORT = re.compile(r"[^\W\d_]{3,6}")
_SHORTS, _LONGS = 500, 2_000  # different ones of a document that are compared
_LONGEST = 120  # characters of a long form
_Lent = tuple[frozenset[str], ...]


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
    shorts: dict[str, None] = {}
    texts, known = dict.fromkeys(mentions), LongForms(defined)
    for text in texts:
        short = text[:-1] if text[-1:] == "s" else text
        if short.isupper() and _SHORT.fullmatch(short) and not known.written_out(short):
            shorts[short] = None
    if not shorts:
        return {}
    if warn is not None and (len(shorts) > _SHORTS or len(texts) > _LONGS):
        warn(Warnings.many_abbreviations.format(shorts=_SHORTS, longs=_LONGS))
    longs: dict[str, list[tuple[str, _Lent]]] = {one[0].lower(): [] for one in shorts}
    for text in list(texts)[:_LONGS]:
        initial = text.lstrip()[:1].lower()
        if initial in longs and len(text) <= _LONGEST:
            longs[initial].append((text, letters_of(text)))
    found: dict[str, str] = {}
    for short in list(shorts)[:_SHORTS]:
        own = [text for text, lent in longs[short[0].lower()] if abbreviates(short, lent)]
        if own and len({key(text) for text in own}) == 1:
            found[short] = " ".join(own[0].split())
    return found


# Letters that a word may lend to an abbreviation: its first, and those of its later parts. "HCC" is
# "hepatocellular carcinoma", whose first word is made of two. Where such words join is known from
# the combining forms that medical words begin with. Of 1,639 abbreviations among the names of a
# disease vocabulary (MEDIC 2012), the first letters of all words explain 476 by another name of the
# concept; with those of parts, and without function words, it is 643. Chance explains little: of
# 10,000 names of other concepts with the same first letter, 4 and 6.
_WORD = re.compile(r"[^\W_]+")
_COMBINING = (
    "abdomino acro adeno adreno angio anti arterio arthro athero auto brachy brady broncho cardio "
    "cephalo cerebro chemo cholangio chole chondro cortico cranio cyto dermato dys electro "
    "encephalo endo entero epi erythro extra fibro gastro glomerulo granulo gyneco haemato hemato "
    "hemi hemo hepato hetero histio homo hydro hyper hypo immuno infra inter intra iso kerato "
    "laparo laryngo leuco leuko lipo lympho macro medullo megalo melano meningo meso meta micro "
    "mono muco multi musculo myco myelo myo nano naso necro neo nephro neuro neutro non oligo "
    "onco ophthalmo oro ortho osteo oto over pan para patho peri pharyngo photo pneumo poly post "
    "pre pro pseudo psycho pulmo pyelo radio reno retino retro rhabdo rhino sarco sclero sero "
    "spondylo sub super supra tachy thalamo thrombo thyro trans tri tubulo ultra under uni uretero "
    "utero vaso ventriculo vesico"
).split()
_PREFIX = re.compile("|".join(sorted(_COMBINING, key=len, reverse=True)))
_LEAST = 4  # letters behind a combining form; fewer are its ending, as in "autopsy" and "neuron"
# Of the languages that European terminologies are written in; no abbreviation needs their letters.
_FUNCTION_WORDS = frozenset(
    "a and as at by for from in is of on or the to was with "
    "à al avec com con da das de del della delle der des di die do dos du e el en et la las le "
    "les los mit of por sin und van y".split()
)


def abbreviates(short: str, words: _Lent) -> bool:
    """Tell whether a short form has the first letters of a text's words, in their order.

    Parts of a word behind a combining form may lend their first letter, too, and function words
    need not. Case is not regarded.

    words (Tuple[FrozenSet[str], ...]): of `letters_of`.
    """
    short = short.lower()
    ends = {0}  # how much of the short form the words so far may have spelled
    for lent in words:
        ends = {
            end + len(letters) for end in ends for letters in lent if short.startswith(letters, end)
        }
        if not ends:
            return False
    return len(short) in ends


def letters_of(text: str) -> _Lent:
    """List what each word of a text may lend."""
    return tuple(map(_initials, _WORD.findall(text.lower())))


def _initials(word: str) -> frozenset[str]:
    """List what a word may lend: "gastroesophageal" lends "g" or "ge"."""
    lent = {word[0]}
    if word in _FUNCTION_WORDS:
        lent.add("")
    prefix = _PREFIX.match(word)
    if prefix and len(word) - prefix.end() >= _LEAST:
        lent |= {word[0] + more for more in _initials(word[prefix.end() :]) if more}
    return frozenset(lent)
