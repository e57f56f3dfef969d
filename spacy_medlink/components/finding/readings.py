"""Readings: what the words of a text may be besides what is written, to be looked up by a key.

"Pre-auricular pit" may be a "preauricular pit", "tachycardic" tachycardia, and "hypothyroidsm"
hypothyroidism. The dictionary decides which of them is a name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...retrieval.vocabulary import LEAST, Vocabulary, is_inflected
from ...text.pieces import Border, Pieces, key_of, piece_key
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS
from ...text.said_otherwise import phrases_of
from ...text.written_forms import is_ordinary, names_of_form, ways_in_full, words_within

_LONG = 8  # letters of a word that is rather a name of a disease than of a person
_NOUN = re.compile("(?:[st]ion|ment|ness|ing|[ae]nce)s$")  # no person: "retractions"
_SHORT_FORM = 6  # letters of a word in capitals that is taken for a short form


class Reading(NamedTuple):
    """A run of pieces that is looked up by a key.

    text (str): what it is read as; "" for what is written. joints (FrozenSet[int]): the pieces
    that are one word with the piece before. is_form (bool): whether a word of it is read as
    another one, whatever the signs between the words are. is_said (bool): whether a list says that
    it stands for a name, in whatever language.
    """

    start: int
    end: int
    key: str
    text: str = ""
    joints: frozenset[int] = frozenset()
    is_form: bool = False
    is_said: bool = False


def readings(
    pieces: Pieces, vocabulary: Vocabulary, longest: int, common: Collection[str], lang: str
) -> list[Reading]:
    """List the readings of a text, the surest first: single words, joined, inflected, misspelt.

    vocabulary (Vocabulary): of the names. longest (int): pieces of a reading.
    common (Collection[str]): keys of words that are neither inflected nor misspelt names.
    """
    words, inflected, unknown = list[Reading](), list[Reading](), dict[int, str]()
    knows = vocabulary.knows(pieces.keys)
    for index, (says, text, lower, key, is_known) in enumerate(
        zip(pieces.says, pieces.texts, pieces.lower, pieces.keys, knows, strict=True)
    ):
        if not says:
            continue
        if is_known and len(key) > 1 and (key.isalpha() or not key.replace(" ", "").isdigit()):
            words.append(Reading(index, index + 1, key))
        if key in common or (len(text) <= _SHORT_FORM and text.isupper()):
            continue
        forms = names_of_form(lower, lang)
        if (forms or not is_known) and is_ordinary(lower, lang):
            continue
        word = lower if lower.isalpha() else key
        if not is_known:
            unknown[index] = word
        for name, its_key in forms:
            is_plain = " " not in name or word[-1] != "s"
            # "Crohns" is a disease, "calves" are none.
            is_person = not _NOUN.search(word) and (text[0].isupper() or len(text) > _LONG - 2)
            if is_plain or (is_person and _ends_name(pieces, index + 1)):
                inflected.append(Reading(index, index + 1, its_key, name, is_form=True))
    joined = _joined(pieces, vocabulary, longest) if pieces.hyphens else ()
    short = words_within(lang)
    in_full = () if short.keys().isdisjoint(pieces.texts) else _in_full(pieces, longest, short)
    inverted = _inverted(pieces, longest) if Border.COMMA in pieces.borders else ()
    misspelt = _misspelt(pieces, vocabulary, longest, knows, unknown)
    said = (
        Reading(start, end, its_key, name, is_form=True, is_said=True)
        for start, end, names in phrases_of(lang).within(pieces.keys)
        if pieces.widest(start, end) < Border.COMMA
        for name, its_key in names
    )
    return [*words, *said, *joined, *inflected, *in_full, *inverted, *misspelt]


def _inverted(pieces: Pieces, longest: int) -> Iterator[Reading]:
    """Find "Edema, pulmonary": an item of its own that says its head first."""
    ends = [index for index, border in enumerate(pieces.borders) if border > Border.COMMA]
    for start, end in pairwise(ends):
        inside = pieces.borders[start + 1 : end]
        is_one = inside.count(Border.COMMA) == 1 and Border.SIGN not in inside
        if is_one and len(inside) < longest and pieces.says[start]:
            comma = start + 1 + inside.index(Border.COMMA)
            words = pieces.texts[comma:end] + pieces.texts[start:comma]
            yield Reading(start, end, key_of(words), " ".join(words), is_form=True)


def _in_full(pieces: Pieces, longest: int, short: Mapping[str, Sequence[str]]) -> Iterator[Reading]:
    """Find "LV hypertrophy" and "1st degree AV block": words written short within a name."""
    at = [index for index, text in enumerate(pieces.texts) if text in short]
    every, spans = [True] * len(pieces), dict[tuple[int, int], None]()
    for index in at:
        spans |= dict.fromkeys(_runs_around(pieces, index, longest, Border.SIGN, every))
    for start, end in spans:
        for text in ways_in_full(pieces.texts[start:end], short):
            yield Reading(start, end, key_of(text.split()), text, is_form=True)


def _joined(pieces: Pieces, vocabulary: Vocabulary, longest: int) -> Iterator[Reading]:
    """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
    joints, every = _joints(pieces, vocabulary), [True] * len(pieces)
    for index in sorted(joints):
        for start, end in _runs_around(pieces, index, longest, Border.COMMA, every):
            if start < index:
                texts = enumerate(pieces.texts[start:end], start)
                words = [text if at in joints else f" {text}" for at, text in texts]
                text = "".join(words).lstrip()
                yield Reading(start, end, key_of(text.split()), text, joints)


