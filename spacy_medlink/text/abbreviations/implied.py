"""Abbreviations whose long form occurs elsewhere in the document, without a definition.

Example: "congestive heart failure" in one line of a note and "CHF" in another. Two training corpora
(NCBI disease, BC5CDR) have 235 undefined abbreviations among their mentions. Of these, 30, in
eleven abstracts, have such a long form, which means the same in every case.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from ...errors import Warnings
from ..normalisation import key
from .expansion import LongForms

_SHORT = re.compile(r"[^\W\d_]{3,6}")
_SHORTS, _LONGS = 500, 2_000  # different short and long forms of a document that are compared
_LONGEST = 120  # characters of a long form
_Lent = tuple[frozenset[str], ...]


def implied_definitions(
    mentions: Iterable[str],
    defined: Mapping[str, str],
    warn: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Find mentions that abbreviate another mention of their document.

    An abbreviation has three to six capitals: the initials of the other mention's words, or of the
    parts of these words ("OAB", "overactive bladder"). Unlike in a definition, other letters from
    inside words do not count: "PNA" is not "peanut allergy".

    mentions (Iterable[str]): the texts of a document's mentions.
    defined (Mapping[str, str]): the long forms of short forms that the document defines.
    warn (Optional[Callable]): is called with W340 where not all mentions are compared.
    RETURNS (Dict[str, str]): further short forms to long forms, without ambiguous short forms.
    """
    shorts: dict[str, None] = {}
    texts = dict.fromkeys(mentions)
    for text in texts:
        short = text[:-1] if text[-1:] == "s" else text
        if short.isupper() and _SHORT.fullmatch(short):
            shorts[short] = None
    if shorts and defined:
        long_forms = LongForms(defined)
        shorts = {short: None for short in shorts if not long_forms.written_out(short)}
    if not shorts:
        return {}
    if warn is not None and (len(shorts) > _SHORTS or len(texts) > _LONGS):
        warn(Warnings.many_abbreviations.format(shorts=_SHORTS, longs=_LONGS))
    longs: dict[str, list[tuple[str, _Lent]]] = {short[0].lower(): [] for short in shorts}
    for text in list(texts)[:_LONGS]:
        initial = text.lstrip()[:1].lower()
        if initial in longs and len(text) <= _LONGEST:
            longs[initial].append((text, letters_of(text)))
    implied: dict[str, str] = {}
    for short in list(shorts)[:_SHORTS]:
        meant = [text for text, lent in longs[short[0].lower()] if abbreviates(short, lent)]
        if meant and len({key(text) for text in meant}) == 1:
            implied[short] = " ".join(meant[0].split())
    return implied


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
_LEAST = 4  # letters after a combining form; fewer are an ending, as in "autopsy" and "neuron"
# Function words of the languages of European terminologies; abbreviations may skip their letters.
_FUNCTION_WORDS = frozenset(
    "a and as at by for from in is of on or the to was with "
    "à al avec com con da das de del della delle der des di die do dos du e el en et la las le "
    "les los mit of por sin und van y".split()
)


def abbreviates(short: str, words: _Lent) -> bool:
    """Tell whether a short form has the first letters of a text's words, in their order.

    The part of a word after a combining form may add its first letter, and function words may be
    skipped. Case is ignored.

    words (Tuple[FrozenSet[str], ...]): the result of `letters_of`.
    """
    short = short.lower()
    ends = {0}  # the lengths of the short form's beginning that the words so far may spell
    for lent in words:
        ends = {
            end + len(letters) for end in ends for letters in lent if short.startswith(letters, end)
        }
        if not ends:
            return False
    return len(short) in ends


def letters_of(text: str) -> _Lent:
    """List the letters that each word of a text may add to an abbreviation."""
    return tuple(map(_initials, _WORD.findall(text.lower())))


def _initials(word: str) -> frozenset[str]:
    """List the letters that a word may add: "gastroesophageal" adds "g" or "ge"."""
    lent = {word[0]}
    if word in _FUNCTION_WORDS:
        lent.add("")
    prefix = _PREFIX.match(word)
    if prefix and len(word) - prefix.end() >= _LEAST:
        lent |= {word[0] + more for more in _initials(word[prefix.end() :]) if more}
    return frozenset(lent)
