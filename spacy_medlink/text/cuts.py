"""Cuts: where the tokens of a tokenizer are cut further, since a mention may begin or end there."""

import re
from functools import lru_cache

from .normalisation import APOSTROPHES
from .pieces import BRACKETS, Border, Pieces

_DOMAINS = "com|org|net|edu|gov|info|int|eu|io|uk|de|fr|es|it|ch|at|nl|be|pt|se|ca|au|us|jp|cn|br"
_ADDRESS = re.compile(rf"://|^www\.|@|^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_DOMAINS})(?:[/:?#]|$)")
_JOINING = frozenset("+&")
_KEPT_AT_ENDS = frozenset([*APOSTROPHES, "."])  # "'ll", "approx."
_WORD = 3  # letters of a word beside brackets and low lines; shorter ones are parts of formulas
_LONG = 5  # letters before a number: "aspirin-81", but "IL-2"
_BESIDE_LETTER = 4  # letters of a word beside a single one: "fever:N", but "35A>G"


@lru_cache(maxsize=65_536)
def cuts(token: str) -> tuple[int, ...]:
    """Find the characters of a token at which it is cut: between pieces, and beside its signs.

    Numbers, doses, dates, addresses and names with signs (1,000; IL-2; t(9;22); E.coli) have none.
    """
    if _ADDRESS.search(token):
        return ()
    pieces, places = Pieces(token), set[int]()
    for index in range(1, len(pieces)):
        if _parts(pieces, index):
            places |= {pieces.ends[index - 1], pieces.starts[index]}
    for row, gap, side in ((0, 0, pieces.starts), (-1, -1, pieces.ends)) if len(pieces) else ():
        text = pieces.texts[row]  # "-SOB", but not "'ll"
        if len(text) > 1 and text[0].isalpha() and _KEPT_AT_ENDS.isdisjoint(pieces.gaps[gap]):
            places.add(side[row])
    return tuple(sorted(places - {0, len(token)}))


def _parts(pieces: Pieces, index: int) -> bool:
    """Tell whether a token is cut before a piece."""
    left, right, gap = pieces.texts[index - 1], pieces.texts[index], pieces.gaps[index]
    if not gap:
        return _parts_tightly(pieces.texts, index)
    if pieces.borders[index] >= Border.COMMA:  # beside a single letter it may be of a name
        shorter, longer = sorted((left, right), key=len)
        return _is_item(shorter) or (gap != "." and _is_word(longer, _BESIDE_LETTER))
    if not _JOINING.isdisjoint(gap):
        return len(left) > 1 and len(right) > 1
    if not BRACKETS.isdisjoint(gap):
        return _is_word(left, _WORD) or _is_word(right, _WORD)
    if "-" in gap and right[0].isdigit():
        return _is_word(left, _LONG) and not left.isupper()
    return gap == "_" and _is_word(left, _WORD) and _is_word(right, _WORD)


def _parts_tightly(texts: list[str], index: int) -> bool:
    """Tell whether two pieces without a sign between are cut: "metformin|500", "fever|+|cough"."""
    left, right = texts[index - 1], texts[index]
    if left == "+":
        return len(right) > 1 and (index < 2 or _is_item(texts[index - 2]))
    if right == "+" and index + 1 < len(texts):
        return _is_item(left) and len(texts[index + 1]) > 1
    if right == "+":
        return _is_word(left, _WORD) or (len(left) > 1 and left.isupper())
    # "2days", "metformin500units", but not "c.35delG"
    is_after_word = index == 1 or _is_word(texts[index - 2], _LONG)
    return left[-1].isdigit() != right[0].isdigit() and (not left.isdigit() or is_after_word)


def _is_item(piece: str) -> bool:
    return len(piece) > 1 or piece.isdigit()


def _is_word(piece: str, least: int) -> bool:
    return len(piece) >= least and piece.isalpha()
