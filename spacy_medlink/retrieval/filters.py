"""Filters of a search: by type, source, language, id and hierarchy of names and concepts.

They act inside every tier, so that excluded names take no place among the answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kb import KnowledgeBase
from ..kb.hierarchy import Hierarchy, concepts_of
from ..kb.vocabularies import GROUPS, type_named, types_of
from ..util.locks import Lru
from .facets import Facets
from .mask import Mask

_NEAR = 3
_SHOWN = 8
_UMLS_TYPES = frozenset(types_of(GROUPS))
_MASKS = 64  # masks kept; each takes a bit a name: 2 MB for 15 million names


@dataclass(frozen=True)
class Filter:
    """The condition for answers. A missing field allows everything; all given fields must hold.

    types (Tuple[str, ...]): types of concepts, such as "T047", or semantic groups, such as "DISO",
        also by their names in the UMLS; one match is enough.
    sources, languages (Tuple[str, ...]): of names.
    allow, deny (Tuple[str, ...]): ids of the only allowed concepts; ids of excluded concepts.
    within (str): an expression for a part of the hierarchy (`kb.hierarchy`).
    """

    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    within: str = ""

    @classmethod
    def of(cls, *, within: str | None = None, **given: Iterable[str] | None) -> "Filter":
        """Make a filter of lists in any order; None, [] and "" allow everything."""
        lists = {name: tuple(sorted(set(values or ()))) for name, values in given.items()}
        return cls(**lists, within=within or "")

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def __str__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return "; ".join(
            f"{name}: {values if name == 'within' else _shortened(values)}"
            for name, values in given.items()
            if values
        )


Selection = tuple[Filter, ...]
"""Filters that must all be passed, none of them empty; () lets every name pass."""

Only = Filter | Selection | None
"""What a call may be given: one filter, several that must all be passed, or none."""


def select(*filters: Only) -> Selection:
    """Combine filters; those that allow everything are left out."""
    given: list[Filter] = []
    for condition in filters:
        given.extend(condition if isinstance(condition, tuple) else [condition or Filter()])
    return tuple(dict.fromkeys(condition for condition in given if condition))


class NameFilters:
    """Makes the masks of selections over the names of one knowledge base, and remembers them.

    kb (KnowledgeBase): for ids. facets (Facets): of its names and concepts.
    name_concept (NDArray[int32]): concept row of every name row, (n_names,).
    """

    def __init__(self, kb: KnowledgeBase, facets: Facets, name_concept: NDArray[np.int32]) -> None:
        self._kb, self._facets, self.name_concept = kb, facets, name_concept
        self._sources = sorted(
            {source for many in facets.sources for source in many.split("|") if source}
        )
        self._masks: Lru[Selection, Mask] = Lru(_MASKS)
        self.hierarchy = Hierarchy(kb)

    def mask(self, selection: Selection) -> Mask | None:
        """Make the mask of a selection; None where every name passes.

        RAISES (MedlinkError): E213 for an unknown group, E213 for an unknown type, source or
            language, with the nearest known ones; E224 for a wrong expression, E106 for an unknown
            id in an expression.
        """
        if not selection:
            return None
        mask = self._masks.get(selection)
        if mask is None:
            masks = [self._mask_of(condition) for condition in selection]
            mask = masks[0] if len(masks) == 1 else Mask.all_of(masks)
            self._masks.put(selection, mask)
        return mask

    def types_named(self, types: Sequence[str]) -> frozenset[str]:
        """Replace semantic groups by their types.

        RAISES (MedlinkError): E213 for a text that is no group, and no type of the knowledge base
            or the UMLS.
        """
        types_of_names: set[str] = set()
        for name in types:
            if name in self._facets.types:
                types_of_names.add(name)
                continue
            name = type_named(name)
            if name.upper() in GROUPS:
                types_of_names |= types_of([name])
            elif name in _UMLS_TYPES:
                types_of_names.add(name)  # a known type that no concept here has: nothing passes
            else:
                choices = [*self._facets.types, *GROUPS]
                raise _unknown("type or semantic group", name, choices)
        return frozenset(types_of_names)

    def check_sources(self, sources: Iterable[str]) -> None:
        """Refuse a source that the knowledge base does not have.

        RAISES (MedlinkError): E213.
        """
        _check("source", sources, self._sources)

    def _mask_of(self, condition: Filter) -> Mask:
        facets = self._facets
        concepts = np.ones(len(self._kb), dtype=np.bool_)
        if condition.types:
            concepts &= facets.concepts_of_types(self.types_named(condition.types))
        if condition.allow:
            concepts &= self._concepts(condition.allow)
        if condition.deny:
            concepts &= ~self._concepts(condition.deny)
        if condition.within:
            concepts &= concepts_of(condition.within, self._kb, self.hierarchy)
        names = concepts[self.name_concept]
        if condition.languages:
            _check("language", condition.languages, facets.langs)
            names &= np.isin(facets.langs, condition.languages)[facets.lang]
        if condition.sources:
            self.check_sources(condition.sources)
            wanted = set(condition.sources)
            passing = [not wanted.isdisjoint(many.split("|")) for many in facets.sources]
            names &= np.asarray(passing)[facets.source]
        return Mask.of(names)

    def _concepts(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Find concepts by id; retired ids are followed, and those without a successor ignored."""
        flags = np.zeros(len(self._kb), dtype=np.bool_)
        for id in ids:
            resolved = self._kb.resolve(id)
            if resolved is not None:
                flags[self._kb.row_of(resolved)] = True
        return flags


def _check(what: str, values: Iterable[str], choices: Sequence[str]) -> None:
    for value in values:
        if value not in choices:
            raise _unknown(what, value, choices)


def _unknown(what: str, value: str, choices: Sequence[str]) -> Exception:
    by_fold = {choice.casefold(): choice for choice in choices if choice}
    near = get_close_matches(value.casefold(), by_fold, _NEAR, 0.5) or sorted(by_fold)
    nearest = ", ".join(by_fold[folded] for folded in near[:_SHOWN]) or "none"
    return Errors.unknown_in_filter(what=what, value=value, near=nearest)


def _shortened(values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more
