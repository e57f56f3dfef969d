"""Learns from annotated text what mentions mean: entries of the memory, and names of concepts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..evaluation.gold_set import Case, GoldSet
from ..kb import KnowledgeBase
from ..kb.filters import name_identity
from ..kb.rules import REPEATED, UNKNOWN_ID, no_effect
from ..retrieval.memory import NIL, Entry, Remembered, memory_key, spelling_of
from ..types import FROM_MENTIONS, Data, Name

TERM_TYPE = "MENTION"
# Why a mention is not remembered, beside the reasons of rules.
NO_LETTERS = "holds nothing that could be looked up"
OUTVOTED = "other lines say something else"
# Why a mention gives no name.
_KNOWN, _NO_CONCEPT = "is a name already", "is mostly no concept"


class Learned(NamedTuple):
    """A memory, and its entry in the manifest."""

    lines: list[Remembered]
    entry: Data


class Votes:
    """What annotated mentions say: each is a vote for what is written like it.

    The concept with most votes wins, of equal ones the first id in alphabetical order. No concept
    (NIL, `"ids": []`) wins with more than half of the votes; otherwise NILs do not count. For an
    abbreviation that its document defines, the long form is meant.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._ids: dict[Entry, Counter[str]] = defaultdict(Counter)
        self._texts: dict[Entry, Counter[tuple[str, str]]] = defaultdict(Counter)

    def add(self, case: Case, new: Sequence[str] = ()) -> bool:
        """Count a mention; False where the knowledge base has none of its concepts.

        new (Sequence[str]): ids of the mention that are to become concepts.
        """
        ids = _ids(case, self._kb) or new
        if case.gold.ids and not ids:
            return False
        entries = entries_of(case)
        for entry in entries:
            self._ids[entry].update(ids or (NIL,))
        for entry in entries[-2:-1]:  # of this spelling, for any label
            self._texts[entry][" ".join(_text_of(case).split()), case.lang] += 1
        return True

    def lines(self) -> list[Remembered]:
        """List the winners by key, and by spelling where spellings of a key mean something else."""
        every = [line for entry in sorted(self._ids) if (line := self._winner(entry))]
        general = {line[:2]: line.id for line in every if not line.spelling}
        told_apart = {
            line.key for line in every if line.spelling and line.id != general.get(line[:2])
        }
        return [line for line in every if not line.spelling or line.key in told_apart]

    def names(self) -> tuple[dict[str, list[Name]], Counter[str]]:
        """Select the new names of each concept by its id, those of most mentions first.

        RETURNS: the names; how many mentions gave none, by reason.
        """
        by_id: dict[str, list[tuple[int, Name]]] = defaultdict(list)
        without: Counter[str] = Counter(dict.fromkeys((_KNOWN, _NO_CONCEPT), 0))

        @cache
        def identities(id: str) -> frozenset[tuple[str, bool]]:
            names = self._kb[id].names if id in self._kb else ()
            return frozenset(name_identity(name.text) for name in names)

        for entry, texts in sorted(self._texts.items()):
            line, count = self._winner(entry), texts.total()
            text, lang = min(texts, key=lambda written: (-texts[written], written))
            if line is None or line.id == NIL:
                without[_NO_CONCEPT] += count
            elif name_identity(text) in identities(line.id):
                without[_KNOWN] += count
            elif any(map(str.isalpha, text)):
                name = Name(text, lang or "en", FROM_MENTIONS, TERM_TYPE)
                by_id[line.id].append((-count, name))
        return {id: [name for _, name in sorted(names)] for id, names in by_id.items()}, without

    def _winner(self, entry: Entry) -> Remembered | None:
        """Choose the winner; None if NIL leads without a majority: the tiers decide then."""
        votes = self._ids[entry]
        id, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
        if id == NIL and 2 * count <= votes.total():
            return None
        key, label, spelling = entry
        return Remembered(key, label, id, count, votes.total(), spelling)


def votes_of(cases: Iterable[Case], kb: KnowledgeBase) -> Votes:
    """Count the votes of annotated mentions."""
    votes = Votes(kb)
    for case in cases:
        votes.add(case)
    return votes


def learn_memory(files: Sequence[GoldSet], kb: KnowledgeBase) -> Learned:
    """Learn from gold files or from files of corrections, which have the same format.

    The entry lists for each file the mentions that changed nothing: "no_effect", see `rules`.
    """
    votes = Votes(kb)
    read = [(gold, [(case, votes.add(case)) for case in gold.cases()]) for gold in files]
    lines = votes.lines()
    winners = {line.entry: line.id for line in lines}
    sources = [
        {
            "name": gold.path.name,
            "sha256": gold.sha256,
            "mentions": len(counted),
            "no_effect": no_effect(_effects(counted, winners, kb)),
        }
        for gold, counted in read
    ]
    unknown = sum(not is_counted for _, counted in read for _, is_counted in counted)
    return Learned(lines, {"sources": sources, **_counts(lines), "not_in_kb": unknown})


def _effects(
    counted: Iterable[tuple[Case, bool]], winners: Mapping[Entry, str], kb: KnowledgeBase
) -> Iterator[tuple[str, int]]:
    """List why each mention has no effect on the memory, "" for one that has, with its line."""
    before: set[tuple[object, ...]] = set()
    for case, is_counted in counted:
        gold, entries, ids = case.gold, entries_of(case), _ids(case, kb) or [NIL]
        place = () if gold.start < 0 else (case.doc_id, gold.start, gold.end)
        same = gold.text, gold.type, gold.ids, place
        if not is_counted:
            reason = UNKNOWN_ID
        elif not entries:
            reason = NO_LETTERS
        elif not any(winners.get(entry) in ids for entry in entries):
            reason = OUTVOTED
        else:
            reason = REPEATED if same in before else ""
        before.add(same)
        yield reason, case.line


def carry_over(lines: Iterable[Remembered], entry: Data, kb: KnowledgeBase) -> Learned:
    """Move a memory to another release: retired ids are followed, lost ones left out."""
    kept = []
    for line in lines:
        id = NIL if line.id == NIL else kb.resolve(line.id)
        if id is not None:
            kept.append(line._replace(id=id))
    return Learned(kept, {**entry, **_counts(kept)})


def key_of(case: Case) -> str:
    """Make the key of a mention in the memory: from its long form, where it has one."""
    return memory_key(_text_of(case))


def entries_of(case: Case) -> list[Entry]:
    """List the entries of a memory that a mention votes for, those for any label last."""
    key, spelling = key_of(case), spelling_of(_text_of(case))
    labels = dict.fromkeys((case.gold.type, ""))
    return [(key, label, how) for label in labels for how in (spelling, "")] if key else []


def _text_of(case: Case) -> str:
    return case.mention.long_form or case.mention.text


def _ids(case: Case, kb: KnowledgeBase) -> list[str]:
    return sorted(kb.brief_at(row)[0] for row in case.right)


def _counts(lines: Sequence[Remembered]) -> dict[str, int]:
    return {
        "mentions": len({line.key for line in lines}),
        "entries": len(lines),
        "nil": len({line.key for line in lines if line.id == NIL}),
        "conflicts": sum(line.votes < line.of for line in lines if line.is_general),
    }
