"""Proposals: runs of words that no dictionary has, but that the linker finds close to a name.

As in PhenoTagger (Luo et al. 2021), whose classifier judges every n-gram of a text. Here the
linker's own ranking judges. It is asked only about runs whose words are all words of names, and
that end as names do. This leaves out most runs, and most wrong ones ("showed myopia", "abnormal
clavicular").
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...assets.dictionary import is_link, name_words
from ...text.normalisation import key, upright
from ...types import Candidate, Mention
from .choosing import by_word
from .words import Match, Tokens

if TYPE_CHECKING:
    from ...linking import Linker

_QUOTES = re.compile(r"[\"“”«»()\[\]]")  # inside a token, where the tokenizer has joined two words
_TOGETHER = 16_384  # runs that are ranked together
_Proposal = tuple[float, int, Match]


class Proposer:
    """The maker of proposals: runs of words as mentions.

    engine (Linker): of the linker; with a dense tier. texts (Sequence[str]): of all names of
        its knowledge base, in the order of rows. allowed (NDArray): rows of the names that may be
        found. threshold (float): dense score (cosine) of the best candidate, at least.
    longest (int): tokens of a proposal, at most. label (str): entity label of mentions.
    """

    def __init__(
        self,
        engine: "Linker",
        texts: Sequence[str],
        allowed: NDArray[np.uint32],
        threshold: float,
        longest: int,
        label: str,
    ) -> None:
        self._engine, self._texts, self._threshold = engine, texts, threshold
        self._longest, self._label = longest, label
        self._allowed = np.zeros(len(engine.name_concept), dtype=np.bool_)
        self._allowed[allowed] = True
        self._heads = Heads(text for text, one in zip(texts, self._allowed, strict=True) if one)

    def propose(
        self, docs: Sequence[Tokens], found: Sequence[Sequence[Match]]
    ) -> list[list[Match]]:
        """Propose mentions beside those found; the runs of all Docs are encoded together.

        RETURNS (List[List[Match]]): the new matches of each Doc.
        """
        asked = [list(self._runs(doc, own)) for doc, own in zip(docs, found, strict=True)]
        texts = list(
            dict.fromkeys(
                tokens.between(start, end)
                for tokens, own in zip(docs, asked, strict=True)
                for start, end in own
            )
        )
        best: dict[str, Candidate] = {}
        for start in range(0, len(texts), _TOGETHER):
            part = texts[start : start + _TOGETHER]
            ranked = self._engine.rank([Mention(text, label=self._label) for text in part], 1)
            best.update((text, own[0]) for text, own in zip(part, ranked, strict=True) if own)
        return [
            self._chosen(own, self._near(doc, places, best))
            for doc, own, places in zip(docs, found, asked, strict=True)
        ]

    def _runs(self, tokens: Tokens, found: Sequence[Match]) -> Iterator[tuple[int, int]]:
        """List the runs to ask the linker about."""
        fits = [
            is_link(lower) or (not is_stop and self._is_known(text))
            for lower, is_stop, text in zip(tokens.lower, tokens.is_stop, tokens.texts, strict=True)
        ]
        near = by_word(found)
        for start, end in tokens.clause_runs(self._longest):
            if not all(fits[start:end]) or not self._heads.ends(tokens.between(start, end)):
                continue
            if _may_stand(tokens.saying(range(start, end)), near):
                yield start, end

    def _is_known(self, text: str) -> bool:
        if _QUOTES.search(text):
            return False
        return all(word in self._heads.words for word in name_words(text))

    def _near(
        self, tokens: Tokens, places: Iterable[tuple[int, int]], best: dict[str, Candidate]
    ) -> Iterator[_Proposal]:
        for start, end in places:
            text = tokens.between(start, end)
            candidate = best.get(text)
            if candidate is None or not self._allowed[candidate.name_row]:
                continue
            score = candidate.scores.get("dense", 0.0)
            if score >= self._threshold and not self._is_part(text, candidate.name_row):
                words = tokens.saying(range(start, end))
                match = Match(start, end, words, (candidate.name_row,), is_name=False)
                yield score, candidate.row, match

    def _is_part(self, text: str, row: int) -> bool:
        """Tell whether a name says more: vectors confuse "Schwann cell" and "... tumour"."""
        return set(name_words(text)) < set(name_words(self._texts[row]))

    def _chosen(self, found: Sequence[Match], proposals: Iterable[_Proposal]) -> list[Match]:
        """Choose proposals that neither cross nor repeat a match, the nearest first."""
        near = by_word(found)
        chosen: list[Match] = []
        taken: set[int] = set()
        for _, concept, match in sorted(proposals, key=lambda one: (-one[0], one[2].start)):
            if not taken.isdisjoint(match.words):
                continue
            beside = [other for word in match.words for other in near[word]]
            if any(concept in self._engine.name_concept[list(one.rows)] for one in beside):
                continue
            taken |= match.words
            chosen.append(match)
        return chosen


def _may_stand(words: frozenset[int], near: dict[int, list[Match]]) -> bool:
    """Tell whether a run says more than each match that it overlaps, and crosses none.

    Readings of coordinations may be crossed.
    """
    beside = [other for word in words for other in near[word]]
    return all(
        not words <= other.words and (other.words <= words or bool(other.reading))
        for other in beside
    )


# "Abnormal clavicular" is near to a name, but only the beginning of "abnormal clavicular shape".
# Hardly any name with "clavicular" ends with it.
_SHARE = 1 / 3  # of the names that have the word
# Words after one of these describe the words before it; "of" and the like are links.
_FURTHER = frozenset(
    "with without due to in from by for con sin por en avec sans dans par pour di da mit ohne bei "
    "von durch van".split()
)


class Heads:
    """The words that names end with: at least a third of all names that have the word.

    The share is Laplace's, (ends + 1) / (names + 2), since few names say little. Words after a
    preposition do not count: "anomaly" ends "anomaly of the ribs". The order of an index does not
    count: "failure" ends "Failure, Renal, Acute". Nor does a tag: "Myopia (disorder)".

    texts (Iterable[str]): names. words (FrozenSet[str]): all words of the names.
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
        """Tell whether names end with the last word of a text."""
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
    """Make the keys of a word, however it is written; none for a link such as "of"."""
    return () if is_link(word.lower()) else tuple(key(word).split())
