"""Adds mentions of annotated text as names of their concepts, for all tiers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..evaluation.gold_set import GoldSet
from ..kb import KnowledgeBase, KnowledgeBaseBuilder
from ..kb.filters import with_names
from ..kb.rules import UNKNOWN_ID
from ..kb.schema import KB
from ..types import Concept, Data, Name, Record
from ..util.outputs import check_output
from .memory import Votes


class Added(NamedTuple):
    """kb (KnowledgeBase): the written one. entry (Dict[str, Any]): as in its manifest."""

    kb: KnowledgeBase
    entry: Data


def add_mention_names(
    out: Path,
    kb: KnowledgeBase,
    gold: Sequence[GoldSet],
    new_concepts: bool = False,
    overwrite: bool = False,
) -> Added:
    """Write a knowledge base with annotated mentions as further names of their concepts.

    The memory only knows a mention that comes again; names also help with similar mentions. A
    mention that is no concept, or a name of the concept already, is not added; see `Votes`.

    out (Path): file to write; it appears whole or not at all. gold (Sequence[GoldSet]): over `kb`.
    new_concepts (bool): add ids that the knowledge base lacks as concepts, with their most frequent
        mention as name; otherwise these mentions are ignored. Retired ids stay retired.
    overwrite (bool): replace a file of something else.
    RAISES (MedlinkError): E109 when it cannot be written, E120-E124 for what is at `out`.
    """
    inputs = [kb.path, *(file.path for file in gold)]
    check_output(out, KB, inputs, overwrite=overwrite)
    votes, sources, unknown = Votes(kb), list[Data](), 0
    retired = frozenset(record.id for record in kb.retired()) if new_concepts else frozenset()
    for file in gold:
        cases = list(file.cases())
        for case in cases:
            new = [id for id in case.gold.ids if id not in retired] if new_concepts else []
            unknown += not votes.add(case, new)
        source = {"name": file.path.name, "sha256": file.sha256, "mentions": len(cases)}
        sources.append(source)
    names, without = votes.names()
    entry = {
        "sources": sources,
        "names": sum(map(len, names.values())),
        "concepts": len(names),
        "new_concepts": sum(id not in kb for id in names),
        "no_effect": {UNKNOWN_ID: unknown, **without},
    }
    manifest = {**kb.manifest, "mention_names": entry}
    with KnowledgeBaseBuilder(out, manifest, inputs, overwrite=overwrite) as builder:
        for record in _with_names(kb, names):
            builder.add(record)
    return Added(KnowledgeBase(out), entry)


def _with_names(kb: KnowledgeBase, names: Mapping[str, list[Name]]) -> Iterator[Record]:
    for concept in kb:
        new_names = names.get(concept.id)
        yield with_names(concept, [*concept.names, *new_names]) if new_names else concept
    for id, new_names in names.items():
        if id not in kb:
            yield Concept(id, new_names[0].text, tuple(new_names))
    yield from kb.retired()
