"""Mentions of annotated text as further names of their concepts, which every tier then finds."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..files import sha256_of
from ..kb import KnowledgeBase, KnowledgeBaseBuilder
from ..kb.filters import name_identity, with_names
from ..measuring import load_gold
from ..measuring.gold_set import Case
from ..types import Name, Record

SOURCE = "mentions"
TERM_TYPE = "MENTION"
_NIL = -1
_Identity = tuple[str, bool]


class Added(NamedTuple):
    """kb (KnowledgeBase): what was written. facts (Dict[str, Any]): as in its manifest."""

    kb: KnowledgeBase
    facts: dict[str, Any]


class _Votes(NamedTuple):
    """What a mention was, concept by concept, and how it was written."""

    concepts: Counter[int]
    texts: Counter[tuple[str, str]]


def add_mention_names(out: Path, kb: KnowledgeBase, gold: Sequence[Path]) -> Added:
    """Write a knowledge base that calls concepts what annotated text calls them, too.

    Unlike the memory of corrections, which knows a mention only when it comes again, names help
    with mentions that are like them. A mention is a name of the concept that most of its
    annotations say, of equals the first one, as in the memory; none where it is mostly NIL, or is a
    name of the concept already. Of an abbreviation that its document defines, the long form is
    taken.

    out (Path): file to write; it appears whole or not at all. gold (Sequence[Path]): gold files.
    RAISES (MedlinkError): E107, E401-E404, E407 for the files, E109 when it cannot be written.
    """
    votes, sources = _count(kb, gold)
    names = _names(kb, votes)
    facts = {
        "sources": sources,
        "names": sum(map(len, names.values())),
        "concepts": len(names),
    }
    manifest = {**kb.manifest, "mention_names": facts}
    with KnowledgeBaseBuilder(out, manifest) as builder:
        for record in _with_names(kb, names):
            builder.add(record)
    return Added(KnowledgeBase(out), facts)


def _count(
    kb: KnowledgeBase, gold: Sequence[Path]
) -> tuple[dict[_Identity, _Votes], list[dict[str, Any]]]:
    votes: dict[_Identity, _Votes] = {}
    sources = []
    for path in gold:
        cases = list(load_gold(path, kb).cases())
        for case in cases:
            _vote(votes, case)
        facts = {"name": path.name, "sha256": sha256_of(path), "mentions": len(cases)}
        sources.append(facts)
    return votes, sources


def _vote(votes: dict[_Identity, _Votes], case: Case) -> None:
    text = " ".join((case.mention.long_form or case.mention.text).split())
    unknown = bool(case.gold.ids) and not case.right
    if unknown or not any(map(str.isalpha, text)):
        return
    own = votes.setdefault(name_identity(text), _Votes(Counter(), Counter()))
    own.concepts.update(case.right or (_NIL,))
    own.texts[text, case.lang] += 1


def _names(kb: KnowledgeBase, votes: dict[_Identity, _Votes]) -> dict[int, list[Name]]:
    """Choose the new names of each concept, by its row."""
    names: dict[int, list[Name]] = defaultdict(list)
    for identity, own in sorted(votes.items()):
        row = min(own.concepts, key=lambda row: (-own.concepts[row], row))
        if row == _NIL or any(
            name_identity(name.text) == identity for name in kb.concept_at(row).names
        ):
            continue
        text, lang = min(own.texts, key=lambda written: (-own.texts[written], written))
        names[row].append(Name(text, lang or "en", SOURCE, TERM_TYPE))
    return dict(names)


def _with_names(kb: KnowledgeBase, names: dict[int, list[Name]]) -> Iterator[Record]:
    for row, concept in enumerate(kb):
        own = names.get(row)
        yield with_names(concept, [*concept.names, *own]) if own else concept
    yield from kb.retired()
