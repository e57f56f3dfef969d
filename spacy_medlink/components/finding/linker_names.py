"""LinkerNames: which names may be found, and which belong together, by the pipeline's linker."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...assets.languages import common_words, words_alone
from ...retrieval.added import exact_index
from ...retrieval.mask import Mask
from ...text.pieces import Pieces
from .matches import Match
from .name_facts import Kept, NameFacts
from .names import NameFinder
from .settings import AMBIGUOUS, COMMON, FOREIGN, GENERAL

if TYPE_CHECKING:
    from ...assets import Assets
    from ...assets.dictionary import Choice
    from ...assets.overlaid import OverlaidAssets
    from ...retrieval.exact import ExactIndex
    from ...retrieval.filters import Selection
    from ..linker.component import MedicalLinker

_LEVELS = 3  # concepts of a path from the top that say what part of medicine something is of
_MOST_CONCEPTS = 6  # of a single word; the fewest that lose no gold mention of two corpora


class LinkerNames:
    """The names of a dictionary, as the filters, the overlay and the hierarchy of a linker have it.

    They are asked anew for each text, since they may change at any time.

    label (str): entity label of the mentions, "" where labels differ.
    but (Collection[str]): filters that are ignored, since the finder has its own.
    choice (Choice), lang (str): of the finder.
    """

    def __init__(self, label: str, but: Collection[str], choice: "Choice", lang: str) -> None:
        self._label, self._but, self._choice, self._lang = label, but, choice, lang
        self._same: tuple[Assets, ExactIndex, bool] | None = None
        self._kept_for: tuple[object, ...] | None = None  # what `_kept` was made for
        self._kept = Kept()
        self._overlaid: OverlaidNames | None = None
        self._ancestors: SharedAncestors | None = None

    def selection(self, linker: "MedicalLinker | None") -> "Selection":
        """Get the current filters."""
        return () if linker is None else linker.selection(self._label, but=self._but)

    def kept(
        self,
        linker: "MedicalLinker | None",
        exact: "ExactIndex",
        name_facts: NameFacts,
        leave_out: frozenset[str],
    ) -> Kept:
        """Get the names of a dictionary that may be found now; of equal filters the same Kept.

        name_facts (NameFacts): of the names. leave_out (FrozenSet[str]): of `LEAVE_OUT`.
        """
        selection = self.selection(linker)
        asked = exact, selection, linker.assets if linker and selection else None, leave_out
        if self._kept_for != asked:
            followed = self._mask(linker, selection, exact)
            every = [mask for mask in (name_facts.allowed, followed) if mask is not None]
            is_free = FOREIGN in leave_out and "languages" not in self._but
            is_free &= not any(part.languages for part in selection)
            native = [name_facts.native] if is_free and name_facts.native is not None else []
            choice = self._choice
            has_kinds = any((choice.types, choice.within)) or any(
                part.types or part.allow or part.within for part in selection
            )
            self._kept = Kept(
                Mask.all_of([*every, *native]) if every or native else None,
                words_alone(self._lang) if COMMON in leave_out else frozenset(),
                name_facts,
                general=GENERAL in leave_out and not has_kinds,
                most=_MOST_CONCEPTS if AMBIGUOUS in leave_out else None,
                words=common_words(self._lang),
                foreign=Mask.all_of(every) if every else None,
            )
            self._kept_for = asked
        return self._kept

    def _mask(
        self, linker: "MedicalLinker | None", selection: "Selection", exact: "ExactIndex"
    ) -> Mask | None:
        """Make the mask of a selection over the names of a dictionary.

        RETURNS (Optional[Mask]): None for all names: without a filter; where the linker has other
            assets, whose rows differ from the dictionary's; and where no name passes, since the
            linker then says so of every mention.
        """
        if linker is None or not (selection and self._has_same_names(linker, exact)):
            return None
        mask = linker.opened.base.filters.mask(selection)
        return mask if mask is not None and mask.count else None

    def overlaid(
        self, linker: "MedicalLinker | None", exact: "ExactIndex", longest: int
    ) -> "OverlaidNames | None":
        """Get the names of a linker's current overlay; None without one, and for other names.

        longest (int): words of a match, at most.
        """
        assets = None if linker is None else linker.opened.overlaid
        if linker is None or assets is None or not self._has_same_names(linker, exact):
            return None
        if self._overlaid is None or self._overlaid.assets is not assets:
            self._overlaid = OverlaidNames(assets, longest)
        return self._overlaid

    def ancestors(
        self, linker: "MedicalLinker | None", exact: "ExactIndex"
    ) -> "SharedAncestors | None":
        """Get the hierarchy of a linker with the names of a dictionary; None for another one."""
        if linker is None or not self._has_same_names(linker, exact):
            return None
        if self._ancestors is None or self._ancestors.assets is not linker.assets:
            self._ancestors = SharedAncestors(linker.assets)
        return self._ancestors

    def _has_same_names(self, linker: "MedicalLinker", exact: "ExactIndex") -> bool:
        """Tell whether the rows of the linker's names are those of a dictionary."""
        assets = linker.opened.base
        if self._same is None or self._same[0] is not assets or self._same[1] is not exact:
            same = exact.is_of(assets.kb.text_at, assets.kb.n_names)
            self._same = (assets, exact, same)
        return self._same[2]


