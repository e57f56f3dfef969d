"""Adds mentions of annotated text as names of their concepts, for all tiers."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..evaluation.gold_set import Case, GoldSet
from ..kb import KnowledgeBase, KnowledgeBaseBuilder
from ..kb.curation import UNKNOWN_ID
from ..kb.filters import name_identity, with_names
from ..kb.schema import KB
from ..types import FROM_MENTIONS, Concept, Data, Name, Record
from ..util.outputs import check_output

TERM_TYPE = "MENTION"
_NIL = -1
# Reasons why a mention gave no name, beside an unknown id.
_KNOWN, _NO_CONCEPT = "is a name already", "is mostly no concept"
_Identity = tuple[str, bool]
_Key = int | str  # the row of a concept, or an id that the knowledge base lacks


class Added(NamedTuple):
    """kb (KnowledgeBase): the written one. entry (Dict[str, Any]): as in its manifest."""

    kb: KnowledgeBase
    entry: Data


class _Votes(NamedTuple):
    """The concepts and the spellings of a mention, with their counts."""

    concepts: Counter[_Key]
    texts: Counter[tuple[str, str]]


def add_mention_names(
    out: Path,
    kb: KnowledgeBase,
    gold: Sequence[GoldSet],
    new_concepts: bool = False,
    overwrite: bool = False,
) -> Added:
    """Write a knowledge base with annotated mentions as further names of their concepts.

    The memory of corrections only knows a mention that comes again; names also help with similar
    mentions. A mention becomes a name of the concept with most of its annotations; of equal ones,
    the first, as in the memory. A mention that is mostly NIL, or a name of the concept already, is
    not added. For an abbreviation that its document defines, the long form is added.

    out (Path): file to write; it appears whole or not at all. gold (Sequence[GoldSet]): over `kb`.
    new_concepts (bool): add ids that the knowledge base lacks as concepts, with their most frequent
        mention as name; otherwise these mentions are ignored. Retired ids stay retired.
    overwrite (bool): replace a file of something else.
    RAISES (MedlinkError): E109 when it cannot be written, E120-E124 for what is at `out`.
    """
    inputs = [kb.path, *(file.path for file in gold)]
    check_output(out, KB, inputs, overwrite=overwrite)
    votes, sources, unknown = _count(kb, gold, new_concepts)
    names, already_names, nil = _names(kb, votes)
    entry = {
        "sources": sources,
        "names": sum(map(len, names.values())),
        "concepts": len(names),
        "new_concepts": sum(isinstance(key, str) for key in names),
        "no_effect": {UNKNOWN_ID: unknown, _KNOWN: already_names, _NO_CONCEPT: nil},
    }
    manifest = {**kb.manifest, "mention_names": entry}
    with KnowledgeBaseBuilder(out, manifest, inputs, overwrite=overwrite) as builder:
        for record in _with_names(kb, names):
            builder.add(record)
    return Added(KnowledgeBase(out), entry)


def names_of_mentions(cases: Iterable[Case], kb: KnowledgeBase) -> dict[int, list[Name]]:
    """Select the new names that mentions give each concept row; ids must be known."""
    votes: dict[_Identity, _Votes] = {}
    for case in cases:
        _vote(votes, case, ())
    return {row: names for row, names in _names(kb, votes)[0].items() if isinstance(row, int)}


def _count(
    kb: KnowledgeBase, gold: Sequence[GoldSet], new_concepts: bool
) -> tuple[dict[_Identity, _Votes], list[Data], int]:
    votes: dict[_Identity, _Votes] = {}
    sources, unknown = [], 0
    retired = frozenset(record.id for record in kb.retired()) if new_concepts else frozenset()
    for file in gold:
        cases = list(file.cases())
        for case in cases:
            ids = [id for id in case.gold.ids if id not in retired] if new_concepts else []
            unknown += bool(case.gold.ids) and not (case.right or ids)
            _vote(votes, case, ids)
        source = {"name": file.path.name, "sha256": file.sha256, "mentions": len(cases)}
        sources.append(source)
    return votes, sources, unknown


def _vote(votes: dict[_Identity, _Votes], case: Case, new: Sequence[str]) -> None:
    """Count a mention; `new` are its ids that the knowledge base lacks."""
    text = " ".join((case.mention.long_form or case.mention.text).split())
    concepts: Collection[_Key] = case.right or new
    unknown = bool(case.gold.ids) and not concepts
    if unknown or not any(map(str.isalpha, text)):
        return
    counts = votes.setdefault(name_identity(text), _Votes(Counter(), Counter()))
    counts.concepts.update(concepts or (_NIL,))
    counts.texts[text, case.lang] += 1


def _names(
    kb: KnowledgeBase, votes: dict[_Identity, _Votes]
) -> tuple[dict[_Key, list[Name]], int, int]:
    """Select the new names of each concept, those of most mentions first.

    RETURNS: the names; the mentions that are known names already; those that are no concept.
    """
    by_concept: dict[_Key, list[tuple[int, Name]]] = defaultdict(list)
    already_names = nil = 0

    @cache
    def identities(row: int) -> frozenset[_Identity]:
        return frozenset(name_identity(name.text) for name in kb.concept_at(row).names)

    for identity, counts in sorted(votes.items()):
        # Among equal concepts, an existing one wins, then the first.
        key = min(
            counts.concepts,
            key=lambda key: (-counts.concepts[key], isinstance(key, str), key),
        )
        if key == _NIL:
            nil += counts.texts.total()
            continue
        if isinstance(key, int) and identity in identities(key):
            already_names += counts.texts.total()
            continue
        text, lang = min(counts.texts, key=lambda written: (-counts.texts[written], written))
        name = Name(text, lang or "en", FROM_MENTIONS, TERM_TYPE)
        by_concept[key].append((-counts.texts.total(), name))
    names = {key: [name for _, name in sorted(names)] for key, names in by_concept.items()}
    return names, already_names, nil


def _with_names(kb: KnowledgeBase, names: dict[_Key, list[Name]]) -> Iterator[Record]:
    for row, concept in enumerate(kb):
        new_names = names.get(row)
        yield with_names(concept, [*concept.names, *new_names]) if new_names else concept
    for id, new_names in names.items():
        if isinstance(id, str):
            yield Concept(id, new_names[0].text, tuple(new_names))
    yield from kb.retired()
