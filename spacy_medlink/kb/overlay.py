"""Overlay: curation rules applied to a knowledge base in use, without a build."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..text.normalisation import key
from ..types import Concept, Name, Retired
from .curation import SOURCE, Curation, Rule
from .knowledge_base import KnowledgeBase


@dataclass(frozen=True, eq=False)
class Overlay:
    """The changes of curation rules to a knowledge base, as if it had been built with the rules.

    rules (Tuple[Rule, ...]): the rules of the file, each with its effect. added: (concept row,
    name), by concept row; their name rows follow those of the knowledge base. dropped (Tuple[int,
    ...]): rows of removed names. retired (FrozenSet[str]): ids of removed concepts.
    """

    rules: tuple[Rule, ...] = ()
    added: tuple[tuple[int, Name], ...] = ()
    dropped: tuple[int, ...] = ()
    retired: frozenset[str] = frozenset()

    @classmethod
    def of(cls, curation: Curation, kb: KnowledgeBase) -> "Overlay":
        """Find the changes of rules to a knowledge base, and note in each rule what it changed."""
        rules = Curation([replace(rule, applied=0, no_effect="") for rule in curation.rules])
        rows = sorted(_concerned(rules.rules, kb))
        curated = {record.id: record for record in rules.apply(map(kb.concept_at, rows))}
        added: list[tuple[int, Name]] = []
        dropped: list[int] = []
        for concept in map(kb.concept_at, rows):
            now = curated.get(concept.id)
            names = dict.fromkeys(now.names if isinstance(now, Concept) else ())
            built = dict.fromkeys(concept.names)
            rows_of_names = enumerate(concept.names, concept.first_name)
            dropped += [row for row, name in rows_of_names if name not in names]
            added += [(concept.row, name) for name in names if name not in built]
        retired = frozenset(id for id, record in curated.items() if isinstance(record, Retired))
        return cls(tuple(rules.rules), tuple(added), tuple(dropped), retired)

    @property
    def counts(self) -> dict[str, int]:
        """Count the rules in force, by action, and those that changed nothing."""
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
        """`dropped` as a set, to look up single rows."""
        return frozenset(self.dropped)

    @cached_property
    def by_concept(self) -> Mapping[int, list[Name]]:
        """The names that were added, by concept row."""
        added: dict[int, list[Name]] = {}
        for concept, name in self.added:
            added.setdefault(concept, []).append(name)
        return added


class OverlaidKb(KnowledgeBase):
    """A knowledge base with an overlay: names are added and removed as the rules say.

    The added names have the rows from `n_names` on. Streams (`iter_names`), `len` and `search` use
    the file without the overlay.

    base (KnowledgeBase): the knowledge base without the overlay.
    """

    def __init__(self, base: KnowledgeBase, overlay: Overlay) -> None:
        super().__init__(base.path, base.file)
        self.overlay = overlay

    def __getstate__(self) -> dict[str, object]:
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
        texts = dict(zip(built, super().texts_at(list(built)), strict=True))
        return [texts[row] if row in texts else self._added(row).text for row in rows]

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
        """List the steps from a retired id to its successor; [] for an id in use."""
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


def _concerned(rules: Iterable[Rule], kb: KnowledgeBase) -> set[int]:
    """List the rows of the concepts that rules may change, found by id and by name."""
    rows = {kb.row_of(id) for id in {rule.id for rule in rules} if id in kb}
    every = {rule.name for rule in rules if rule.action == "force" or not rule.id}
    return rows.union(row for name in every for _, row in kb.rows_named(name))
