"""Facets: the properties by which names and concepts are filtered and ordered, in mapped arrays.

lang.npy, source.npy           number of each name's language and source, uint16
type_start.npy, type.npy       numbers of each concept's types, laid end to end
concept_order.npy              place of each concept, int32: most names, then sources, then by id
labels.json                    the texts behind the numbers
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import FROM_MENTIONS, Data
from .arrays import check, check_below, check_offsets, damaged, load_arrays, save_arrays

_ARRAYS = ("lang", "source", "type_start", "type", "concept_order")
_LABELS = "labels.json"


class Facets(NamedTuple):
    """Languages and sources of names, types and order of concepts.

    lang, source (NDArray[uint16]): (n_names,), positions in `langs` and `sources`.
    type_start (NDArray[uint32]): (n_concepts + 1,), where each concept's part of `type` begins.
    type (NDArray[uint16]): positions in `types`. concept_order (NDArray[int32]): (n_concepts,).
    sources (Sequence[str]): as the names give them; several are joined with "|".
    """

    lang: NDArray[np.uint16]
    source: NDArray[np.uint16]
    type_start: NDArray[np.uint32]
    type: NDArray[np.uint16]
    concept_order: NDArray[np.int32]
    langs: Sequence[str]
    sources: Sequence[str]
    types: Sequence[str]

    @classmethod
    def of(cls, kb: KnowledgeBase) -> "Facets":
        """Read the facets of a knowledge base: 4 bytes a name, about 7 a concept."""
        flat = chain.from_iterable(kb.iter_name_labels())
        pairs = np.fromiter(flat, dtype=np.int32, count=2 * kb.n_names).reshape(-1, 2)
        texts = kb.labels
        lang, langs = _numbered(pairs[:, 0])
        source, sources = _numbered(pairs[:, 1])
        # Names that mentions gave do not count: they show what one annotated text is about.
        from_mentions = [label for label, text in texts.items() if text == FROM_MENTIONS]
        counted = ~np.isin(pairs[:, 1], from_mentions)
        concepts = kb.name_concepts()[counted]
        n_names = np.bincount(concepts, minlength=len(kb))
        joined = [texts[label] for label in sources]
        n_sources = _count_sources(concepts, source[counted], joined, len(kb))
        del pairs
        start, flat_types, types = _types(kb.iter_types(), len(kb))
        return cls(
            lang,
            source,
            start,
            flat_types,
            _places(np.fromiter(kb.iter_rows_by_id(), dtype=np.int32), n_names, n_sources),
            [texts[label] for label in langs],
            [texts[label] for label in sources],
            types,
        )

    def with_names(self, names: Sequence[tuple[str, str]]) -> "Facets":
        """Append names as (language, source); the order of concepts does not change."""
        if not names:
            return self
        langs, sources = list(self.langs), list(self.sources)
        for labels, new in (
            (langs, {lang_of for lang_of, _ in names}),
            (sources, {source_of for _, source_of in names}),
        ):
            labels.extend(sorted(new.difference(labels)))
        lang = np.array([langs.index(lang_of) for lang_of, _ in names], dtype=np.uint16)
        source = np.array([sources.index(source_of) for _, source_of in names], dtype=np.uint16)
        return self._replace(
            lang=np.concatenate([self.lang, lang]), source=np.concatenate([self.source, source]),
            langs=langs, sources=sources,
        )  # fmt: skip

    def save(self, directory: Path) -> None:
        """Write the arrays and the labels into a directory."""
        save_arrays(directory, {name: getattr(self, name) for name in _ARRAYS})
        labels = {"langs": self.langs, "sources": self.sources, "types": self.types}
        text = json.dumps(labels, ensure_ascii=False, indent=1)
        (directory / _LABELS).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(
        cls, directory: Path, n_names: int | None = None, n_concepts: int | None = None
    ) -> "Facets":
        """Map the arrays of a directory.

        n_names, n_concepts (Optional[int]): how many there must be.
        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        lang, source, type_start, type_, concept_order = load_arrays(
            directory,
            lang=np.uint16, source=np.uint16, type_start=np.uint32, type=np.uint16,
            concept_order=np.int32,
        )  # fmt: skip
        langs, sources, types = _read_labels(directory)
        names = len(lang) if n_names is None else n_names
        concepts = len(concept_order) if n_concepts is None else n_concepts
        check(directory, "lang", len(lang) == names, f"{len(lang)} names, expected {names}")
        check(directory, "source", len(source) == names, f"{len(source)} names, not {names}")
        check(
            directory, "concept_order", len(concept_order) == concepts, f"not {concepts} concepts"
        )
        check(directory, "type_start", len(type_start) == concepts + 1, f"not {concepts} concepts")
        check_offsets(directory, "type_start", type_start, len(type_))
        check_below(directory, "lang", lang, len(langs))
        check_below(directory, "source", source, len(sources))
        check_below(directory, "type", type_, len(types))
        check_below(directory, "concept_order", concept_order, concepts)
        return cls(lang, source, type_start, type_, concept_order, langs, sources, types)

    def concepts_of_types(self, types: Iterable[str]) -> NDArray[np.bool_]:
        """Tell for each concept whether it has one of the types: (n_concepts,)."""
        wanted = set(types)
        numbers = [index for index, text in enumerate(self.types) if text in wanted]
        flags = np.zeros(len(self.type_start) - 1, dtype=np.bool_)
        places = np.flatnonzero(np.isin(self.type, numbers))
        flags[np.searchsorted(self.type_start, places, side="right") - 1] = True
        return flags


