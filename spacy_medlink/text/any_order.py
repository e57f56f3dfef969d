"""Words of names in any order: their key, and a hash that a run of words has in whatever order.

A name has, besides its own key, the key of its words, sorted, where one form stands for all forms
of a word (`text.word_forms`). It is looked up by the sum of the hashes of its words, since the sums
of all runs of a text are differences of one cumulative sum. What has the key of a name has the sum
of the name, too, so that runs without the sum of a name need no key.
"""

import re
from collections.abc import Iterable, Sequence

from .normalisation import UNSPACED, is_short_form, key, without_tag
from .pieces import piece_key
from .word_forms import NO_FORMS, Forms

_FEWEST, _MOST = 2, 8  # words of a key
_SIGN = "\x00"  # begins such a key; no key of a name contains it
# Words that may be missing, in lower case only: "DE" and "OF" may be abbreviations.
_LINKS = frozenset("of the de del du des".split())
_IS_UNSPACED = re.compile(f"[{UNSPACED}]").search  # its characters are no words: "血圧"
LINK_KEYS = frozenset(map(key, _LINKS))


def any_order_key(words: Iterable[str], forms: Forms = NO_FORMS) -> str:
    """Make the key of words in any order; "" for fewer than two words with a meaning.

    words (Iterable[str]): as they are written; their inflections are removed.
    """
    return any_order_key_of([forms.get(word, word) for word in name_words(" ".join(words))])


def any_order_key_of(parts: Sequence[str]) -> str:
    """Make the key of words in any order from the forms of their keys (`name_words`)."""
    if not _FEWEST <= len(parts) <= _MOST or any(map(_IS_UNSPACED, parts)):
        return ""
    return _SIGN + " ".join(sorted(parts))


def name_has_key(name: str, wanted: str, forms: Forms = NO_FORMS) -> bool:
    """Tell whether a name is found under a key; no short form is in another order."""
    if wanted.startswith(_SIGN):
        return not is_short_form(name) and wanted == any_order_key(name.split(), forms)
    return wanted == piece_key(name)


def name_words(text: str) -> list[str]:
    """List the keys of a text's words, without linking words."""
    words = without_tag(text).split()
    return [part for word in words if not is_link(word) for part in key(word).split()]


def is_link(word: str) -> bool:
    """Tell whether a word only links other words: "of", "the"."""
    return word in _LINKS
