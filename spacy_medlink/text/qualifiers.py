"""Qualifiers: words that say how, since when or where a problem is, and do not change what it is.

"Severe COPD", "L hemiparesis" and "anemia grade II" are COPD, hemiparesis and anemia.
"""

import re
from functools import lru_cache
from pathlib import Path

from .tables import read_table, table_lines


def _read() -> dict[str, frozenset[str]]:
    """Read the words of each kind, of all languages, from the table beside this file."""
    words: dict[str, set[str]] = {}
    for _, line in table_lines(read_table(Path(__file__).with_suffix(".tsv"))):
        group, _, listed = line.split("\t")
        words.setdefault(group, set()).update(listed.split())
    return {group: frozenset(listed) for group, listed in words.items()}


_KINDS = _read()
QUALIFIERS, BEHIND = _KINDS["mere"] | _KINDS["changing"] | _KINDS["note"], _KINDS["behind"]
MERE = _KINDS["mere"]
SITES, VAGUE = _KINDS["part"] | _KINDS["organ"], _KINDS["vague"]
_WORDS, LEVELS = _KINDS["mere"] | _KINDS["note"], _KINDS["level"]
_NO_HEADS = _KINDS["part"] | _KINDS["vague"]
_LEVEL = re.compile(r"[ivx]{1,4}[abc]?|\d{1,2}[abc]?")
_COMPOUND = re.compile(
    r"[\w-]+-(?:confirmed|controlled|dependent|onset|op|proven|refractory|resistant|sided|stage|"
    r"standing|term)|\d\+|\++"
)
# What stands behind a problem and says where, when or why.
_BEHIND_IT = re.compile(
    r"[\s,(]+(?:(?:with complications?|without|due to|secondary to|since|after|during|following|"
    r"s/p|(?:x|for) \d+|at (?:night|rest)|in (?:remission|pregnancy|childhood|adults|children)|"
    r"of (?:unclear|unknown|uncertain) (?:cause|etiology|origin))(?!\w).*|"
    r"(?:of|in|on)(?: (?:the|her|his|both|left|right|upper|lower))* "
    rf"(?:{'|'.join(sorted(_KINDS['part']))}|left|right)\W*)$",
    re.IGNORECASE,
)
_MOST_WORDS = 12
_EDGES = " ,;:()[]-\u2013"


@lru_cache(256)
def heads(mention: str) -> tuple[str, ...]:
    """List what is left of a mention without the qualifiers around it, the longest first.

    EXAMPLE:
        >>> heads("severe acute asthma of both lower legs")
        ('severe acute asthma', 'acute asthma', 'asthma')
    """
    if len(mention.split()) > _MOST_WORDS:
        return ()
    texts = [_BEHIND_IT.sub("", mention, count=1), mention]
    rests = {rest for text in texts for rest in _without_words(text.split())} - {mention}
    return tuple(sorted(filter(_is_head, rests), key=lambda rest: (-len(rest), rest)))


def _without_words(words: list[str]) -> set[str]:
    starts, ends = [0], [len(words)]
    bare = [word.strip(_EDGES).lower() for word in words]
    while step := _qualifies(bare[starts[-1] :][:2]):
        starts.append(starts[-1] + step)
    while step := _qualifies(bare[: ends[-1]][:-3:-1], behind=True):
        ends.append(ends[-1] - step)
    return {" ".join(words[start:end]).strip(_EDGES) for start in starts for end in ends}


def _qualifies(words: list[str], behind: bool = False) -> int:
    """Count the words of a qualifier at one end of a mention; 0 if there is none."""
    if not words:
        return 0
    first, second = (*words, "")[:2]
    which, level = (first, second) if behind else (second, first)
    if level in LEVELS and _LEVEL.fullmatch(which):
        return 2
    is_word = not first or first in _WORDS or (behind and first in BEHIND)
    return int(is_word or _COMPOUND.fullmatch(first) is not None)


def _is_head(rest: str) -> bool:
    """Tell whether a rest may be a problem: no qualifier, and not just an arm, or a disease."""
    words = rest.lower().split()
    says = any(word not in _WORDS and word not in BEHIND for word in words)
    return says and len(rest) > 1 and (len(words) > 1 or words[0] not in _NO_HEADS)
