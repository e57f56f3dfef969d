"""Curation: experts' rules that deny, force or add names, and retire concepts.

`apply` uses the rules while a knowledge base is built, an `Overlay` while one is in use.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from ..errors import Errors
from ..types import BadLines, Concept, Name, Record, Retired
from ..util.json_text import write_json
from .filters import name_identity, names_of, with_names
from .readers.fields import FieldError, identifier, json_of, sound, storable, surface
from .readers.lines import filled_lines, report

_LINES_KEPT = 10


class Lines(TypedDict):
    """A count of lines, and the first of their numbers."""

    count: int
    lines: list[int]


NoEffect = dict[str, Lines]
"""Lines by reason, as manifests hold it."""

# Reasons, in the words that the user reads.
UNKNOWN_ID = "unknown id"
REPEATED = "repeats an earlier line"


def no_effect(rules: Iterable[tuple[str, int]]) -> NoEffect:
    """Count lines by reason.

    rules (Iterable[Tuple[str, int]]): (reason, line number), in the order of the file; a line that
        holds several mentions may come several times.
    """
    counted: NoEffect = {}
    for reason, line in rules:
        counts = counted.setdefault(reason, {"count": 0, "lines": []})
        counts["count"] += 1
        if len(counts["lines"]) < _LINES_KEPT and line not in counts["lines"]:
            counts["lines"].append(line)
    return dict(sorted(counted.items()))


SOURCE = "curation"
RETIRE = "retire"
_ACTIONS = ("deny", "force", "add", RETIRE)
_COLUMNS = ("action", "name", "id", "lang")
_EXPECTED = (
    "action (deny, force, add or retire), name (missing for retire), id (may be missing for deny), "
    "and perhaps lang"
)
_FACTS = ("action", "name", "id", "lang", "applied")
# Why a rule changed nothing, beside the reasons of `effects`.
NO_NAME, HAS_NAME = "no such name", "the concept has the name already"
_Identity = tuple[str, bool]


@dataclass
class Rule:
    """One line of a curation file, and how often it did something.

    name (str): "" where a concept is retired. id (str): "" in a denial means every concept.
    lang (str): "" in a denial means every language.
    no_effect (str): why the rule changed nothing; "" if it did, or has not been applied yet.
    """

    line: int
    action: str
    name: str
    id: str = ""
    lang: str = ""
    applied: int = 0
    no_effect: str = ""

    def matches(self, name: Name) -> bool:
        """Tell whether the rule applies to the name's language."""
        return not self.lang or self.lang == name.lang