def _read_labels(directory: Path) -> list[list[str]]:
    try:
        labels: Data = json.loads((directory / _LABELS).read_bytes())
        lists = [labels[name] for name in ("langs", "sources", "types")]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise damaged(directory, _LABELS, error) from error
    if not all(type(texts) is list and all(type(text) is str for text in texts) for texts in lists):
        raise damaged(directory, _LABELS, "something else than lists of texts")
    return lists


def _types(
    types: Iterable[tuple[str, ...]], n_concepts: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint16], list[str]]:
    numbers: dict[str, int] = {}
    counts: list[int] = []

    def flat() -> Iterable[int]:
        for types_of in types:
            counts.append(len(types_of))
            for text in types_of:
                yield numbers.setdefault(text, len(numbers))

    of_all = np.fromiter(flat(), dtype=np.uint16)
    start = np.zeros(n_concepts + 1, dtype=np.uint32)
    np.cumsum(counts, out=start[1:])
    return start, of_all, list(numbers)


def _numbered(labels: NDArray[np.int32]) -> tuple[NDArray[np.uint16], list[int]]:
    """Number the distinct labels, and list them."""
    used = np.unique(labels)
    return np.searchsorted(used, labels).astype(np.uint16), used.tolist()


def _count_sources(
    concepts: NDArray[np.int32], source: NDArray[np.uint16], texts: Sequence[str], n_concepts: int
) -> NDArray[np.int64]:
    """Count the sources that name each concept: (n_concepts,). texts: as `Facets.sources`."""
    pairs = np.unique(concepts.astype(np.int64) * len(texts) + source)
    numbers: dict[str, int] = {}
    joined = [
        [numbers.setdefault(source_of, len(numbers)) for source_of in text.split("|")]
        for text in texts
    ]
    counted = [
        (pair // len(texts)) * len(numbers) + source_of
        for pair in pairs.tolist() for source_of in joined[pair % len(texts)]
    ]  # fmt: skip
    return np.bincount(np.unique(counted).astype(np.int64) // len(numbers), minlength=n_concepts)


def _places(
    by_id: NDArray[np.int32], n_names: NDArray[np.int64], n_sources: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Order concepts by names, then by sources: those with many are meant more often.

    by_id (NDArray[int32]): the rows of concepts in the order of their ids.
    """
    order = by_id[np.lexsort((-n_sources[by_id], -n_names[by_id]))]
    places = np.empty(len(by_id), dtype=np.int32)
    places[order] = np.arange(len(by_id), dtype=np.int32)
    return places
