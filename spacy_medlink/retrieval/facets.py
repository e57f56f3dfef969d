"""Facets: what names and concepts can be filtered and ordered by, in mapped arrays.

lang.npy, source.npy           number of each name's language and source, uint16
type_start.npy, type.npy       numbers of each concept's types, laid end to end
id_order.npy                   place of each concept's id among all ids in alphabetical order, int32
labels.json                    the texts that the numbers stand for
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kb import KnowledgeBase
from .arrays import load_arrays, save_arrays

_ARRAYS = ("lang", "source", "type_start", "type", "id_order")
_LABELS = "labels.json"


class Facets(NamedTuple):
    """Languages and sources of names, types and alphabetical order of concepts.

    lang, source (NDArray[uint16]): (n_names,), positions in `langs` and `sources`.
    type_start (NDArray[uint32]): (n_concepts + 1,), where each concept's part of `type` begins.
    type (NDArray[uint16]): positions in `types`. id_order (NDArray[int32]): (n_concepts,).
    sources (Sequence[str]): as names have them, several joined with "|".
    """

    lang: NDArray[np.uint16]
    source: NDArray[np.uint16]
    type_start: NDArray[np.uint32]
    type: NDArray[np.uint16]
    id_order: NDArray[np.int32]
    langs: Sequence[str]
    sources: Sequence[str]
    types: Sequence[str]

    @classmethod
    def of(cls, kb: KnowledgeBase) -> "Facets":
        """Read the facets of a knowledge base: 4 bytes a name, about 7 a concept."""
        flat = chain.from_iterable(kb.iter_name_labels())
        pairs = np.fromiter(flat, dtype=np.int64, count=2 * kb.n_names).reshape(-1, 2)
        texts = kb.labels
        langs, lang = np.unique(pairs[:, 0], return_inverse=True)
        sources, source = np.unique(pairs[:, 1], return_inverse=True)
        start, flat_types, types = _types(kb.iter_types(), len(kb))
        return cls(
            lang.astype(np.uint16),
            source.astype(np.uint16),
            start,
            flat_types,
            _places(list(kb.iter_ids())),
            [texts[number] for number in langs.tolist()],
            [texts[number] for number in sources.tolist()],
            types,
        )

    def save(self, directory: Path) -> None:
        """Write the arrays and the labels into a directory."""
        save_arrays(directory, {name: getattr(self, name) for name in _ARRAYS})
        labels = {"langs": self.langs, "sources": self.sources, "types": self.types}
        text = json.dumps(labels, ensure_ascii=False, indent=1)
        (directory / _LABELS).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> "Facets":
        """Map the arrays of a directory.

        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        arrays = load_arrays(directory, *_ARRAYS)
        try:
            labels: dict[str, Any] = json.loads((directory / _LABELS).read_text(encoding="utf-8"))
            langs, sources, types = (labels[name] for name in ("langs", "sources", "types"))
            lang, source, type_start, type_, id_order = arrays
            return cls(lang, source, type_start, type_, id_order, langs, sources, types)
        except (OSError, ValueError, KeyError) as error:
            problem = f"{directory.name}/{_LABELS}: {error}"
            raise Errors.assets_incomplete(path=directory.parent, problem=problem) from error

    def concepts_of_types(self, types: Iterable[str]) -> NDArray[np.bool_]:
        """Tell of each concept whether it has one of the types: (n_concepts,)."""
        wanted = set(types)
        numbers = [number for number, text in enumerate(self.types) if text in wanted]
        found = np.zeros(len(self.type_start) - 1, dtype=np.bool_)
        places = np.flatnonzero(np.isin(self.type, numbers))
        found[np.searchsorted(self.type_start, places, side="right") - 1] = True
        return found


def _types(
    types: Iterable[tuple[str, ...]], n_concepts: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint16], list[str]]:
    numbers: dict[str, int] = {}
    counts: list[int] = []

    def flat() -> Iterable[int]:
        for own in types:
            counts.append(len(own))
            for text in own:
                yield numbers.setdefault(text, len(numbers))

    of_all = np.fromiter(flat(), dtype=np.uint16)
    start = np.zeros(n_concepts + 1, dtype=np.uint32)
    np.cumsum(counts, out=start[1:])
    return start, of_all, list(numbers)


def _places(ids: Sequence[str]) -> NDArray[np.int32]:
    places = np.empty(len(ids), dtype=np.int32)
    places[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.int32)
    return places
