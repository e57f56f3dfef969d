"""NameFacts: the concepts and the labels of names; and Kept, which of them may be found."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...assets.dictionary import Choice, allowed_names
from ...assets.languages import native_names
from ...kb.vocabularies import GROUPS, types_of
from ...retrieval.arrays import check, check_below, damaged, load_arrays, save_arrays
from ...retrieval.mask import Mask
from ...text.qualifiers import MERE
from ...types import Array
from .settings import GROUP, LABELLINGS

if TYPE_CHECKING:
    from ...assets import Assets
    from ...retrieval.facets import Facets

_LABELS, _GENERAL = "labels", "general"
_OF_NAMES = ("allowed", "native")
_MASKS = (*_OF_NAMES, _GENERAL)
_NO_LABELS = np.zeros(0, dtype=np.uint16)

# Semantic groups and types that do not describe a patient's health: "study", "Monday", "Spain".
_GENERAL_GROUPS = ("ACTI", "CONC", "GEOG", "OCCU", "ORGA")
_GENERAL_TYPES = "T016 T067 T068 T069 T070 T071 T072 T073 T096 T097 T098 T099 T100 T101".split()
_VAGUE = MERE | frozenset(
    "condition disease diseases disorder grade high low young left right sided".split()
)


class NameFacts:
    """Facts of names by row, beside their keys.

    concept (NDArray[int32]): row of the concept of each name, (n_names,).
    label (NDArray[uint16]): of each name, a position in `labels`; (n_names,), or (0,) without any.
    labels (Sequence[str]): the first is "", for names without a label. by (Optional[str]): the
        source of the labels, as for `of`.
    masks (Mapping[str, Optional[Mask]]): "allowed", the names that the choice takes; "native", the
        names in the language of the pipeline, and in none; "general", the concepts (by row) whose
        types are all of no clinical interest. None for all names, or for no concept.
    """

    def __init__(
        self,
        concept: NDArray[np.int32],
        label: NDArray[np.uint16] = _NO_LABELS,
        labels: Sequence[str] = ("",),
        by: str | None = None,
        masks: Mapping[str, Mask | None] = MappingProxyType({}),
    ) -> None:
        self._concept, self._label, self._labels, self.by = concept, label, labels, by
        self._masks = {name: masks.get(name) for name in _MASKS}
        self.allowed, self.native, self._general = self._masks.values()

    @classmethod
    def of(
        cls,
        assets: "Assets",
        by: str | None,
        choice: Choice,
        lang: str,
    ) -> "NameFacts":
        """Read the facts of the names of assets.

        by (Optional[str]): the source of the labels: the semantic "group" or "type" of the
            concepts, of several the first in the alphabet; None for no labels.
        choice (Choice): which names may be found. lang (str): of the pipeline.
        RAISES (MedlinkError): E106, E213 for a choice with an unknown concept, type,
            group or language.
        """
        concept = assets.filters.name_concept
        masks = {
            "allowed": Mask.of(allowed_names(assets, choice)) if any(choice) else None,
            "native": native_names(assets.facets, lang),
            "general": _general_concepts(assets.facets),
        }
        if by is None:
            return cls(concept, masks=masks)
        of_concept, labels = _labels(assets.facets, by)
        return cls(concept, of_concept[concept], labels, by, masks)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        described = json.dumps({"labels": self._labels, "by": self.by}).encode()
        arrays: dict[str, Array] = {"label": self._label, "concept": self._concept}
        for name, mask in self._masks.items():
            bits = np.zeros(0, np.uint8) if mask is None else mask.bits
            size = 0 if mask is None else mask.size
            arrays[name] = np.unpackbits(bits, count=size, bitorder="little").view(np.bool_)
        save_arrays(directory, {_LABELS: np.frombuffer(described, np.uint8), **arrays})

    @classmethod
    def load(cls, directory: Path) -> "NameFacts":
        """Map the arrays of a directory.

        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        described, label, concept, *truths = load_arrays(
            directory, labels=np.uint8, label=np.uint16, concept=np.int32,
            **dict.fromkeys(_MASKS, np.dtype(bool)),
        )  # fmt: skip
        try:
            read = json.loads(described.tobytes())
            labels, by = read["labels"], read["by"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(directory, _LABELS, error) from error
        if type(labels) is not list or by not in (None, *LABELLINGS):
            raise damaged(directory, _LABELS, "something else than labels")
        labelled = len(label) in (0, len(concept)) if by is None else len(label) == len(concept)
        check(directory, "concept", labelled, "not as many as labels")
        check_below(directory, "label", label, len(labels))
        masks = dict(zip(_MASKS, truths, strict=True))
        for name in _OF_NAMES:
            check(directory, name, len(masks[name]) in (0, len(concept)), "not as many as names")
        if len(masks[_GENERAL]):
            check_below(directory, "concept", concept, len(masks[_GENERAL]))
        packed = {name: Mask.of(truth) if len(truth) else None for name, truth in masks.items()}
        return cls(concept, label, labels, by, packed)

    def label(self, rows: Sequence[int]) -> str:
        """Get the label of a mention's names: that of the first name with a label; else ""."""
        if self.by is None:
            return ""
        numbers = (int(self._label[row]) for row in rows)
        return self._labels[next(filter(None, numbers), 0)]

    def count_concepts(self, rows: Sequence[int]) -> int:
        """Count the concepts of names; 0 where they are not known."""
        if not len(self._concept):
            return 0
        return len(set(self._concept[list(rows)].tolist()))

    def are_general(self, rows: Sequence[int]) -> bool:
        """Tell whether no concept of the names is of clinical interest, by its types."""
        general = self._general
        return general is not None and all(int(self._concept[row]) in general for row in rows)


def _labels(facets: "Facets", by: str) -> tuple[NDArray[np.uint16], list[str]]:
    """Make the label of each concept, a position in a list of labels."""
    kinds: dict[str, Sequence[str]] = {type: [type] for type in sorted(facets.types)}
    if by == GROUP:
        kinds = {group: members.split() for group, members in GROUPS.items()}
    labels = [""]
    of_concept = np.zeros(len(facets.concept_order), dtype=np.uint16)
    for label, types in sorted(kinds.items(), reverse=True):
        labelled = facets.concepts_of_types(types)
        if labelled.any():
            of_concept[labelled] = len(labels)
            labels.append(label)
    return of_concept, labels


def _general_concepts(facets: "Facets") -> Mask | None:
    """Find the concepts whose types are all of no clinical interest."""
    general = types_of(_GENERAL_GROUPS).union(_GENERAL_TYPES)
    if general.isdisjoint(facets.types):
        return None
    clinical = facets.concepts_of_types(set(facets.types) - general)
    return Mask.of(~clinical & (np.diff(facets.type_start) > 0))


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
    facts: NameFacts | None = None
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
        kept = tuple(rows if mask is None else [row for row in rows if row in mask])
        if not (word and kept and self.facts is not None):
            return kept
        if self.general and self.facts.are_general(kept):
            return ()
        if self.most is not None and len(kept) > self.most:
            return kept if self.facts.count_concepts(kept) <= self.most else ()
        return kept
