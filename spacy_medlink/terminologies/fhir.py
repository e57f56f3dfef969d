"""FHIR: code systems, value sets, and bundles and packages of them, in JSON or XML."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..errors import Errors, Warnings
from ..kb.code_systems import vocabulary_of
from ..kb.readers.fields import FieldError, identifier, sound, storable
from ..kb.readers.lines import report
from ..kb.scratch import scratch
from ..kb.vocabularies import iso_639_1
from ..types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from ..util.telling import tell
from .fhir_files import PACKAGE, documents, is_package
from .json_stream import JsonStream

_TABLES = """
CREATE TABLE concept (
    number INTEGER PRIMARY KEY, section INTEGER, parent INTEGER, line INTEGER, code TEXT,
    system TEXT, data TEXT
);
CREATE TABLE property (
    section INTEGER, name TEXT, concept INTEGER, value TEXT, is_code INTEGER, system TEXT
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
    " ON number = property.concept WHERE property.section = ? AND property.name = ?"
    " AND is_own(property.system, coalesce(nullif(concept.system, ''), ?)) ORDER BY property.rowid"
)
_INDICES = (
    "CREATE INDEX property_concept ON property (concept)",
    "CREATE INDEX property_kind ON property (section, name)",
    "CREATE INDEX above_child ON above (section, child)",
)
_OUT = " AND code IN (SELECT code FROM concept WHERE section = ?)"
_CONCEPTS = "SELECT number, section, code, system, data FROM concept ORDER BY number"
_PROPERTIES = "SELECT name, value, is_code, system FROM property WHERE concept = ? ORDER BY rowid"
_PARENTS = "SELECT parent FROM above WHERE section = ? AND child = ? ORDER BY rowid"
_RESOURCES = ("CodeSystem", "ValueSet", "Bundle")
_HEADER = (
    "resourceType", "url", "name", "language", "supplements", "hierarchyMeaning", "content",
)  # fmt: skip
_INCOMPLETE = frozenset({"not-present", "fragment", "example"})
_OWN = ("code", "display", "definition", "designation", "property", "system", "inactive")
_SHOWN = 20  # types of resources in a warning
_DEEPEST = 100  # levels of concepts in concepts
_MEANINGS = "http://hl7.org/fhir/concept-properties#"
_GONE = frozenset({("inactive", "true"), ("status", "retired"), ("status", "inactive")})
# The use of a designation, by the codes of SNOMED CT and of FHIR's own code system.
_USES = {"900000000000003001": "FSN", "900000000000013009": "SY", "display": "PT", "": "SY"}
_Part = TypeVar("_Part")


class _Property(NamedTuple):
    """A property of a concept. is_code (bool): the value is a concept's code. system (str): its."""

    name: str
    value: str
    is_code: bool = False
    system: str = ""


@dataclass
class _Resource:
    """The header fields of a resource, in any order. expanded (bool): it has an expansion."""

    path: Path
    header: dict[str, str] = field(default_factory=dict)
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
        return self.resource.header.get("resourceType") == of and not (
            is_composed and self.resource.expanded
        )


def read(path: Path, bad_lines: BadLines = None, *, lang: str = "en") -> Iterator[Record]:
    """Stream the concepts of CodeSystems and ValueSets, inactive ones as retired ids.

    The id is the code, with the name of its code system before it ("ICD10GM:E11") where the file
    has several. Names are the display ("PT") and the designations, with their use as term type.
    Nested concepts and the properties "parent" and "child" make the hierarchy, or "part_of" where
    the code system says so; other properties with codes become relations. A code of a system that
    is not the concept's own has its name before it. A value set is read from its expansion, or from
    the codes that `compose` lists, without those that it excludes. What a filter or another value
    set chooses, and the rest of an incomplete expansion, are bad lines, unless the file has the
    code system or the value set. A warning counts the resources of other types, and those within
    resources (`contained`), by type. A concept without any name has none here either; the builder
    counts it. Concepts pass through a temporary file; the whole file is never in memory.

    path (Path): a resource or a Bundle, `.json`, `.xml`, each also `.gz`; a directory of them, or a
        package (`.tgz`), which are read as a Bundle is. lang (str): language of names for which
        neither resource nor designation has a language.
    RAISES (MedlinkError): E105 for a bad concept, unless `bad_lines` collects it; always E105 where
        the file is not JSON or XML; E160 where no code system comes with its codes.
    """
    with scratch(_TABLES) as db:
        spool = _Spool(db, path, bad_lines)
        spool.load()
        yield from spool.records(lang)


