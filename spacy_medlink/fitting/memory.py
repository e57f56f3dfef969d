"""Learns the memory of corrections from annotated text: the concept of each mention."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..evaluation.gold_set import Case, GoldSet
from ..kb import KnowledgeBase
from ..kb.curation import REPEATED, UNKNOWN_ID, no_effect
from ..retrieval.memory import NIL, Entry, Remembered, memory_key, spelling_of
from ..types import Data

Votes = dict[Entry, Counter[str]]

# Reasons why a mention has no effect, beside those of `effects`.
NO_LETTERS = "holds nothing that could be looked up"
OUTVOTED = "other lines say something else"


class Learned(NamedTuple):
    """A memory, and its entry in the manifest."""

    lines: list[Remembered]
    entry: Data


def learn_memory(files: Sequence[GoldSet], kb: KnowledgeBase) -> Learned:
    """Learn from gold files or from files of corrections, which have the same format.

    The concept with most mentions wins, then the first id in alphabetical order. A mention is
    remembered as no concept if more than half of its annotations are NIL (`"ids": []`); otherwise
    its NILs do not count. If the spellings of one key have different winners, each spelling is
    remembered too. Mentions whose ids the knowledge base lacks are not remembered. For an
    abbreviation that its document defines, the long form is remembered.

    The facts list for each file the mentions that changed nothing: "no_effect", see `effects`.
    """
    votes: Votes = {}
    read: list[tuple[GoldSet, list[_Said]]] = []
    for gold in files:
        counted = [_Said(case, line, _count(votes, case, kb)) for case, line in _cases(gold)]
        read.append((gold, counted))
    lines = _winners(votes)
    winners = {line.entry: line.id for line in lines}
    sources = [
        {
            "name": gold.path.name,
            "sha256": gold.sha256,
            "mentions": len(counted),
            "no_effect": no_effect(_without_effect(counted, winners, kb)),
        }
        for gold, counted in read
    ]
    unknown = sum(not entry.is_counted for _, counted in read for entry in counted)
    return Learned(lines, {"sources": sources, **_counts(lines), "not_in_kb": unknown})


class _Said(NamedTuple):
    """A case, its line in the file, and whether the knowledge base has its concept."""

    case: Case
    line: int
    is_counted: bool


def _cases(gold: GoldSet) -> Iterator[tuple[Case, int]]:
    lines = (document.line for document in gold.documents for _ in document.mentions)
    return zip(gold.cases(), lines, strict=True)


def _without_effect(
    counted: Sequence[_Said], winners: Mapping[Entry, str], kb: KnowledgeBase
) -> Iterator[tuple[str, int]]:
    """List the mentions without effect on the memory: (why, line)."""
    before: set[tuple[object, ...]] = set()
    for case, line, is_counted in counted:
        entries = entries_of(case)
        same = _same(case)
        if not is_counted:
            yield UNKNOWN_ID, line
        elif not entries:
            yield NO_LETTERS, line
        elif not _wins(entries, _ids(case, kb), winners):
            yield OUTVOTED, line
        elif same in before:
            yield REPEATED, line
        before.add(same)


def _same(case: Case) -> tuple[object, ...]:
    """Make a key that is equal for lines with the same annotation of the same place, or none."""
    gold = case.gold
    where = () if gold.start < 0 else (case.doc_id, gold.start, gold.end)
    return gold.text, gold.type, gold.ids, where


def _wins(entries: Iterable[Entry], ids: Sequence[str], winners: Mapping[Entry, str]) -> bool:
    """Tell whether any entry of a mention is remembered with one of its ids."""
    return any(winners.get(entry) in ids for entry in entries)


def learn_lines(cases: Iterable[Case], kb: KnowledgeBase) -> list[Remembered]:
    """Learn the lines of `learn_memory` from annotated mentions."""
    votes: Votes = {}
    for case in cases:
        _count(votes, case, kb)
    return _winners(votes)


def carry_over(lines: Iterable[Remembered], entry: Data, kb: KnowledgeBase) -> Learned:
    """Move a memory to another release: retired ids are followed, lost ones left out."""
    kept = []
    for line in lines:
        resolved = kb.resolve(line.id) if line.id != NIL else NIL
        if resolved is not None:
            kept.append(line._replace(id=resolved))
    return Learned(kept, {**entry, **_counts(kept)})


def key_of(case: Case) -> str:
    """Make the key of a mention in the memory: from its long form, where it has one."""
    return memory_key(case.mention.long_form or case.mention.text)


def entries_of(case: Case) -> list[Entry]:
    """List the entries of a memory that a mention votes for."""
    key, spelling = key_of(case), spelling_of(case.mention.long_form or case.mention.text)
    labels = dict.fromkeys((case.gold.type, ""))
    return [(key, label, how) for label in labels for how in (spelling, "")] if key else []


def _count(votes: Votes, case: Case, kb: KnowledgeBase) -> bool:
    """Count a mention's vote; False when the knowledge base lacks its concept."""
    if case.gold.ids and not case.right:
        return False
    ids = _ids(case, kb)
    for entry in entries_of(case):
        votes.setdefault(entry, Counter()).update(ids)
    return True


def _ids(case: Case, kb: KnowledgeBase) -> list[str]:
    return sorted(kb.brief_at(row)[0] for row in case.right) or [NIL]


def _winners(votes: Votes) -> list[Remembered]:
    every = [line for entry, counts in sorted(votes.items()) if (line := _winner(entry, counts))]
    general = {line[:2]: line.id for line in every if not line.spelling}
    told_apart = {line.key for line in every if line.spelling and line.id != general.get(line[:2])}
    return [line for line in every if not line.spelling or line.key in told_apart]


def _winner(entry: Entry, votes: Counter[str]) -> Remembered | None:
    """Choose the winner; None if NIL leads without a majority: the tiers decide then."""
    id, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
    if id == NIL and 2 * count <= votes.total():
        return None
    key, label, spelling = entry
    return Remembered(key, label, id, count, votes.total(), spelling)


def _counts(lines: Sequence[Remembered]) -> dict[str, int]:
    return {
        "mentions": len({line.key for line in lines}),
        "entries": len(lines),
        "nil": len({line.key for line in lines if line.id == NIL}),
        "conflicts": sum(line.votes < line.of for line in lines if line.is_general),
    }
