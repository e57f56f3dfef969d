"""FHIR: code systems, value sets, and bundles of them, in JSON."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ...types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from ..code_systems import vocabulary_of
from ..scratch import scratch
from ..vocabularies import iso_639_1
from .fields import FieldError, identifier, storable
from .json_stream import JsonStream
from .lines import report

_TABLES = """
CREATE TABLE concept (
    number INTEGER PRIMARY KEY, section INTEGER, parent INTEGER, line INTEGER, code TEXT,
    system TEXT, data TEXT
);
CREATE TABLE property (
    section INTEGER, kind TEXT, concept INTEGER, value TEXT, is_code INTEGER, system TEXT
);
CREATE TABLE above (section INTEGER, child TEXT, parent TEXT);
"""
_NESTED = (
    "INSERT INTO above SELECT concept.section, concept.code, up.code FROM concept"
    " JOIN concept AS up ON up.number = concept.parent WHERE concept.section = ?"
    " ORDER BY concept.number"
)
_TOLD = (
    "INSERT INTO above SELECT property.section, {} FROM property JOIN concept"
    " ON number = property.concept WHERE property.section = ? AND kind = ?"
    " AND is_own(property.system, coalesce(nullif(concept.system, ''), ?)) ORDER BY property.rowid"
)
_INDICES = (
    "CREATE INDEX property_concept ON property (concept)",
    "CREATE INDEX property_kind ON property (section, kind)",
    "CREATE INDEX above_child ON above (section, child)",
)
_OUT = " AND code IN (SELECT code FROM concept WHERE section = ?)"
_CONCEPTS = "SELECT number, section, code, system, data FROM concept ORDER BY number"
_PROPERTIES = "SELECT kind, value, is_code, system FROM property WHERE concept = ? ORDER BY rowid"
_PARENTS = "SELECT parent FROM above WHERE section = ? AND child = ? ORDER BY rowid"
_KINDS = ("CodeSystem", "ValueSet", "Bundle")
_FACTS = ("resourceType", "url", "name", "language", "supplements", "hierarchyMeaning")
_OWN = ("code", "display", "definition", "designation", "property", "system", "inactive")
_DEEPEST = 100  # levels of concepts in concepts
_MEANINGS = "http://hl7.org/fhir/concept-properties#"
_GONE = frozenset({"retired", "inactive"})
# The use of a designation, by the codes of SNOMED CT and of FHIR's own code system.
_USES = {"900000000000003001": "FSN", "900000000000013009": "SY", "display": "PT", "": "SY"}
_Part = TypeVar("_Part")
_Property = tuple[str, str, bool, str]
"""The name of a property, its value, whether that is a concept's code, and the code's system."""


@dataclass
class _Resource:
    """The header fields of a resource, in any order. expanded (bool): it has an expansion."""

    facts: dict[str, str] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    expanded: bool = False


@dataclass
class _Section:
    """Concepts of one list.

    part (str): what the list is of the resource, such as "include". line (int): where it begins.
    by (List[str]): what chooses codes that are not listed: "filter", "valueSet", "system".
    sets (List[str]): addresses of the value sets that "valueSet" names.
    """

    resource: _Resource
    part: str
    line: int
    system: str = ""
    by: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Tell whether the list counts; `compose` does not where the resource has an expansion."""
        of = "CodeSystem" if self.part == "concept" else "ValueSet"
        is_composed = self.part in ("include", "exclude")
        return self.resource.facts.get("resourceType") == of and not (
            is_composed and self.resource.expanded
        )


def read(path: Path, bad_lines: BadLines = None, *, lang: str = "en") -> Iterator[Record]:
    """Stream the concepts of a CodeSystem, a ValueSet or a Bundle, inactive ones as retired ids.

    The id is the code, with the name of its code system before it ("ICD10GM:E11") where the file
    has several. Names are the display ("PT") and the designations, with their use as term type.
    Nested concepts and the properties "parent" and "child" make the hierarchy, or "part_of" where
    the code system says so; other properties with codes become relations. A code of a system that
    is not the concept's own has its name before it. A value set is read from its expansion, or from
    the codes that `compose` lists, without those that it excludes. What a filter or another value
    set chooses, and the rest of an incomplete expansion, are bad lines, unless the file has the
    code system or the value set. A concept without any name has none here either; the builder
    counts it. Concepts pass through a temporary file; the whole file is never in memory.

    path (Path): `.json` or `.json.gz`. lang (str): language of names for which neither resource
        nor designation has a language.
    RAISES (MedlinkError): E105 for a bad concept, unless `bad_lines` collects it; always E105 where
        the file is not JSON.
    """
    with scratch(_TABLES) as db:
        spool = _Spool(db, path, bad_lines)
        spool.load()
        yield from spool.records(lang)


