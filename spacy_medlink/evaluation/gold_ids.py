"""Which concepts of a knowledge base the ids of a gold file stand for."""

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..kb import KnowledgeBase
from ..kb.readers.xrefs import code_of

OWN, HISTORY, CODE, UNKNOWN = "own", "history", "code", "unknown"


class Found(NamedTuple):
    """The concepts of an id.

    rows (FrozenSet[int]): all that it may mean. way (str): how they were found: "own" id of a
        concept, a retired one ("history"), or its "code" in another vocabulary.
    """

    rows: frozenset[int]
    way: str


def find_ids(kb: KnowledgeBase, ids: Collection[str], scheme: str = "") -> dict[str, Found]:
    """Find the concepts that ids stand for.

    An id may be a concept's own, a retired one that leads to it, or its code in any vocabulary;
    with the vocabulary before it ("MESH:D012878", "OMIM:114500") or without.

    scheme (str): the vocabulary that the ids are codes of, where they could be taken for others.
    RETURNS (Dict[str, Found]): those found alone.
    """
    found: dict[str, set[int]] = {}
    ways: dict[str, str] = {}
    wanted: dict[str, list[str]] = {}
    vocabulary = _spelled(scheme) if scheme else ""
    for id in ids:
        split = code_of(id)
        if not vocabulary:
            _look_up(kb, id, split, found, ways)
            wanted.setdefault(":".join(split) if split else id, []).append(id)
        else:
            code = split[1] if split else id
            wanted.setdefault(f"{vocabulary}:{code}", []).append(id)
    for row, own_id, codes in kb.iter_codes():
        for code in _spellings(own_id, codes):
            for id in wanted.get(code, ()):
                found.setdefault(id, set()).add(row)
                ways.setdefault(id, CODE)
    return {id: Found(frozenset(rows), ways[id]) for id, rows in found.items()}


def _look_up(
    kb: KnowledgeBase,
    id: str,
    split: tuple[str, str] | None,
    found: dict[str, set[int]],
    ways: dict[str, str],
) -> None:
    for spelling in (id, split[1]) if split else (id,):
        resolved = kb.resolve(spelling)
        if resolved is not None:
            found.setdefault(id, set()).add(kb[resolved].row)
            ways.setdefault(id, OWN if resolved == spelling else HISTORY)


def _spellings(id: str, codes: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """List what a concept may be called: its id and codes, each with and without vocabulary."""
    _, colon, local = id.partition(":")
    if colon:
        yield local
        yield id
    for vocabulary, values in codes.items():
        spelled = _spelled(vocabulary)
        for value in values:
            yield value
            yield f"{spelled}:{value}"


@lru_cache(maxsize=1024)
def _spelled(vocabulary: str) -> str:
    split = code_of(f"{vocabulary}:x")
    return split[0] if split else vocabulary
