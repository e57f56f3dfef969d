"""Gold mentions beside a knowledge base: which concepts are right for each."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..abbreviations import find_definitions
from ..errors import Errors
from ..gold import GoldDocument, GoldMention, read_gold
from ..kb import KnowledgeBase
from ..kb.readers.xrefs import code_of
from ..types import BadLine, Mention

_CONTEXT = 64  # characters on each side of a mention, as in the component


class Case(NamedTuple):
    """A gold mention as the engine takes it, and the concept rows that are right for it."""

    mention: Mention
    right: frozenset[int]
    gold: GoldMention
    doc: str
    lang: str


@dataclass
class GoldSet:
    """The documents of a gold file, held in memory.

    right (Dict[str, FrozenSet[int]]): gold id to the concept rows that it stands for.
    mismatches (List[BadLine]): mentions whose text is not what their offsets point at.
    """

    path: Path
    documents: list[GoldDocument]
    right: dict[str, frozenset[int]]
    mismatches: list[BadLine] = field(default_factory=list)

    def rows(self, mention: GoldMention) -> frozenset[int]:
        """List the concept rows that are right for a mention."""
        return frozenset(row for id in mention.ids for row in self.right.get(id, ()))

    def cases(self, resolve_abbreviations: bool = True) -> Iterator[Case]:
        """Stream the mentions, abbreviations that their document defines expanded."""
        for number, document in enumerate(self.documents):
            text = document.text or ""
            defined = find_definitions(text) if resolve_abbreviations else {}
            for gold in document.mentions:
                long_form = defined.get(gold.text.strip(), "")
                left = text[max(0, gold.start - _CONTEXT) : max(0, gold.start)]
                right = text[gold.end : gold.end + _CONTEXT] if gold.end >= 0 else ""
                mention = Mention(gold.text, long_form, gold.type, left, right)
                # Ids of documents need not be unique; their places in the file are.
                yield Case(mention, self.rows(gold), gold, str(number), document.lang)


def load_gold(path: str | Path, kb: KnowledgeBase, strict: bool = False) -> GoldSet:
    """Read a gold file and find its ids in a knowledge base.

    RAISES (MedlinkError): E107, E401-E404 for the file, E407 when every mention is NIL.
    """
    mismatches: list[BadLine] = []
    documents = list(read_gold(path, strict=strict, mismatches=mismatches))
    ids = {id for document in documents for mention in document.mentions for id in mention.ids}
    if not ids:
        raise Errors.nothing_left(path=path)
    return GoldSet(Path(path), documents, find_rows(kb, ids), mismatches)


def find_rows(kb: KnowledgeBase, ids: Collection[str]) -> dict[str, frozenset[int]]:
    """Find the concepts that ids stand for.

    An id may be a concept's own, a retired one that leads to it, or its code in any vocabulary;
    with the vocabulary before it ("MESH:D012878", "OMIM:114500") or without.

    RETURNS (Dict[str, FrozenSet[int]]): all concepts that an id may mean, those found alone.
    """
    found: dict[str, set[int]] = {}
    wanted: dict[str, list[str]] = {}
    for id in ids:
        split = code_of(id)
        for spelling in (id, split[1]) if split else (id,):
            resolved = kb.resolve(spelling)
            if resolved is not None:
                found.setdefault(id, set()).add(kb[resolved].row)
        wanted.setdefault(":".join(split) if split else id, []).append(id)
    for row, own_id, codes in kb.iter_codes():
        for code in _spellings(own_id, codes):
            for id in wanted.get(code, ()):
                found.setdefault(id, set()).add(row)
    return {id: frozenset(rows) for id, rows in found.items()}


def _spellings(id: str, codes: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """List what a concept may be called: its codes, each with and without its vocabulary."""
    _, colon, local = id.partition(":")
    if colon:
        yield local
    for vocabulary, values in codes.items():
        spelled = _spelled(vocabulary)
        for value in values:
            yield value
            yield f"{spelled}:{value}"


@lru_cache(maxsize=1024)
def _spelled(vocabulary: str) -> str:
    split = code_of(f"{vocabulary}:x")
    return split[0] if split else vocabulary