def release_of(path: Path) -> str:
    """Read the version of the resource or the package, "" for a bundle."""
    for shown, file in documents(path):
        with JsonStream(shown, file) as stream:
            is_asked = shown.name == PACKAGE or not is_package(path)
            for key in stream.items() if is_asked and stream.is_next("{") else ():
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
        self._db, self._source, self._bad_lines = db, path, bad_lines
        self._path = path  # of the file that is being read
        self._sections: list[_Section] = []
        self._count = 0
        self._unread: Counter[str] = Counter()
        self._incomplete: dict[str, str] = {}  # what `content` says of code systems

    def load(self) -> None:
        """Read the files."""
        self._db.execute("BEGIN")
        for path, file in documents(self._source):
            self._path = path
            with JsonStream(path, file) as stream:
                top = _Resource(path)
                if stream.is_next("{"):
                    self._resource(stream, top, is_top=True)
                else:
                    stream.skip()
                stream.finish()
            type = top.header.get("resourceType", "")
            if is_package(self._source):  # whose other resources are not about concepts
                self._unread.update(type for _ in range(type == "ConceptMap"))
            elif type not in _RESOURCES:
                self._report(1, f"the resourceType {type!r:.60}", " or ".join(_RESOURCES))
        if self._unread:
            counts = ", ".join(
                f"{type} {count:,}" for type, count in self._unread.most_common(_SHOWN)
            )
            tell(Warnings.unread_resources.format(path=self._source, counts=counts))
        self._tell_incomplete()
        self._choose()
        self._hierarchy()

    def _tell_incomplete(self) -> None:
        """Say which code systems lack codes. RAISES (MedlinkError): E160 where nothing is left."""
        if not self._incomplete:
            return
        systems = ", ".join(f"{name} ({content})" for name, content in self._incomplete.items())
        if not self._count:
            raise Errors.wrong_file(
                path=self._source, what="a code system with its codes", problem=f"it has {systems}",
                expected="the file that its publisher has the codes in, or what a terminology "
                "server $expands of it",
            )  # fmt: skip
        tell(Warnings.incomplete_systems.format(path=self._source, systems=systems))

    def records(self, lang: str) -> Iterator[Record]:
        """Stream the concepts and retired ids that were read."""
        rows = self._db.execute("SELECT DISTINCT section, system FROM concept").fetchall()
        sections = [(self._sections[section], system) for section, system in rows]
        systems = {system or section.system for section, system in sections if section.counts}
        for row, nth, code, own_system, data in self._db.execute(_CONCEPTS):
            section = self._sections[nth]
            if not section.counts:
                continue
            header = section.resource.header
            system = own_system or section.system
            vocabulary = vocabulary_of(system) or "FHIR"
            prefix = f"{vocabulary}:" if len(systems) > 1 else ""
            properties = [
                _Property(section.resource.meanings.get(name, name), *rest)
                for name, *rest in self._db.execute(_PROPERTIES, (row,))
            ]
            concept = json.loads(data)
            told = {(property.name, property.value) for property in properties}
            if concept["inactive"] or not told.isdisjoint(_GONE):
                yield Retired(prefix + code, "", "inactive")
                continue
            texts = [(concept["display"], "", "PT")] if concept["display"] else []
            names = tuple(
                Name(text, iso_639_1(lang_of or header.get("language") or lang), vocabulary, tty)
                for text, lang_of, tty in texts + concept["others"]
            )
            upward = "part_of" if header.get("hierarchyMeaning") == "part-of" else ISA
            above = dict.fromkeys(up for (up,) in self._db.execute(_PARENTS, (nth, code)))
            related = [
                *((upward, prefix + up) for up in above if up != code),
                *_related(properties, system, prefix),
            ]
            yield Concept(
                prefix + code, names[0].text if names else "", names,
                definition=concept["definition"], codes={vocabulary: (code,)},
                parents=tuple(id for relation, id in related if relation == ISA),
                relations=tuple(Relation(relation, id, vocabulary) for relation, id in related),
            )  # fmt: skip

    def _resource(self, stream: JsonStream, resource: _Resource, is_top: bool = False) -> None:
        start = len(self._sections)
        for key in stream.items():
            if key in _HEADER:
                resource.header[key] = _plain(stream.value())
            elif key == "property":
                resource.meanings = _meanings(stream.value())
            elif key == "entry" and is_top and stream.is_next("["):
                self._entries(stream, resource.path)
            else:
                self._codes(stream, resource, key)
        header = resource.header
        type = header.get("resourceType", "without a type")
        if not is_top and type not in _RESOURCES[:2]:
            self._unread[type] += 1
        if header.get("content") in _INCOMPLETE:
            name = header.get("name") or header.get("url", "")
            self._incomplete[name] = header["content"]
        extended = header.get("supplements", "").partition("|")[0]
        for section in self._sections[start:]:
            if section.resource is resource and section.part == "concept":
                section.system = extended or header.get("url") or header.get("name", "")

    def _entries(self, stream: JsonStream, path: Path) -> None:
        for _ in stream.elements():
            for part in stream.items():
                if part == "resource" and stream.is_next("{"):
                    self._resource(stream, _Resource(path))
                else:
                    stream.skip()

    def _codes(self, stream: JsonStream, resource: _Resource, key: str) -> None:
        """Read a part of a resource that has codes; skip any other."""
        if key == "concept" and stream.is_next("["):
            self._concepts(stream, self._new_section(resource, key, stream.line), key)
        elif key == "compose" and stream.is_next("{"):
            self._compose(stream, resource)
        elif key == "expansion" and stream.is_next("{"):
            self._expansion(stream, resource)
        elif key == "contained" and stream.is_next("["):
            for _ in stream.elements():
                stream.skip()
                self._unread["contained"] += 1
        else:
            stream.skip()

    def _compose(self, stream: JsonStream, resource: _Resource) -> None:
        for key in stream.items():
            if key not in ("include", "exclude") or not stream.is_next("["):
                stream.skip()
                continue
            for line in stream.elements():
                nth, is_listed = self._new_section(resource, key, line), False
                section = self._sections[nth]
                for part in stream.items():
                    if part == "concept" and stream.is_next("["):
                        self._concepts(stream, nth, part)
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
        nth = self._new_section(resource, "expansion", stream.line)
        before, total = self._count, None
        for key in stream.items():
            if key == "contains" and stream.is_next("["):
                self._concepts(stream, nth, key)
            elif key == "total":
                total = stream.value()
            else:
                stream.skip()
        count = self._count - before
        if isinstance(total, int) and count < total:
            self._sections[nth].by.append(f"{count:,} of {total:,} codes")

    def _choose(self) -> None:
        """Remove what value sets exclude, and report what they do not list."""
        held = {each.system for each in self._sections if each.part == "concept"}
        urls = {
            each.resource.header.get("url") for each in self._sections if each.part == "include"
        }
        for nth, section in enumerate(self._sections):
            if section.part == "exclude" and section.counts:
                self._exclude(nth, section)
                is_whole = section.by in ([], ["system"])
            else:
                sets = {address.partition("|")[0] for address in section.sets}
                is_here = sets <= urls if sets else section.system in held
                is_whole = not section.by or (section.part == "include" and is_here)
            if section.counts and not is_whole:
                problem = (
                    f"an {section.part} ({', '.join(section.by)}) that does not list its codes"
                )
                expected = "all codes: let a terminology server $expand the value set"
                report(section.resource.path, section.line, problem, expected, self._bad_lines)

    def _exclude(self, nth: int, section: _Section) -> None:
        listed = "" if "system" in section.by else _OUT
        for other, included in enumerate(self._sections):
            fits = included.resource is section.resource and included.system == section.system
            if fits and included.part == "include":
                values = (other, nth) if listed else (other,)
                self._db.execute("DELETE FROM concept WHERE section = ?" + listed, values)
        self._db.execute("DELETE FROM concept WHERE section = ?", (nth,))

    def _concepts(
        self, stream: JsonStream, nth: int, nested: str, parent: int = 0, depth: int = 0
    ) -> None:
        if depth > _DEEPEST:
            raise stream.error("concepts in concepts without end", f"{_DEEPEST} levels at most")
        for line in stream.elements():
            self._count += 1
            row, data = self._count, dict[str, object]()
            if not stream.is_next("{"):
                stream.skip()
                self._report(line, "a concept that is not an object", 'an object with "code"')
                continue
            for key in stream.items():
                if key == nested and stream.is_next("["):
                    self._concepts(stream, nth, nested, row, depth + 1)
                elif key in _OWN:
                    data[key] = stream.value()
                else:
                    stream.skip()
            # An entry of an expansion without a code only groups other entries.
            if "code" in data or self._sections[nth].part != "expansion":
                try:
                    self._store(row, nth, parent, line, data)
                except FieldError as error:
                    self._report(line, error.problem, error.expected)

    def _store(
        self, concept_row: int, nth: int, parent: int, line: int, data: dict[str, object]
    ) -> None:
        code = identifier(_text(data, "code"), "code")
        concept = {
            "display": self._whole_text(line, data, "display").strip(),
            "definition": self._whole_text(line, data, "definition"),
            "others": self._parts(line, data, "designation", _designation),
            "inactive": data.get("inactive") is True,
        }
        properties = self._parts(line, data, "property", _property)
        system = _plain(data.get("system"))
        row = (concept_row, nth, parent, line, code, system, json.dumps(concept))
        self._db.execute("INSERT INTO concept VALUES (?,?,?,?,?,?,?)", row)
        rows = [(nth, name, concept_row, *rest) for name, *rest in properties if rest[0]]
        self._db.executemany("INSERT INTO property VALUES (?,?,?,?,?,?)", rows)

    def _parts(
        self,
        line: int,
        data: dict[str, object],
        name: str,
        read: Callable[[dict[str, object]], _Part],
    ) -> list[_Part]:
        """Read the parts of a concept that can be read, and report the others."""
        given = data.get(name) or []
        if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
            problem = f'"{name}" is not a list of objects'
            self._report(line, problem, f'"{name}" as FHIR has it')
            return []
        parts = ((line, part) for part in given)
        return [part for _, part in sound(self._path, parts, read, self._bad_lines)]

    def _whole_text(self, line: int, data: dict[str, object], name: str) -> str:
        texts = sound(self._path, [(line, name)], partial(_text, data), self._bad_lines)
        return next((text for _, text in texts), "")

    def _hierarchy(self) -> None:
        self._db.create_function("is_own", 2, _is_own, deterministic=True)
        for index in _INDICES:
            self._db.execute(index)
        for nth, section in enumerate(self._sections):
            if section.part != "expansion":  # nesting in an expansion is for display only
                self._db.execute(_NESTED, (nth,))
            meanings = {"parent": "parent", "child": "child", **section.resource.meanings}
            for name, meaning in meanings.items():
                if meaning in ("parent", "child"):
                    pair = "code, value" if meaning == "parent" else "value, code"
                    self._db.execute(_TOLD.format(pair), (nth, name, section.system))

    def _new_section(self, resource: _Resource, part: str, line: int) -> int:
        self._sections.append(_Section(resource, part, line))
        return len(self._sections) - 1

    def _report(self, line: int, problem: str, expected: str) -> None:
        report(self._path, line, problem, expected, self._bad_lines)


