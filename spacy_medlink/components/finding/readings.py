"""Readings: what the words of a text may be besides what is written, to be looked up by a key.

"Pre-auricular pit" may be a "preauricular pit", "tachycardic" tachycardia, and "hypothyroidsm"
hypothyroidism. The dictionary decides which of them is a name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...retrieval.known_words import Word
from ...retrieval.vocabulary import LEAST, Vocabulary, is_inflected
from ...text.pieces import Border, Pieces, key_of, piece_key
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS
from ...text.said_otherwise import phrases_of
from ...text.written_forms import ways_in_full, words_within

_LONG = 8  # letters of a word that is rather a name of a disease than of a person
_NOUN = re.compile("(?:[st]ion|ment|ness|ing|[ae]nce)s$")  # no person: "retractions"


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
    position: int | None = None


def readings(
    pieces: Pieces,
    words: Sequence[Word],
    vocabulary: Vocabulary,
    longest: int,
    common: Collection[str],
    lang: str,
) -> list[Reading]:
    """List the readings of a text, the surest first: single words, joined, inflected, misspelt.

    words (Sequence[Word]): of the pieces. vocabulary (Vocabulary): of the names.
    longest (int): pieces of a reading.
    common (Collection[str]): keys of words that are neither inflected nor misspelt names.
    """
    says = pieces.says
    single = [
        Reading(index, index + 1, word.key, position=word.position)
        for index, word in enumerate(words)
        if word.position >= 0 and says[index]
    ]
    otherwise = [
        (index, word)
        for index, word in enumerate(words)
        if (word.forms or word.near) and says[index] and word.key not in common
    ]
    joined = _joined(pieces, vocabulary, longest) if pieces.hyphens else ()
    in_full = _in_full(pieces, words, longest, lang)
    inverted = _inverted(pieces, longest) if Border.COMMA in pieces.borders else ()
    misspelt = _misspelt(pieces, words, longest, otherwise)
    said = _said(pieces, words, lang)
    return [*single, *said, *joined, *_inflected(pieces, otherwise), *in_full, *inverted, *misspelt]


def _said(pieces: Pieces, words: Sequence[Word], lang: str) -> list[Reading]:
    """Find "short of breath": phrases of the list that say names otherwise."""
    starts, said = [index for index, word in enumerate(words) if word.begins], list[Reading]()
    for start, end, names in phrases_of(lang).within(pieces.keys, starts) if starts else ():
        if pieces.widest(start, end) < Border.COMMA:
            for name, its_key in names:
                said.append(Reading(start, end, its_key, name, is_form=True, is_said=True))
    return said


def _inflected(pieces: Pieces, words: Iterable[tuple[int, Word]]) -> Iterator[Reading]:
    """Find "tachycardic": words whose ending stands for a name."""
    for index, word in words:
        text, written = pieces.texts[index], _written(pieces, index)
        for name, its_key, position in word.forms:
            is_plain = " " not in name or written[-1] != "s"
            # "Crohns" is a disease, "calves" are none.
            is_person = not _NOUN.search(written) and (text[0].isupper() or len(text) > _LONG - 2)
            if is_plain or (is_person and _ends_name(pieces, index + 1)):
                yield Reading(index, index + 1, its_key, name, is_form=True, position=position)


def _written(pieces: Pieces, index: int) -> str:
    lower = pieces.lower[index]
    return lower if lower.isalpha() else pieces.keys[index]


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


def _in_full(pieces: Pieces, words: Sequence[Word], longest: int, lang: str) -> Iterator[Reading]:
    """Find "LV hypertrophy" and "1st degree AV block": words written short within a name."""
    every, spans = [True] * len(pieces), dict[tuple[int, int], None]()
    for index, word in enumerate(words):
        if word.is_short:
            spans |= dict.fromkeys(_runs_around(pieces, index, longest, Border.SIGN, every))
    for start, end in spans:
        for text in ways_in_full(pieces.texts[start:end], words_within(lang)):
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
    pieces: Pieces, words: Sequence[Word], longest: int, otherwise: Iterable[tuple[int, Word]]
) -> Iterator[Reading]:
    """Find "hypothyroidsm": names in which one letter of a word differs."""
    knows = [word.is_known for word in words]
    for index, unknown in otherwise:
        for key, word in {piece_key(word): word for word in unknown.near}.items():
            for start, end in _runs_around(pieces, index, longest, Border.SIGN, knows):
                written = _written(pieces, index)
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
