"""OverlaidKb: a knowledge base in use with rules applied to it, without a build."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..text.normalisation import is_short_form, key
from ..types import Concept, Name, Retired
from .knowledge_base import KnowledgeBase
from .rules import FORCE, MEANS, SOURCE, Rule, Rules


class OverlaidKb(KnowledgeBase):
    """A knowledge base as if it had been built with rules.

    The added names have the rows from `n_names` on. Streams (`iter_names`) and `len` use the file
    without the rules.

    base (KnowledgeBase): the knowledge base without the rules.
    rules (Rules): a copy of those given, each with its effect; of mentions with one key the last.
    added (List[Tuple[int, Name]]): (concept row, name), by concept row. dropped (Dict[int, None]):
        rows of removed names. retired_ids (FrozenSet[str]): ids of removed concepts.
    """

    def __init__(self, base: KnowledgeBase, rules: Rules) -> None:
        super().__init__(base.path, base.held)
        self.rules = Rules(list(_over(rules, base)))
        rows = sorted(_concerned(self.rules, base))
        changed = {record.id: record for record in self.rules.apply(map(base.concept_at, rows))}
        self.retired_ids = frozenset(
            id for id, record in changed.items() if isinstance(record, Retired)
        )
        self.added: list[tuple[int, Name]] = []
        self.dropped: dict[int, None] = {}
        self._added_to: dict[int, list[Name]] = {}
        for concept in map(base.concept_at, rows):
            now = changed.get(concept.id)
            names = dict.fromkeys(now.names if isinstance(now, Concept) else ())
            first, built = concept.first_name, dict.fromkeys(concept.names)
            gone = (row for row, name in enumerate(concept.names, first) if name not in names)
            self.dropped.update(dict.fromkeys(gone))
            self._added_to[concept.row] = [name for name in names if name not in built]
            self.added += [(concept.row, name) for name in self._added_to[concept.row]]

    def __getstate__(self) -> dict[str, object]:
        own = ("rules", "retired_ids", "added", "dropped", "_added_to")
        return {**super().__getstate__(), "own": {name: vars(self)[name] for name in own}}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        vars(self).update(state["own"])

    def __contains__(self, id: object) -> bool:
        return id not in self.retired_ids and super().__contains__(id)

    @property
    def counts(self) -> dict[str, int]:
        """Count the rules in force, by action, and those that changed nothing."""
        counted: dict[str, int] = {}
        for rule in self.rules.rules:
            what = "no_effect" if rule.no_effect else rule.action
            counted[what] = counted.get(what, 0) + 1
        return dict(sorted(counted.items()))

    def text_at(self, row: int) -> str:
        """Get the text of the name of a row, 0 <= row < n_names and those added."""
        return super().text_at(row) if row < self.n_names else self.name_at(row).text

    def texts_at(self, rows: Sequence[int]) -> list[str]:
        """Get the texts of the names of many rows."""
        built = dict.fromkeys(row for row in rows if row < self.n_names)
        texts = dict(zip(built, super().texts_at(list(built)), strict=True))
        return [texts[row] if row in texts else self.text_at(row) for row in rows]

    def name_at(self, row: int) -> Name:
        """Get the name of a row, 0 <= row < n_names and those added."""
        if row < self.n_names:
            return super().name_at(row)
        try:
            return self.added[row - self.n_names][1]
        except IndexError:
            raise self._damaged(f"nothing has the row {row}") from None

    def find(self, text: str) -> list[Concept]:
        """Find the concepts that have the text as a name, case, accents and plural aside."""
        rows = {concept for row, concept in self.rows_named(text) if row not in self.dropped}
        rows.update(concept for concept, name in self.added if key(name.text) == key(text))
        return [self.concept_at(row) for row in sorted(rows)]

    def history(self, id: str) -> list[Retired]:
        """List the steps from a retired id to its successor; [] for an id in use."""
        return [Retired(id, "", SOURCE)] if id in self.retired_ids else super().history(id)

    def _names_of(self, concept: int, rows: range) -> Iterable[Name]:
        kept = zip(rows, super()._names_of(concept, rows), strict=True)
        yield from (name for row, name in kept if row not in self.dropped)
        yield from self._added_to.get(concept, ())


def _over(rules: Rules, kb: KnowledgeBase) -> Iterator[Rule]:
    """Copy rules; what mentions mean gets the ids in use, and the last one of a key counts.

    `medlink learn` counts votes instead, but a user wants to see a correction act at once.
    """
    last: dict[tuple[str, bool], Rule] = {}
    for rule in rules.rules:
        copy = replace(rule, applied=0, no_effect="")
        if rule.action != MEANS:
            yield copy
            continue
        # Without codes: to read those of a large terminology takes too long for a correction.
        in_use = filter(None, map(kb.resolve, (rule.id, *rule.others)))
        if copy.id and not (id := next(in_use, None)):
            yield copy  # which changes nothing, and says so
        elif own_key := key(rule.name):
            copy.id = copy.id and str(id)
            last[own_key, is_short_form(rule.name)] = copy
    yield from last.values()


def _concerned(rules: Rules, kb: KnowledgeBase) -> set[int]:
    """List the rows of the concepts that rules may change, found by id and by name."""
    rows = {kb.row_of(id) for id in {rule.id for rule in rules.rules} if id in kb}
    every = {rule.name for rule in rules.rules if rule.action == FORCE or not rule.id}
    return rows.union(row for name in every for _, row in kb.rows_named(name))