class SharedAncestors:
    """The hierarchy of assets, which says which concepts are of one part of medicine."""

    def __init__(self, assets: "Assets") -> None:
        self.assets = assets
        self._concept, self._hierarchy = assets.filters.name_concept, assets.filters.hierarchy
        self._above: dict[int, frozenset[int]] = {}

    def are_shared(self, rows: Sequence[int], others: Sequence[int]) -> bool:
        """Tell whether a concept of some names is a kind of one of others, or both of a third.

        The top two levels of a hierarchy are no such third, since all concepts share them. A
        name of the very concept says nothing more.

        rows, others (Sequence[int]): of the names.
        """
        wanted, longer = ({int(self._concept[row]) for row in names} for names in (others, rows))
        if wanted <= longer:
            return False
        above = set[int]().union(*map(self._of, longer))
        both = above.intersection(set[int]().union(*map(self._of, wanted)))
        return not wanted.isdisjoint(above) or any(len(self._of(at)) >= _LEVELS for at in both)

    def _of(self, concept: int) -> frozenset[int]:
        """List a concept and those above it."""
        if concept not in self._above:
            above = np.flatnonzero(self._hierarchy.above(np.array([concept])))
            self._above[concept] = frozenset(above.tolist()) | {concept}
        return self._above[concept]


class OverlaidNames:
    """The names that an overlay adds to a dictionary, and those that it removes.

    assets (OverlaidAssets): of a linker whose names have the same rows as the dictionary's.
    longest (int): words of a match, at most.
    """

    def __init__(self, assets: "OverlaidAssets", longest: int) -> None:
        self.assets = assets
        self._concepts = [concept for concept, _ in assets.overlay.added]
        names = [name.text for _, name in assets.overlay.added]
        self._finder = NameFinder(exact_index(names), longest)
        self._left: tuple[Kept, Kept] | None = None  # last argument of `left_of`, its result

    def left_of(self, kept: Kept) -> Kept:
        """Leave out the names that the overlay removes; equal calls return the same object."""
        dropped = list(self.assets.overlay.dropped)
        if not dropped:
            return kept
        if self._left is None or self._left[0] is not kept:
            left = np.ones(self.assets.kb.n_names, dtype=np.bool_)
            left[dropped] = False
            masks = [
                Mask.of(left) if mask is None else Mask.all_of([Mask.of(left), mask])
                for mask in (kept.mask, kept.foreign)
            ]
            self._left = kept, kept._replace(mask=masks[0], foreign=masks[1])
        return self._left[1]

    def added_to(self, pieces: Pieces, matches: Sequence[Match], kept: Kept) -> list[Match]:
        """Add the overlay's names to the matches of a text.

        kept (Kept): the names of the dictionary that are found, removed or not.
        """
        spans, added = {(match.start, match.end) for match in matches}, list[Match]()
        for match in self._finder.find(pieces):
            if (match.start, match.end) in spans:
                continue
            concepts = [self.assets.kb.name_rows(self._concepts[row]) for row in match.rows]
            allowed = (
                [x for x in rows if kept.mask is None or x in kept.mask] for rows in concepts
            )
            if firsts := tuple(rows[0] for rows in allowed if rows):  # one for each name
                added.append(match._replace(rows=firsts))
        return [*matches, *added]
