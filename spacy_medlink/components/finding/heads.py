"""Heads: the words that names of a terminology end with, so that no run of words ends too soon.

"Abnormal clavicular" is near to a name, and the beginning of "abnormal clavicular shape". Of names
with "clavicular" hardly any ends with it.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from ...assets.dictionary import is_link
from ...text.normalisation import key, upright

_SHARE = 1 / 3  # of the names that have the word
# What follows one of these says more of what is before; "of" and its like are links.
_FURTHER = frozenset(
    "with without due to in from by for con sin por en avec sans dans par pour di da mit ohne bei "
    "von durch van".split()
)


class Heads:
    """Knows the words that a third of the names they are in end with, or more.

    The share is Laplace's, (ends + 1) / (names + 2): of few names it is not known. What follows a
    preposition does not count: "anomaly" ends "anomaly of the ribs". Nor does the order of an
    index: "failure" ends "Failure, Renal, Acute". Nor a tag: "Myopia (disorder)".

    texts (Iterable[str]): names. words (FrozenSet[str]): all words of these.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        names: Counter[str] = Counter()
        ends: Counter[str] = Counter()
        for text in texts:
            name = upright(text.rpartition(" (")[0] or text) if text[-1:] == ")" else upright(text)
            names.update({part for word in text.split() for part in _keys(word)})
            ends.update([_head(name)])
        self.words = frozenset(names)
        self._heads = frozenset(
            word for word, count in names.items() if ends[word] + 1 >= _SHARE * (count + 2)
        )

    def ends(self, text: str) -> bool:
        """Tell whether names end as a text does."""
        return _head(text) in self._heads


def _head(text: str) -> str:
    head = ""
    for word in text.split():
        if head and (is_link(word.lower()) or word.lower() in _FURTHER):
            break
        head = next(reversed(_keys(word)), head)
    return head


@lru_cache(maxsize=65536)
def _keys(word: str) -> tuple[str, ...]:
    """Make the keys of a word, none of a link, however it is written."""
    return () if is_link(word.lower()) else tuple(key(word).split())
