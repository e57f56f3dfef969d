"""Learning the memory of corrections from annotated text: which concept each mention was."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..files import sha256_of
from ..kb import KnowledgeBase
from ..measuring import load_gold
from ..measuring.gold_set import Case
from ..retrieval.memory import NIL, Entry, Remembered, memory_key, spelling_of

Votes = dict[Entry, Counter[str]]


class Learned(NamedTuple):
    """A memory, and what the manifest says of it."""

    lines: list[Remembered]
    facts: dict[str, Any]


def learn_memory(paths: Sequence[Path], kb: KnowledgeBase) -> Learned:
    """Learn from gold files.

    The most mentions win, then the first id in alphabetical order. Where mentions of one key are
    spelled in ways of which one has another winner, each way is remembered, too. Mentions that are
    mostly NIL are not remembered, unless another spelling of them is; nor are those whose ids the
    knowledge base lacks. Of an abbreviation that its document defines, the long form is.

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
        resolved = kb.resolve(line.id) if line.id != NIL else NIL
        if resolved is not None:
            kept.append(line._replace(id=resolved))
    return Learned(kept, {**facts, **_counts(kept)})


def key_of(case: Case) -> str:
    """Make the key under which a mention is remembered: of its long form, where it has one."""
    return memory_key(case.mention.long_form or case.mention.text)


def entries_of(case: Case) -> list[Entry]:
    """List the entries of a memory that a mention votes in."""
    own, spelling = key_of(case), spelling_of(case.mention.long_form or case.mention.text)
    labels = dict.fromkeys((case.gold.type, ""))
    return [(own, label, how) for label in labels for how in (spelling, "")] if own else []


def _count(votes: Votes, case: Case, kb: KnowledgeBase) -> bool:
    """Count a mention's vote; False when the knowledge base lacks its concept."""
    if case.gold.ids and not case.right:
        return False
    ids = sorted(kb.concept_at(row, names=False).id for row in case.right) or [NIL]
    for entry in entries_of(case):
        votes.setdefault(entry, Counter()).update(ids)
    return True


def _winners(votes: Votes) -> list[Remembered]:
    every = [_winner(entry, own) for entry, own in sorted(votes.items())]
    general = {line[:2]: line.id for line in every if not line.spelling}
    told_apart = {line.key for line in every if line.spelling and line.id != general[line[:2]]}
    return [
        line for line in every
        if (line.key in told_apart if line.spelling else line.id != NIL)
    ]  # fmt: skip


def _winner(entry: Entry, votes: Counter[str]) -> Remembered:
    id, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
    key, label, spelling = entry
    return Remembered(key, label, id, count, votes.total(), spelling)


def _counts(lines: Sequence[Remembered]) -> dict[str, int]:
    return {
        "mentions": len({line.key for line in lines}),
        "entries": len(lines),
        "conflicts": sum(line.votes < line.of for line in lines if line.is_general),
    }
