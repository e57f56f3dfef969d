"""Codes: the concepts that ids and codes stand for, and the choice of one code among several."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..text.normalisation import hash_key, hash_keys, key
from ..types import Concept, Hashes1d
from .knowledge_base import KnowledgeBase
from .readers.xrefs import code_of

OWN, HISTORY, CODE, UNKNOWN = "own", "history", "code", "unknown"
_CHUNK = 65_536
_KEPT = 65_536  # answers that are remembered


class Found(NamedTuple):
    """The concepts of an id.

    rows (FrozenSet[int]): the rows of all concepts that the id may mean. way (str): how they were
        found: by a concept's "own" id, by a retired id ("history"), or by a "code".
    """

    rows: frozenset[int]
    way: str


class IdResolver:
    """Finds the concepts that ids stand for: the one place where gold ids are read.

    An id may be a concept's own id, a retired id that leads to it, or its code in any vocabulary.
    The vocabulary may stand before it ("MESH:D012878", "OMIM:114500").

    kb (KnowledgeBase): its codes are read once, at the first id; 12 bytes a code are kept.
    scheme (str): the vocabulary of the ids, in case another vocabulary has the same codes.
    """

    def __init__(self, kb: KnowledgeBase, scheme: str = "") -> None:
        self.kb = kb
        self._vocabulary = _spelled(scheme) if scheme else ""
        self._known: dict[str, Found | None] = {}

    def find(self, id: str) -> Found | None:
        """Find the concepts of an id; None where there are none."""
        if id not in self._known:
            if len(self._known) >= _KEPT:  # keeps the memory of a long-running service bounded
                self._known.clear()
            self._known[id] = self._look_up(id)
        return self._known[id]

    def rows(self, id: str) -> frozenset[int]:
        """Find the rows of the concepts of an id; empty where there are none."""
        concepts = self.find(id)
        return frozenset() if concepts is None else concepts.rows

    def _look_up(self, id: str) -> Found | None:
        split, rows, ways = code_of(id), set[int](), list[str]()
        if self._vocabulary:
            wanted = f"{self._vocabulary}:{split[1] if split else id}"
        else:
            wanted = ":".join(split) if split else id
            for spelling in (id, split[1]) if split else (id,):
                resolved = self.kb.resolve(spelling)
                if resolved is not None:
                    rows.add(self.kb.row_of(resolved))
                    ways.append(OWN if resolved == spelling else HISTORY)
        rows.update(self._with_code(wanted))
        return Found(frozenset(rows), ways[0] if ways else CODE) if rows else None

    def _with_code(self, wanted: str) -> Iterator[int]:
        """List the rows of the concepts that have a code, or an id, spelled like this."""
        hashes, rows = self._codes
        for text in {wanted, wanted.partition(":")[2]}:
            hash = np.uint64(hash_key(text))
            first, last = (np.searchsorted(hashes, hash, side) for side in ("left", "right"))
            for row in np.unique(rows[first:last]).tolist():
                if wanted in _spellings(self.kb.brief_at(row)[0], self.kb.codes_at(row)):
                    yield row

    @cached_property
    def _codes(self) -> tuple[Hashes1d, NDArray[np.int32]]:
        """The sorted hashes of all ids and codes without vocabulary, and their concept rows."""
        hashes, rows = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
        waiting = (
            (row, text) for row, id, codes in self.kb.iter_codes() for text in _bare(id, codes)
        )
        while chunk := list(islice(waiting, _CHUNK)):
            rows.append(np.array([row for row, _ in chunk], dtype=np.int32))
            hashes.append(hash_keys(text for _, text in chunk))
        joined = np.concatenate(hashes)
        order = np.argsort(joined, kind="stable")
        return joined[order], np.concatenate(rows)[order]


def find_ids(kb: KnowledgeBase, ids: Collection[str], scheme: str = "") -> dict[str, Found]:
    """Find the concepts that ids stand for, as IdResolver does.

    RETURNS (Dict[str, Found]): only the ids that were found.
    """
    resolver = IdResolver(kb, scheme)
    by_id = {id: resolver.find(id) for id in ids}
    return {id: concepts for id, concepts in by_id.items() if concepts is not None}


def has_code(concept: Concept, code: str) -> bool:
    """Tell whether a concept has a code, written with its vocabulary before it or without it."""
    split = code_of(code)
    return any(
        code in codes or (split and split[1] in codes and split[0] == _spelled(vocabulary))
        for vocabulary, codes in concept.codes.items()
    )


def _bare(id: str, codes: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """List the id and the codes of a concept without their vocabularies, and the whole id."""
    local = id.partition(":")[2]
    yield from (local, id) if local else ()
    for values in codes.values():
        yield from values


def _spellings(id: str, codes: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """List the spellings of a concept's id and codes, each with and without vocabulary."""
    local = id.partition(":")[2]
    yield from (local, id) if local else ()
    for vocabulary, values in codes.items():
        spelled = _spelled(vocabulary)
        for value in values:
            yield value
            yield f"{spelled}:{value}"


