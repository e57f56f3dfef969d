"""Heads: the words that names of a terminology end with, so that no run of words ends too soon.

"Abnormal clavicular" is near to a name, and the beginning of "abnormal clavicular shape". Of names
with "clavicular" hardly any ends with it.
"""

from collections import Counter
from collections.abc import Iterable

from ..dictionary import is_link, name_words
from ..text import upright

_SHARE = 1 / 3  # of the names that have the word


class Heads:
    """Knows the words that a third of the names they are in end with, or more.

    The share is Laplace's, (ends + 1) / (names + 2): of few names it is not known. What follows a
    link does not count: "anomaly" ends "anomaly of the ribs". Nor does the order of an index:
    "failure" ends "Failure, Renal, Acute".

    texts (Iterable[str]): names.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        names: Counter[str] = Counter()
        ends: Counter[str] = Counter()
        for text in texts:
            names.update(set(name_words(text)))
            ends.update([_head(upright(text))])
        self._words = frozenset(
            word for word, count in names.items() if ends[word] + 1 >= _SHARE * (count + 2)
        )

    def ends(self, text: str) -> bool:
        """Tell whether names end as a text does."""
        return _head(text) in self._words


def _head(text: str) -> str:
    words = text.split()
    link = next((place for place, word in enumerate(words) if place and is_link(word)), len(words))
    return next(reversed(name_words(" ".join(words[:link]))), "")