def _joints(pieces: Pieces, vocabulary: Vocabulary) -> frozenset[int]:
    """List the pieces that, with the one or two before their hyphens, are a word of names."""
    texts, hyphens, joints = pieces.texts, set(pieces.hyphens), set[int]()
    for many in (1, 2):
        ends = [end for end in hyphens if many == 1 or end - 1 in hyphens]
        words = [piece_key("".join(texts[end - many : end + 1])) for end in ends]
        for end, word, is_known in zip(ends, words, vocabulary.knows(words), strict=True):
            if is_known and word.isalpha():
                joints.update(range(end - many + 1, end + 1))
    return frozenset(joints)


def _misspelt(
    pieces: Pieces,
    vocabulary: Vocabulary,
    longest: int,
    knows: Sequence[bool],
    unknown: dict[int, str],
) -> Iterator[Reading]:
    """Find "hypothyroidsm": names in which one letter of a word differs.

    unknown (Dict[int, str]): the words that may be misspelt, by their places.
    """
    near = vocabulary.near([*unknown.values()])
    for (index, written), others in zip(unknown.items(), near, strict=True):
        for key, word in {piece_key(word): word for word in others}.items() if others else ():
            for start, end in _runs_around(pieces, index, longest, Border.SIGN, knows):
                if end - start == 1 and not _may_be_slip(pieces, index, written, word):
                    continue
                yield Reading(
                    start,
                    end,
                    _with_word(pieces.keys[start:end], index - start, key),
                    _with_word(pieces.texts[start:end], index - start, word),
                    is_form=True,
                )


def _with_word(words: list[str], index: int, word: str) -> str:
    words[index] = word
    return " ".join(words)


def _runs_around(
    pieces: Pieces, index: int, longest: int, within: Border, may_go_on: Sequence[bool]
) -> Iterable[tuple[int, int]]:
    """List the runs that hold a piece, and no stronger border than one within.

    may_go_on (Sequence[bool]): of each piece, whether it may be a part of a run.
    """
    first, last, borders = index, index + 1, pieces.borders
    while index - first < longest - 1 and borders[first] <= within and may_go_on[first - 1]:
        first -= 1
    while last - index < longest and borders[last] <= within and may_go_on[last]:
        last += 1
    return [
        (start, end)
        for start in range(first, index + 1)
        for end in range(index + 1, min(last, start + longest) + 1)
    ]


def _ends_name(pieces: Pieces, index: int) -> bool:
    """Tell whether a piece is behind a disease, not a person: "Parkinsons stage 2"."""
    following = "" if pieces.element_ends(index) else pieces.lower[index]
    return not following or any(following in words for words in (LEVELS, BEHIND, QUALIFIERS))


def _may_be_slip(pieces: Pieces, index: int, word: str, name: str) -> bool:
    """Tell whether a single word may be a misspelt name, and no person's name or inflection."""
    text = pieces.texts[index]
    # A short word with a capital within a sentence may be a person's name.
    is_capital = text[0].isupper() and pieces.borders[index] < Border.COMMA
    is_person = is_capital and len(text) < _LONG
    return not (len(name) <= LEAST or is_person or is_inflected(word, name))