def _spelled(vocabulary: str) -> str:
    split = code_of(f"{vocabulary}:x")
    return split[0] if split else vocabulary


KeysOfCode = Callable[[str, str], frozenset[str]]
"""(vocabulary, code) -> keys (`text.key`) of the code's own names, as far as known."""


class ChosenCode(NamedTuple):
    """The code that was chosen.

    code (Optional[str]): None where the concept has none in the vocabulary.
    among (Tuple[str, ...]): all codes that were equally good, the chosen one first, where no name
        told them apart; () where the choice is clear.
    """

    code: str | None
    among: tuple[str, ...] = ()


class CodeChooser:
    """Chooses one code of a concept.

    Among several codes in a vocabulary, these rules choose, the first that applies: the code is the
    concept's id; the name that matched is one of the code's own names; the concept's preferred name
    is one of them; the fewest concepts of the knowledge base share the code; the terminology lists
    the code first (readers list exact maps before others).

    The names of a code are the names of the concept whose id it is, the names of concepts without
    another code in the vocabulary, and those that `known` adds.

    kb (KnowledgeBase): the knowledge base of the concepts.
    known (Optional[KeysOfCode]): names of codes from elsewhere.
    """

    def __init__(self, kb: KnowledgeBase, known: KeysOfCode | None = None) -> None:
        self._kb, self._known = kb, known

    def choose(
        self, row: int, codes: Mapping[str, tuple[str, ...]], vocabulary: str, name: str
    ) -> ChosenCode:
        """Choose the code of a concept.

        row (int): the concept. codes: all its codes, by vocabulary. name (str): the matched name.
        """
        candidates = codes.get(vocabulary, ())
        if len(candidates) < 2:
            return ChosenCode(candidates[0] if candidates else None)
        id, preferred, _ = self._kb.brief_at(row)
        if id in candidates:
            return ChosenCode(id)
        keys = {code: self._keys(vocabulary, code, row) for code in candidates}
        for text in (name, preferred):
            named = [code for code in candidates if key(text) in keys[code]]
            if len(named) == 1:
                return ChosenCode(named[0])
        sharing = self._kb.shared_codes(vocabulary)
        ordered = sorted(candidates, key=lambda code: len(sharing.get(code, ())))  # stable
        return ChosenCode(ordered[0], tuple(ordered))

    def _keys(self, vocabulary: str, code: str, but: int) -> frozenset[str]:
        """Collect the keys of a code's names, without the names of the concept `but`."""
        concepts = [self._kb[id] for id in (code, f"{vocabulary}:{code}") if id in self._kb]
        for row in self._kb.shared_codes(vocabulary).get(code, ()):
            concept = self._kb.concept_at(row)
            if concept.codes.get(vocabulary) == (code,):
                concepts.append(concept)
        names = (name.text for concept in concepts if concept.row != but for name in concept.names)
        elsewhere = self._known(vocabulary, code) if self._known is not None else frozenset()
        return frozenset(map(key, names)) | elsewhere