def release_of(path: Path) -> str:
    """Read the version of the resource, "" for a bundle."""
    with JsonStream(path) as stream:
        for key in stream.items() if stream.is_next("{") else ():
            if key == "version":
                value = stream.value()
                return value if isinstance(value, str) else ""
            if key == "entry":
                break
            stream.skip()
    return ""


class _Spool:
    """Puts the concepts of a file into tables, then reads them back in their order."""

    def __init__(self, db: sqlite3.Connection, path: Path, bad_lines: BadLines) -> None:
        self._db, self._path, self._bad_lines = db, path, bad_lines
        self._sections: list[_Section] = []
        self._count = 0

    def load(self) -> None:
        """Read the file."""
        self._db.execute("BEGIN")
        with JsonStream(self._path) as stream:
            top = _Resource()
            if stream.is_next("{"):
                self._resource(stream, top, True)
            else:
                stream.skip()
            stream.finish()
        if (kind := top.facts.get("resourceType", "")) not in _KINDS:
            self._report(1, f"the resourceType {kind!r:.60}", " or ".join(_KINDS))
        self._choose()
        self._hierarchy()

    def records(self, lang: str) -> Iterator[Record]:
        """Stream the concepts and retired ids that were read."""
        rows = self._db.execute("SELECT DISTINCT section, system FROM concept").fetchall()
        found = [(self._sections[place], system) for place, system in rows]
        systems = {system or section.system for section, system in found if section.counts}
        several = len(systems) > 1
        for number, place, code, system, data in self._db.execute(_CONCEPTS):
            section = self._sections[place]
            if section.counts:
                own = system or section.system
                vocabulary = vocabulary_of(own) or "FHIR"
                prefix = f"{vocabulary}:" if several else ""
                properties = self._properties(number, section.resource.meanings)
                said = json.loads(data)
                if said["inactive"] or any(_is_gone(kind, value) for kind, value, *_ in properties):
                    yield Retired(prefix + code, "", "inactive")
                    continue
                names = _names(said, section.resource.facts.get("language") or lang, vocabulary)
                above = ((kind, prefix + other) for kind, other in self._above(place, code))
                related = [*above, *_related(properties, own, prefix)]
                yield Concept(
                    prefix + code, names[0].text if names else "", names,
                    definition=said["definition"], codes={vocabulary: (code,)},
                    parents=tuple(other for kind, other in related if kind == ISA),
                    relations=tuple(Relation(kind, other, vocabulary) for kind, other in related),
                )  # fmt: skip

    def _properties(self, number: int, meanings: dict[str, str]) -> list[_Property]:
        rows = self._db.execute(_PROPERTIES, (number,))
        return [
            (meanings.get(kind, kind), value, bool(is_code), system)
            for kind, value, is_code, system in rows
        ]

    def _above(self, place: int, code: str) -> Iterator[tuple[str, str]]:
        facts = self._sections[place].resource.facts
        relation = "part_of" if facts.get("hierarchyMeaning") == "part-of" else ISA
        rows = self._db.execute(_PARENTS, (place, code))
        return ((relation, up) for up in dict.fromkeys(up for (up,) in rows) if up != code)

    def _resource(self, stream: JsonStream, resource: _Resource, is_top: bool = False) -> None:
        start = len(self._sections)
        for key in stream.items():
            if key in _FACTS:
                resource.facts[key] = _plain(stream.value())
            elif key == "property":
                resource.meanings = _meanings(stream.value())
            elif key == "concept" and stream.is_next("["):
                self._concepts(stream, self._new_section(resource, key, stream.line), key)
            elif key == "compose" and stream.is_next("{"):
                self._compose(stream, resource)
            elif key == "expansion" and stream.is_next("{"):
                self._expansion(stream, resource)
            elif key == "entry" and is_top and stream.is_next("["):
                self._entries(stream)
            else:
                stream.skip()
        facts = resource.facts
        extended = facts.get("supplements", "").partition("|")[0]
        for section in self._sections[start:]:
            if section.resource is resource and section.part == "concept":
                section.system = extended or facts.get("url") or facts.get("name", "")

    def _entries(self, stream: JsonStream) -> None:
        for _ in stream.elements():
            for key in stream.items():
                if key == "resource" and stream.is_next("{"):
                    self._resource(stream, _Resource())
                else:
                    stream.skip()

    def _compose(self, stream: JsonStream, resource: _Resource) -> None:
        for key in stream.items():
            if key not in ("include", "exclude") or not stream.is_next("["):
                stream.skip()
                continue
            for line in stream.elements():
                place, is_listed = self._new_section(resource, key, line), False
                section = self._sections[place]
                for part in stream.items():
                    if part == "concept" and stream.is_next("["):
                        self._concepts(stream, place, part)
                        is_listed = True
                    elif part == "system":
                        section.system = _plain(stream.value())
                    elif part not in ("filter", "valueSet"):
                        stream.skip()
                    elif given := stream.value():
                        section.by.append(part)
                        if part == "valueSet" and isinstance(given, list):
                            section.sets += map(str, given)
                if not (is_listed or section.by):
                    section.by.append("system")

    def _expansion(self, stream: JsonStream, resource: _Resource) -> None:
        resource.expanded = True
        place = self._new_section(resource, "expansion", stream.line)
        before, total = self._count, None
        for key in stream.items():
            if key == "contains" and stream.is_next("["):
                self._concepts(stream, place, key)
            elif key == "total":
                total = stream.value()
            else:
                stream.skip()
        count = self._count - before
        if isinstance(total, int) and count < total:
            self._sections[place].by.append(f"{count:,} of {total:,} codes")

    def _choose(self) -> None:
        """Remove what value sets exclude, and report what they do not list."""
        held = {one.system for one in self._sections if one.part == "concept"}
        urls = {one.resource.facts.get("url") for one in self._sections if one.part == "include"}
        for place, section in enumerate(self._sections):
            if section.part == "exclude" and section.counts:
                self._exclude(place, section)
                is_whole = section.by in ([], ["system"])
            else:
                sets = {one.partition("|")[0] for one in section.sets}
                is_here = sets <= urls if sets else section.system in held
                is_whole = not section.by or (section.part == "include" and is_here)
            if section.counts and not is_whole:
                problem = (
                    f"an {section.part} ({', '.join(section.by)}) that does not list its codes"
                )
                expected = "all codes: let a terminology server $expand the value set"
                self._report(section.line, problem, expected)

    def _exclude(self, place: int, section: _Section) -> None:
        listed = "" if "system" in section.by else _OUT
        for other, own in enumerate(self._sections):
            fits = own.resource is section.resource and own.system == section.system
            if fits and own.part == "include":
                values = (other, place) if listed else (other,)
                self._db.execute("DELETE FROM concept WHERE section = ?" + listed, values)
        self._db.execute("DELETE FROM concept WHERE section = ?", (place,))

    def _concepts(
        self, stream: JsonStream, place: int, nested: str, parent: int = 0, depth: int = 0
    ) -> None:
        if depth > _DEEPEST:
            raise stream.error("concepts in concepts without end", f"{_DEEPEST} levels at most")
        for line in stream.elements():
            self._count += 1
            number, data = self._count, dict[str, Any]()
            if not stream.is_next("{"):
                stream.skip()
                self._report(line, "a concept that is not an object", 'an object with "code"')
                continue
            for key in stream.items():
                if key == nested and stream.is_next("["):
                    self._concepts(stream, place, nested, number, depth + 1)
                elif key in _OWN:
                    data[key] = stream.value()
                else:
                    stream.skip()
            try:
                self._store(number, place, parent, line, data)
            except FieldError as error:
                self._report(line, error.problem, error.expected)

    def _store(self, number: int, place: int, parent: int, line: int, data: dict[str, Any]) -> None:
        # An entry of an expansion without a code only groups other entries.
        if "code" not in data and self._sections[place].part == "expansion":
            return
        code = identifier(_text(data, "code"), "code")
        display = self._part(line, lambda: _text(data, "display").strip(), "")
        definition = self._part(line, lambda: _text(data, "definition"), "")
        others = self._parts(line, data, "designation", _designation)
        properties = self._parts(line, data, "property", _property)
        said = {"display": display, "definition": definition, "others": others,
                "inactive": data.get("inactive") is True}  # fmt: skip
        row = (number, place, parent, line, code, _plain(data.get("system")), json.dumps(said))
        self._db.execute("INSERT INTO concept VALUES (?,?,?,?,?,?,?)", row)
        self._db.executemany(
            "INSERT INTO property VALUES (?,?,?,?,?,?)",
            [(place, kind, number, value, *rest) for kind, value, *rest in properties if value],
        )

    def _parts(
        self, line: int, data: dict[str, Any], name: str, read: Callable[[dict[str, Any]], _Part]
    ) -> list[_Part]:
        """Read the parts of a concept that can be read, and report the others."""
        none: list[dict[str, Any]] = []
        given = self._part(line, lambda: _objects(data, name), none)
        found = (self._part(line, partial(read, one), None) for one in given)
        return [one for one in found if one is not None]

    def _part(self, line: int, read: Callable[[], _Part], other: _Part) -> _Part:
        try:
            return read()
        except FieldError as error:
            self._report(line, error.problem, error.expected)
            return other

    def _hierarchy(self) -> None:
        self._db.create_function("is_own", 2, _is_own, deterministic=True)
        for index in _INDICES:
            self._db.execute(index)
        for place, section in enumerate(self._sections):
            if section.part != "expansion":  # nesting in an expansion is for display only
                self._db.execute(_NESTED, (place,))
            meanings = {"parent": "parent", "child": "child", **section.resource.meanings}
            for kind, meaning in meanings.items():
                if meaning in ("parent", "child"):
                    pair = "code, value" if meaning == "parent" else "value, code"
                    self._db.execute(_TOLD.format(pair), (place, kind, section.system))

    def _new_section(self, resource: _Resource, part: str, line: int) -> int:
        self._sections.append(_Section(resource, part, line))
        return len(self._sections) - 1

    def _report(self, line: int, problem: str, expected: str) -> None:
        report(self._path, line, problem, expected, self._bad_lines)