@dataclass
class Curation:
    """The rules of a curation file.

    - `deny`: the concept, or every concept if no id is given, loses the name;
    - `force`: only this concept has the name;
    - `add`: this concept has the name, and others may have it too;
    - `retire`: the concept is removed.

    Names are compared without regard to case, accents and punctuation, but "ALL" is not "all". A
    name that the concept has in another spelling is therefore not added.
    Denials count before additions, so that a name can be denied everywhere and added once.
    """

    rules: list[Rule] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._removals: dict[_Identity, list[Rule]] = defaultdict(list)
        self._additions: dict[str, list[Rule]] = defaultdict(list)
        self._retired: dict[str, Rule] = {}
        self._seen_ids: set[str] = set()
        self._named_ids = frozenset(rule.id for rule in self.rules if rule.id)
        for rule in self.distinct():
            if rule.action == RETIRE:
                self._retired[rule.id] = rule
                continue
            if rule.action != "add":
                self._removals[name_identity(rule.name)].append(rule)
            if rule.action != "deny":
                self._additions[rule.id].append(rule)

    def distinct(self) -> Iterator[Rule]:
        """List the rules without those that repeat an earlier one, which have no effect."""
        seen: set[tuple[str, _Identity, str, str]] = set()
        for rule in self.rules:
            same = (rule.action, name_identity(rule.name), rule.id, rule.lang)
            if same in seen:
                rule.no_effect = REPEATED
            else:
                yield rule
            seen.add(same)

    def apply(self, records: Iterable[Record]) -> Iterator[Record]:
        """Stream the curated records; afterwards `as_manifest` lists the effects.

        A concept that loses its last name is left out, and listed.
        """
        waiting = dict(self._additions)  # an id may come in pieces; the first one gets the names
        for record in records:
            if isinstance(record, Retired):
                yield record
                continue
            if record.id in self._named_ids:
                self._seen_ids.add(record.id)
            if record.id in self._retired:
                rule = self._retired[record.id]
                if not rule.applied:
                    yield Retired(record.id, "", SOURCE)
                rule.applied += 1
                waiting.pop(record.id, None)
                continue
            curated = self._curated(record, waiting.pop(record.id, []))
            if curated is None:
                self.emptied.append(record.id)
            else:
                yield curated
        for rule in self.rules:
            rule.no_effect = rule.no_effect or self._why_none(rule)

    def dump(self) -> str:
        """Write the rules as a file that `read_curation` reads."""
        lines = ({name: vars(rule)[name] for name in _COLUMNS} for rule in self.rules)
        return "".join(write_json(line) + "\n" for line in lines)

    def as_manifest(self) -> dict[str, object]:
        """List each rule with how often it was applied, and what went wrong.

        emptied: concepts that lost all their names.
        no_effect: rules that changed nothing, by reason, see `effects`.
        """
        rules = [
            {key: value for key, value in vars(rule).items() if key in _FACTS and value != ""}
            for rule in self.rules
        ]
        return {
            "rules": rules, "emptied": list(self.emptied),
            "no_effect": no_effect(
                (rule.no_effect, rule.line) for rule in self.rules if rule.no_effect
            ),
        }  # fmt: skip

    def _why_none(self, rule: Rule) -> str:
        is_gone = rule.id in self._retired and rule.action != RETIRE
        if rule.id and (rule.id not in self._seen_ids or is_gone):
            return UNKNOWN_ID
        if rule.applied:
            return ""
        return NO_NAME if rule.action == "deny" else HAS_NAME

    def _curated(self, concept: Concept, additions: list[Rule]) -> Concept | None:
        names = names_of(concept)
        kept = list(names)
        if self._removals:
            kept = [name for name in names if not self._removed(concept.id, name)]
        if len(kept) == len(names) and not additions:
            return concept
        same = defaultdict[_Identity, list[Name]](list)
        for name in kept if additions else ():
            same[name_identity(name.text)].append(name)
        for rule in additions:
            present = same[name_identity(rule.name)]
            if not any(map(rule.matches, present)):
                rule.applied += 1
                present.append(Name(rule.name, rule.lang or "en", SOURCE, "CU"))
                kept.append(present[-1])
        return with_names(concept, kept) if kept else None

    def _removed(self, id: str, name: Name) -> bool:
        removed = False
        for rule in self._removals.get(name_identity(name.text), ()):
            here = rule.id != id if rule.action == "force" else rule.id in ("", id)
            if here and rule.matches(name):
                rule.applied += 1
                removed = True
        return removed


def read_curation(path: Path, bad_lines: BadLines = None) -> Curation:
    """Read a curation file: `.jsonl`, or tab-separated with or without a header.

    A line has an action, a name, an id and perhaps a language, as keys or in this order.
    RAISES (MedlinkError): E105 for a bad line, and for a name that is forced to a second concept,
        unless `bad_lines` collects it; E107 without the file.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    rules: list[Rule] = []
    forced: dict[tuple[_Identity, str], Rule] = {}
    lines = (
        (line_number, (line_number, line))
        for line_number, line in filled_lines(path, bad_lines)
        if not (line_number == 1 and line.lower().split("\t")[0] == _COLUMNS[0])
    )
    for line_number, rule in sound(path, lines, _rule, bad_lines):
        if rule.action == "force":
            other = forced.setdefault((name_identity(rule.name), rule.lang), rule)
            if other.id != rule.id:
                problem = (
                    f"{rule.name!r} is forced to {rule.id}, in line {other.line} to {other.id}"
                )
                report(path, line_number, problem, "one of the two rules", bad_lines)
                continue
        rules.append(rule)
    return Curation(rules)


def _rule(numbered_line: tuple[int, str]) -> Rule:
    line_number, line = numbered_line
    if line.lstrip()[0] == "{":
        data = cast(dict[str, object], json_of(line, _EXPECTED))
        storable(data)
    else:
        cells = line.split("\t")
        if not 2 <= len(cells) <= len(_COLUMNS):
            raise FieldError(f"{len(cells)} columns", _EXPECTED)
        data = dict(zip(_COLUMNS, cells, strict=False))
    given = [data.get(column) or "" for column in _COLUMNS]
    texts = [value.strip() for value in given if isinstance(value, str)]
    if set(data) - set(_COLUMNS) or len(texts) < len(given):
        raise FieldError(f"a rule with {', '.join(map(str, data))}", _EXPECTED)
    action, name, id, lang = texts
    if action not in _ACTIONS:
        raise FieldError(f"the action {action[:60]!r}", _EXPECTED)
    if id or action != "deny":
        id = identifier(id)
    if action == RETIRE:
        if name:
            raise FieldError(f"a name, {name[:60]!r}, where a concept is retired", _EXPECTED)
        return Rule(line_number, action, "", id)
    return Rule(line_number, action, surface(name), id, lang.lower())
