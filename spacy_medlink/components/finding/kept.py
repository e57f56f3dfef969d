"""Kept: the names of a dictionary that a finder keeps."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...retrieval.mask import Mask
from ...text.qualifiers import MERE
from .languages import common_words, words_alone
from .settings import AMBIGUOUS, COMMON, FOREIGN, GENERAL

if TYPE_CHECKING:
    from .name_facts import NameFacts

_VAGUE = MERE | frozenset("condition disease diseases disorder grade high low young".split())
_MOST_CONCEPTS = 6  # of a single word; the fewest that lose no gold mention of two corpora


class Kept(NamedTuple):
    """The names of a dictionary that a finder keeps.

    mask (Optional[Mask]): the names that may be found; None for all.
    common (FrozenSet[str]): keys of words that are common in general language; of these only short
        upper-case forms are found.
    facts (Optional[NameFacts]): of the names, needed for `general` and `most`.
    general (bool): whether to leave out single words without a concept of clinical interest.
    most (Optional[int]): concepts that a single word may be a name of; None for any number.
    words (FrozenSet[str]): keys of words of general language, which are no misspelt names.
    foreign (Optional[Mask]): the names that may be found, those of other languages among them.
    """

    mask: Mask | None = None
    common: frozenset[str] = frozenset()
    facts: "NameFacts | None" = None
    general: bool = False
    most: int | None = None
    words: frozenset[str] = frozenset()
    foreign: Mask | None = None

    def says_nothing(self, words: Sequence[str]) -> bool:
        """Tell whether words of a text only qualify: "acute disease"."""
        return bool(self.common) and len(words) > 1 and _VAGUE.issuperset(words)

    def rows(self, rows: Sequence[int], word: bool = False, latin: bool = False) -> tuple[int, ...]:
        """Keep the rows of the names that are found.

        word, latin (bool): whether their text is one word, or Latin, as in any language.
        """
        mask = self.foreign if latin else self.mask
        kept = tuple(rows) if mask is None else tuple(row for row in rows if row in mask)
        if not (word and kept and self.facts is not None):
            return kept
        if self.general and self.facts.are_general(kept):
            return ()
        if self.most is not None and len(kept) > self.most:
            return kept if self.facts.count_concepts(kept) <= self.most else ()
        return kept


def make_kept(
    facts: "NameFacts",
    leave_out: Collection[str],
    lang: str,
    followed: Mask | None = None,
) -> Kept:
    """Make the Kept of a finder.

    leave_out (Collection[str]): of `LEAVE_OUT`, those that the settings do not decide themselves.
    lang (str): of the pipeline. followed (Optional[Mask]): names that the linker's filters pass.
    """
    every = [mask for mask in (facts.allowed, followed) if mask is not None]
    given = [*every, facts.native] if FOREIGN in leave_out and facts.native is not None else every
    words = common_words(lang)
    common = words_alone(lang) if COMMON in leave_out else frozenset()
    mask, foreign = (Mask.all_of(own) if own else None for own in (given, every))
    most = _MOST_CONCEPTS if AMBIGUOUS in leave_out else None
    return Kept(mask, common, facts, GENERAL in leave_out, most, words, foreign)