def _names(said: dict[str, Any], lang: str, source: str) -> tuple[Name, ...]:
    names = [(said["display"], "", "PT")] if said["display"] else []
    return tuple(
        Name(text, _language(own or lang), source, tty) for text, own, tty in names + said["others"]
    )


def _designation(one: dict[str, Any]) -> tuple[str, str, str]:
    text = _text(one, "value").strip()
    if not text:
        raise FieldError("an empty designation", 'a designation with "value"')
    use = one.get("use")
    code = _text(use, "code").strip() if isinstance(use, dict) else ""
    return text, _text(one, "language"), _USES.get(code, code)


def _property(one: dict[str, Any]) -> _Property:
    kind = identifier(_text(one, "code"), "code of a property")
    coding = one.get("valueCoding")
    if "valueCode" in one or isinstance(coding, dict):
        given = coding if isinstance(coding, dict) else {"code": one["valueCode"]}
        value = _text(given, "code").strip()
        return kind, value, bool(value), _plain(given.get("system"))
    return kind, "true" if one.get("valueBoolean") is True else "", False, ""


def _meanings(declared: Any) -> dict[str, str]:
    """Map a code system's own properties to the FHIR properties that they stand for."""
    found = declared if isinstance(declared, list) else []
    return {
        str(one.get("code")): _plain(one["uri"]).removeprefix(_MEANINGS)
        for one in found
        if isinstance(one, dict) and _plain(one.get("uri")).startswith(_MEANINGS)
    }


