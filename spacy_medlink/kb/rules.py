"""Rules: a table that denies, forces or adds names, retires concepts, and says what mentions mean.

`Rules.apply` uses them while a knowledge base is built, and for one in use (see `overlay`).
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

# Why a line changed nothing, in the words that the user reads.
UNKNOWN_ID = "unknown id"
REPEATED = "repeats an earlier line"
NO_NAME, HAS_NAME = "no such name", "the concept has the name already"

SOURCE = "curation"
DENY, FORCE, ADD, RETIRE = _ACTIONS = ("deny", "force", "add", "retire")
MEANS = "means"  # of corrections, which have a file format of their own
_COLUMNS = ("action", "name", "id", "lang")
_EXPECTED = (
    "action (deny, force, add or retire), name (missing for retire), id (may be missing for deny), "
    "and perhaps lang"
)
_Identity = tuple[str, bool]


def no_effect(lines: Iterable[tuple[str, int]]) -> NoEffect:
    """Count lines by reason.

    lines (Iterable[Tuple[str, int]]): (reason, line number), in the order of the file; a line that
        holds several mentions may come several times. A reason "" is left out.
    """
    counted: NoEffect = {}
    for reason, line in lines:
        if reason:
            counts = counted.setdefault(reason, {"count": 0, "lines": []})
            counts["count"] += 1
            if len(counts["lines"]) < _LINES_KEPT and line not in counts["lines"]:
                counts["lines"].append(line)
    return dict(sorted(counted.items()))


@dataclass
class Rule:
    """One line of the table, and how often it did something.

    name (str): "" where a concept is retired. id (str): "" in a denial means every concept, and of
        a mention none. lang (str): "" in a denial means every language.
    label (str), others (Tuple[str, ...]): of a mention; ids that are as good, where there are any.
    no_effect (str): why the rule changed nothing; "" if it did, or has not been applied yet.
    """

    line: int
    action: str
    name: str
    id: str = ""
    lang: str = ""
    label: str = ""
    others: tuple[str, ...] = ()
    applied: int = 0
    no_effect: str = ""

    @property
    def gives_name(self) -> bool:
        """Whether its concept has the name; a mention without letters is no name."""
        is_name = self.action != MEANS or any(map(str.isalpha, self.name))
        return is_name and self.action in (ADD, FORCE, MEANS)

    def takes(self, id: str, name: Name) -> bool:
        """Tell whether a denial, or what is forced to a concept, takes a name from a concept."""
        of_concept = self.id != id if self.action == FORCE else self.id in ("", id)
        return of_concept and self.lang in ("", name.lang)

    def why_idle(self, is_known: bool) -> str:
        """Say why the rule changed nothing; "" if it did. is_known (bool): whether its id is."""
        if not is_known:
            return UNKNOWN_ID
        if self.applied or self.action == MEANS:
            return ""
        return NO_NAME if self.action == DENY else HAS_NAME

    def contradicts(self, id: str) -> bool:
        """Tell whether mentions like its name no longer mean a concept, "" for none."""
        if self.action == MEANS:
            return not self.no_effect  # it is remembered in place of what was
        if self.action == FORCE:
            return self.id != id
        return self.action == (DENY if id else ADD) and (not id or self.id in ("", id))

    @property
    def line_of_file(self) -> dict[str, object]:
        """What a file says of it: the columns, or a bare mention."""
        if self.action == MEANS:
            ids = [self.id, *self.others] if self.id else []
            return {"mention": self.name, "ids": ids, "lang": self.lang, "type": self.label}
        return {name: vars(self)[name] for name in _COLUMNS}

    @property
    def facts(self) -> dict[str, object]:
        """The columns that are not empty, and how often the rule did something."""
        values = vars(self)
        return {name: values[name] for name in (*_COLUMNS, "applied") if values[name] != ""}


@dataclass
class Rules:
    """A table of rules.

    - `deny`: the concept, or every concept if no id is given, loses the name;
    - `force`: only this concept has the name;
    - `add`: this concept has the name, and others may have it too;
    - `retire`: the concept is removed;
    - `means`: mentions like the name are this concept, which has the name, or none.

    Names are compared without regard to case, accents and punctuation, but "ALL" is not "all". A
    name that the concept has in another spelling is therefore not added.
    Denials count before additions, so that a name can be denied everywhere and added once.

    emptied (List[str]): concepts that lost all their names.
    """

    rules: list[Rule] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rules)

    def apply(self, records: Iterable[Record]) -> Iterator[Record]:
        """Stream the records as the rules have them, and note in each rule what it did.

        A concept that loses its last name is left out, and listed.
        """
        taking, waiting = defaultdict[_Identity, list[Rule]](list), dict[str, list[Rule]]()
        retiring: dict[str, Rule] = {}
        for rule in self._distinct():
            if rule.action == RETIRE:
                retiring[rule.id] = rule
            if rule.action in (DENY, FORCE):
                taking[name_identity(rule.name)].append(rule)
            if rule.gives_name:
                waiting.setdefault(rule.id, []).append(rule)
        live = dict.fromkeys((rule.id for rule in self.rules), False)
        for record in records:
            if isinstance(record, Retired):
                yield record
            elif retires := retiring.get(record.id):
                if not retires.applied:
                    yield Retired(record.id, "", SOURCE)
                retires.applied += 1
            else:
                if record.id in live:
                    live[record.id] = True
                # An id may come in pieces; the first one gets the names.
                changed = _changed(record, taking, waiting.pop(record.id, []))
                if changed is None:
                    self.emptied.append(record.id)
                else:
                    yield changed
        for rule in self.rules:
            is_known = not rule.id or (rule.applied if rule.action == RETIRE else live[rule.id])
            rule.no_effect = rule.no_effect or rule.why_idle(bool(is_known))

    def dump(self) -> str:
        """Write the rules as a file that `read_rules` reads; mentions as gold, without their texts.

        A saved pipeline holds no text of notes.
        """
        return "".join(write_json(rule.line_of_file) + "\n" for rule in self.rules)

    def as_manifest(self) -> dict[str, object]:
        """List each rule, how often it was applied, and which ones changed nothing."""
        return {
            "rules": [rule.facts for rule in self.rules],
            "emptied": list(self.emptied),
            "no_effect": no_effect((rule.no_effect, rule.line) for rule in self.rules),
        }

    def _distinct(self) -> Iterator[Rule]:
        """List the rules without those that repeat an earlier one, which have no effect."""
        seen: set[tuple[str, _Identity, str, str]] = set()
        for rule in self.rules:
            same = (rule.action, name_identity(rule.name), rule.id, rule.lang)
            if same in seen:
                rule.no_effect = REPEATED
            else:
                yield rule
            seen.add(same)


def _changed(
    concept: Concept, taking: dict[_Identity, list[Rule]], additions: list[Rule]
) -> Concept | None:
    """Take names from a concept, and add others; None where no name is left."""
    names, kept = names_of(concept), list[Name]()
    for name in names:
        rules = taking.get(name_identity(name.text), ()) if taking else ()
        takers = [rule for rule in rules if rule.takes(concept.id, name)]
        for rule in takers:
            rule.applied += 1
        if not takers:
            kept.append(name)
    if len(kept) == len(names) and not additions:
        return concept
    langs: dict[_Identity, set[str]] = defaultdict(set)
    for name in kept if additions else ():
        langs[name_identity(name.text)].add(name.lang)
    for rule in additions:
        present = langs[name_identity(rule.name)]
        if not (rule.lang in present if rule.lang else present):
            rule.applied += 1
            present.add(rule.lang or "en")
            kept.append(Name(rule.name, rule.lang or "en", SOURCE, "CU"))
    return with_names(concept, kept) if kept else None


def read_rules(path: Path, bad_lines: BadLines = None) -> Rules:
    """Read a file of rules: `.jsonl`, or tab-separated with or without a header.

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
        if rule.action == FORCE:
            other = forced.setdefault((name_identity(rule.name), rule.lang), rule)
            if other.id != rule.id:
                problem = (
                    f"{rule.name!r} is forced to {rule.id}, in line {other.line} to {other.id}"
                )
                report(path, line_number, problem, "one of the two rules", bad_lines)
                continue
        rules.append(rule)
    return Rules(rules)


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
    if id or action != DENY:
        id = identifier(id)
    if action == RETIRE:
        if name:
            raise FieldError(f"a name, {name[:60]!r}, where a concept is retired", _EXPECTED)
        return Rule(line_number, action, "", id)
    return Rule(line_number, action, surface(name), id, lang.lower())
