"""Said otherwise: what patients and notes say for names of a terminology.

"Short of breath" is dyspnea, "blood in my urine" is hematuria. The lists of the languages have a
row for each meaning: names, then what is said for them. The terminology is the judge: its own names
come first, and a phrase stands for the first name of its row that the terminology has.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

from .normalisation import key
from .word_lists import lines_of

_CHOICE = re.compile(r"[(<]([^()<>]*)[)>]")
_PART = re.compile(r"\[(\w+)\]")  # stands for the same word in the names and in what is said
_Names = tuple[tuple[str, str], ...]  # with their keys


class Phrases(NamedTuple):
    """What is said in a language: names of phrases, and how long phrases are.

    names (Mapping[str, Tuple[Tuple[str, str], ...]]): names and their keys, best first, by the key
        of a phrase. firsts (Collection[str]): the first words of phrases. longest (Mapping[str,
        int]): words of the longest phrase, by its first two words.
    """

    names: Mapping[str, _Names]
    firsts: Collection[str]
    longest: Mapping[str, int]

    def within(
        self, keys: Sequence[str], starts: Iterable[int]
    ) -> Iterator[tuple[int, int, _Names]]:
        """Find the phrases in the keys of a text: start, end, names.

        starts (Iterable[int]): places of words that begin phrases.
        """
        for start in starts:
            longest = self.longest.get(" ".join(keys[start : start + 2]), 1)
            for end in range(start + 1, min(start + longest, len(keys)) + 1):
                if names := self.names.get(" ".join(keys[start:end])):
                    yield start, end, names


@lru_cache
def phrases_of(lang: str) -> Phrases:
    """Read the phrases of a language; none for most languages."""
    groups, rows = dict[str, list[str]](), list[tuple[str, str]]()
    for line in lines_of("said", lang):
        head, _, rest = line.partition(": ")
        if head.startswith("="):
            groups[head[1:].strip()] = [word.replace("_", " ") for word in rest.split()]
        else:
            rows.append((head, rest))
    names, longest = dict[str, _Names](), dict[str, int]()
    for head, rest in chain.from_iterable(_for_parts(row, groups) for row in rows):
        same, near = (part.split("; ") for part in [*head.split(" | "), ""][:2])
        meant = tuple((name, key(name)) for name in (*same, *near) if name)
        written = [*same, *rest.split(", ")]
        ways = chain.from_iterable(_ways(phrase, groups) for phrase in written)
        for phrase in dict.fromkeys(filter(None, map(key, ways))):
            known = dict.fromkeys((*names.get(phrase, ()), *meant))
            # English may write a name in the same way: "hepatitis".
            names[phrase] = tuple(pair for pair in known if pair[1] != phrase or pair[0] in near)
            words = phrase.split(" ")
            beginning = " ".join(words[:2])
            longest[beginning] = max(len(words), longest.get(beginning, 0))
    return Phrases(names, {phrase.partition(" ")[0] for phrase in longest}, longest)


def _for_parts(
    row: tuple[str, str], groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Write a row for each word of a group that its names have: "[joint] pain"."""
    part = _PART.search(row[0])
    for word in groups[part[1]] if part else ("",):
        head, rest = (_PART.sub(word, text) for text in row)
        yield head, rest


def _ways(phrase: str, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Write all ways of a phrase: "(lost|losing) <my> hair"."""
    texts = _CHOICE.split(phrase)
    choices = [groups.get(text) or text.split("|") if at % 2 else [text]
               for at, text in enumerate(texts)]  # fmt: skip
    for way in product(*choices):
        yield "".join(way)
