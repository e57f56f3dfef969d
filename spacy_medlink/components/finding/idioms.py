"""Idioms: "fever pitch" is no fever, and "a stroke of luck" no stroke."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ...text.pieces import Pieces
from .languages import lines_of
from .match import Match

_BEFORE = 24  # characters that a phrase before a word may have


def without_idioms(pieces: Pieces, matches: Sequence[Match], lang: str) -> list[Match]:
    """Leave out the words that name nothing in an idiom; longer matches say what they mean."""
    idioms = _idioms(lang)
    return [
        match
        for match in matches
        if match.start + 1 < match.end
        or (own := idioms.get(pieces.lower[match.start])) is None
        or not _is_idiom(pieces, match.start, *own)
    ]


def _is_idiom(pieces: Pieces, place: int, before: re.Pattern[str], behind: re.Pattern[str]) -> bool:
    start, end = pieces.starts[place], pieces.ends[place]
    if behind.match(pieces.text, end):
        return True
    return before.search(pieces.text[max(0, start - _BEFORE) : start]) is not None


@lru_cache
def _idioms(lang: str) -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Read the idioms of a language: what stands before and behind each of their words."""
    idioms = {}
    for line in lines_of("idioms", lang):
        words, before, behind = [*line.split("\t"), ""][:3]
        patterns = _pattern("(?<!\\w)(?:{})[ -]\\Z", before), _pattern("[ -](?:{})(?!\\w)", behind)
        idioms.update(dict.fromkeys(words.split(), patterns))
    return idioms


def _pattern(form: str, phrases: str) -> re.Pattern[str]:
    written = (re.escape(one.strip()) for one in phrases.split(",") if one.strip())
    listed = "|".join(one.replace("\\*", "\\w*").replace("\\#", "\\d+") for one in written)
    return re.compile(form.format(listed or "(?!)"), re.IGNORECASE)
