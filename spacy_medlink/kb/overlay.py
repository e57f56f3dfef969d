"""Overlay: curation rules in force over a knowledge base that is in use, without a build."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..text.normalisation import key
from ..types import Concept, Name, Retired
from .curation import HAS_NAME, NO_NAME, RETIRE, SOURCE, Curation, Rule
from .effects import UNKNOWN_ID
from .filters import name_identity
from .knowledge_base import KnowledgeBase

_TERM_TYPE = "CU"


@dataclass(frozen=True, eq=False)
class Overlay:
    """What curation rules change of one knowledge base: as if it had been built with them.

    rules (Tuple[Rule, ...]): those of the file, each with its effect. added: (concept row, name),
    by concept row; their name rows follow those of the knowledge base. dropped (Tuple[int, ...]):
    name rows that are no names any more. retired (FrozenSet[str]): ids of no concept any more.
    """

    rules: tuple[Rule, ...] = ()
    added: tuple[tuple[int, Name], ...] = ()
    dropped: tuple[int, ...] = ()
    retired: frozenset[str] = frozenset()

    @classmethod
    def of(cls, curation: Curation, kb: KnowledgeBase) -> "Overlay":
        """Find what rules mean for a knowledge base; each is told what it changed."""
        rules = Curation([replace(rule, applied=0, no_effect="") for rule in curation.rules])
        own = list(rules.distinct())
        retired = {rule.id: kb.row_of(rule.id) for rule in own if _retires(rule) and rule.id in kb}
        dropped = {row for concept in retired.values() for row in kb.name_rows(concept)}
        named = [rule for rule in own if rule.action != RETIRE]
        for rule in named:
            rows = _denied_by(rule, kb)
            rule.applied += len(rows)
            dropped.update(rows)
        added: dict[int, list[Name]] = defaultdict(list)
        for rule in named:
            if rule.action == "deny" or rule.id not in kb or rule.id in retired:
                continue
            concept = kb.row_of(rule.id)
            if not _has_name(rule, concept, added[concept], kb, dropped):
                added[concept].append(Name(rule.name, rule.lang or "en", SOURCE, _TERM_TYPE))
                rule.applied += 1
        for rule in own:
            _judge(rule, kb, retired)
        return cls(
            tuple(rules.rules),
            tuple((concept, name) for concept in sorted(added) for name in added[concept]),
            tuple(sorted(dropped)),
            frozenset(retired),
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many rules are in force, by action, and how many changed nothing."""
        counted: dict[str, int] = {}
        for rule in self.rules:
            what = "no_effect" if rule.no_effect else rule.action
            counted[what] = counted.get(what, 0) + 1
        return dict(sorted(counted.items()))

    @cached_property
    def names(self) -> list[str]:
        """The texts of the names that were added."""
        return [name.text for _, name in self.added]

    @cached_property
    def gone(self) -> frozenset[int]:
        """`dropped`, to be asked about single rows."""
        return frozenset(self.dropped)

    @cached_property
    def by_concept(self) -> Mapping[int, list[Name]]:
        """The names that were added, by concept row."""
        found: dict[int, list[Name]] = {}
        for concept, name in self.added:
            found.setdefault(concept, []).append(name)
        return found


class OverlaidKb(KnowledgeBase):
    """A knowledge base with an overlay: its concepts have the names that the rules leave and add.

    The names that were added have the rows from `n_names` on. Streams (`iter_names`, `len`) and
    `search` stay those of the file.

    base (KnowledgeBase): without the overlay.
    """

    def __init__(self, base: KnowledgeBase, overlay: Overlay) -> None:
        super().__init__(base.path, base.file)
        self.overlay = overlay

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "overlay": self.overlay}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        self.overlay = state["overlay"]

    def __contains__(self, id: object) -> bool:
        return id not in self.overlay.retired and super().__contains__(id)

    def text_at(self, row: int) -> str:
        """Get the text of the name of a row, 0 <= row < n_names and those added."""
        return super().text_at(row) if row < self.n_names else self._added(row).text

    def texts_at(self, rows: Sequence[int]) -> list[str]:
        """Get the texts of the names of many rows."""
        built = dict.fromkeys(row for row in rows if row < self.n_names)
        found = dict(zip(built, super().texts_at(list(built)), strict=True))
        return [found[row] if row in found else self._added(row).text for row in rows]

    def name_at(self, row: int) -> Name:
        """Get the name of a row, 0 <= row < n_names and those added."""
        return super().name_at(row) if row < self.n_names else self._added(row)

    def find(self, text: str) -> list[Concept]:
        """Find the concepts that have the text as a name, case, accents and plural aside."""
        rows = [concept for row, concept in self.rows_named(text) if row not in self.overlay.gone]
        rows += [
            concept for concept, name in self.overlay.added
            if key(name.text) == key(text)
        ]  # fmt: skip
        return [self.concept_at(row) for row in sorted(set(rows))]

    def history(self, id: str) -> list[Retired]:
        """List what became of a retired id, one step after the other; [] for one in use."""
        if id in self.overlay.retired:
            return [Retired(id, "", SOURCE)]
        return super().history(id)

    def _names_of(self, concept: int, rows: range) -> Iterable[Name]:
        kept = zip(rows, super()._names_of(concept, rows), strict=True)
        yield from (name for row, name in kept if row not in self.overlay.gone)
        yield from self.overlay.by_concept.get(concept, ())

    def _added(self, row: int) -> Name:
        try:
            return self.overlay.added[row - self.n_names][1]
        except IndexError:
            raise self._damaged(f"nothing has the row {row}") from None


def _retires(rule: Rule) -> bool:
    return rule.action == RETIRE


def _same_names(rule: Rule, kb: KnowledgeBase) -> Iterator[tuple[int, int]]:
    """List (name row, concept row) of the names that a rule speaks of."""
    identity = name_identity(rule.name)
    for row, concept in kb.rows_named(rule.name):
        name = kb.name_at(row)
        if name_identity(name.text) == identity and rule.matches(name):
            yield row, concept


def _denied_by(rule: Rule, kb: KnowledgeBase) -> list[int]:
    """List the name rows that a rule takes from their concepts."""
    if rule.action == "add" or (rule.action == "deny" and rule.id and rule.id not in kb):
        return []
    concept = kb.row_of(rule.id) if rule.id in kb else None
    if rule.action == "force":
        return [row for row, own in _same_names(rule, kb) if own != concept]
    return [row for row, own in _same_names(rule, kb) if not rule.id or own == concept]


def _has_name(
    rule: Rule, concept: int, added: Iterable[Name], kb: KnowledgeBase, dropped: set[int]
) -> bool:
    """Tell whether a concept has the name of a rule, or was given it by an earlier one."""
    identity = name_identity(rule.name)
    return any(own == concept and row not in dropped for row, own in _same_names(rule, kb)) or any(
        name_identity(name.text) == identity and rule.matches(name) for name in added
    )


def _judge(rule: Rule, kb: KnowledgeBase, retired: Mapping[str, int]) -> None:
    """Note why a rule changed nothing, or not what it should."""
    if rule.id and (rule.id not in kb or (rule.id in retired and rule.action != RETIRE)):
        rule.no_effect = UNKNOWN_ID
    elif rule.action == RETIRE:
        rule.applied = 1
    elif not rule.applied:
        rule.no_effect = NO_NAME if rule.action == "deny" else HAS_NAME