def _designation(data: dict[str, object]) -> tuple[str, str, str]:
    text = _text(data, "value").strip()
    if not text:
        raise FieldError("an empty designation", 'a designation with "value"')
    use = data.get("use")
    code = _text(use, "code").strip() if isinstance(use, dict) else ""
    return text, _text(data, "language"), _USES.get(code, code)


def _property(data: dict[str, object]) -> _Property:
    name = identifier(_text(data, "code"), "code of a property")
    coding = data.get("valueCoding")
    if "valueCode" in data or isinstance(coding, dict):
        given = coding if isinstance(coding, dict) else {"code": data["valueCode"]}
        code = _text(given, "code").strip()
        return _Property(name, code, bool(code), _plain(given.get("system")))
    return _Property(name, "true" if data.get("valueBoolean") is True else "")


def _meanings(declared: object) -> dict[str, str]:
    """Map a code system's own properties to the FHIR properties that they stand for."""
    return {
        str(each.get("code")): _plain(each["uri"]).removeprefix(_MEANINGS)
        for each in (declared if isinstance(declared, list) else [])
        if isinstance(each, dict) and _plain(each.get("uri")).startswith(_MEANINGS)
    }


def _related(
    properties: list[_Property], own_system: str, prefix: str
) -> Iterator[tuple[str, str]]:
    """List the ids that properties lead to, without those of the hierarchy.

    own_system, prefix (str): the concept's code system, and what stands before codes of it.
    """
    for name, code, is_code, system in properties:
        if is_code and name not in ("parent", "child", "status"):
            before = prefix if _is_own(system, own_system) else f"{vocabulary_of(system)}:"
            yield name, before + code


def _is_own(system: str, own_system: str) -> bool:
    """Tell whether a code is of a concept's own code system, which may have no address."""
    if system in ("", own_system) or ":" not in own_system:
        return True
    return vocabulary_of(system) == vocabulary_of(own_system)


def _plain(value: object) -> str:
    """Return a value that is a text to be used as a name; "" for any other value."""
    return value.strip() if isinstance(value, str) and value.isprintable() else ""


def _text(data: dict[str, object], name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f'"{name}" is not a string', f'"{name}" as text')
    storable(value)
    return value
