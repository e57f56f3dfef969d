"""Learning the memory of corrections from annotated text: which concept each mention was."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..files import sha256_of
from ..kb import KnowledgeBase
from ..measuring import load_gold
from ..measuring.gold_set import Case
from ..retrieval.memory import Remembered, memory_key

_NIL = ""
Votes = dict[tuple[str, str], Counter[str]]


class Learned(NamedTuple):
    """A memory, and what the manifest says of it."""

    lines: list[Remembered]
    facts: dict[str, Any]


def learn_memory(paths: Sequence[Path], kb: KnowledgeBase) -> Learned:
    """Learn from gold files.

    The most mentions win, then the first id in alphabetical order. Mentions that are mostly NIL, or
    whose ids the knowledge base lacks, are not remembered. Of an abbreviation that its document
    defines, the long form is.

    RAISES (MedlinkError): E107, E401-E404, E407 for the files.
    """
    votes: Votes = {}
    sources, unknown = [], 0
    for path in paths:
        cases = list(load_gold(path, kb).cases())
        unknown += sum(not _count(votes, case, kb) for case in cases)
        facts = {"name": path.name, "sha256": sha256_of(path), "mentions": len(cases)}
        sources.append(facts)
    lines = _winners(votes)
    return Learned(lines, {"sources": sources, **_counts(lines), "not_in_kb": unknown})


def learn_lines(cases: Iterable[Case], kb: KnowledgeBase) -> list[Remembered]:
    """Learn from annotated mentions what `learn_memory` learns from their files."""
    votes: Votes = {}
    for case in cases:
        _count(votes, case, kb)
    return _winners(votes)


def carry_over(lines: Iterable[Remembered], facts: dict[str, Any], kb: KnowledgeBase) -> Learned:
    """Take a memory over to another release: retired ids are followed, lost ones left out."""
    kept = []
    for line in lines:
        resolved = kb.resolve(line.id)
        if resolved is not None:
            kept.append(line._replace(id=resolved))
    return Learned(kept, {**facts, **_counts(kept)})


def key_of(case: Case) -> str:
    """Make the key under which a mention is remembered: of its long form, where it has one."""
    return memory_key(case.mention.long_form or case.mention.text)


def _count(votes: Votes, case: Case, kb: KnowledgeBase) -> bool:
    """Count a mention's vote; False when the knowledge base lacks its concept."""
    own = key_of(case)
    if case.gold.ids and not case.right:
        return False
    if own:
        ids = sorted(kb.concept_at(row).id for row in case.right) or [_NIL]
        for label in dict.fromkeys((case.gold.type, "")):
            votes.setdefault((own, label), Counter()).update(ids)
    return True


def _winners(votes: Votes) -> list[Remembered]:
    return [line for entry, own in sorted(votes.items()) if (line := _winner(entry, own))]


def _winner(entry: tuple[str, str], votes: Counter[str]) -> Remembered | None:
    id, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
    return Remembered(*entry, id, count, votes.total()) if id != _NIL else None


def _counts(lines: Sequence[Remembered]) -> dict[str, int]:
    return {
        "mentions": len({line.key for line in lines}),
        "entries": len(lines),
        "conflicts": sum(line.votes < line.of for line in lines if not line.label),
    }