def _is_gone(kind: str, value: str) -> bool:
    return (kind, value) == ("inactive", "true") or (kind == "status" and value in _GONE)


def _related(properties: list[_Property], own: str, prefix: str) -> Iterator[tuple[str, str]]:
    """List the ids that properties lead to, without those of the hierarchy.

    own, prefix (str): the concept's code system, and what stands before codes of it.
    """
    return (
        (kind, (prefix if _is_own(system, own) else f"{vocabulary_of(system)}:") + value)
        for kind, value, is_code, system in properties
        if is_code and kind not in ("parent", "child", "status")
    )


def _is_own(system: str, own: str) -> bool:
    """Tell whether a code is of a concept's own code system, which may have no address."""
    if system in ("", own) or ":" not in own:
        return True
    return vocabulary_of(system) == vocabulary_of(own)


def _language(code: str) -> str:
    return iso_639_1(re.split("[-_]", code.strip())[0])


def _plain(value: Any) -> str:
    """Return a value that is a text to be used as a name; "" for any other value."""
    return value.strip() if isinstance(value, str) and value.isprintable() else ""


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f'"{name}" is not a string', f'"{name}" as text')
    storable(value)
    return value


def _objects(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise FieldError(f'"{name}" is not a list of objects', f'"{name}" as FHIR has it')
    return found
