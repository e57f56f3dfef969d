"""OBO 1.4: the flat format of HPO, the Disease Ontology, Mondo and other open ontologies."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...types import ISA, BadLine, Concept, Name, Record, Relation, Retired
from .fields import FieldError, identifier, surface
from .lines import numbered_lines, report
from .xrefs import codes_of, maps_of, relation_of_match, skos_match, source_of

_TAG = re.compile(r"([A-Za-z_][\w.\-]*):\s*(.*)")
_QUALIFIER = re.compile(r'"MONDO:(\w+)"')  # of a cross-reference
_MATCH = re.compile(r"(?:skos:)?(\w+Match)\s+(\S+)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(.*)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}
_SCOPES = frozenset({"EXACT", "BROAD", "NARROW", "RELATED"})
# Comments run to the end of the line; a "!" inside an identifier has no space before it. Because of
# the look-behind, a long run of spaces is tried only once, not from each space.
_COMMENT = re.compile(r"(?<!\s)\s+!.*$")
_STANZA = re.compile(r"\[(\w+)\](?:\s*!.*)?")
_STANZAS = frozenset({"Term", "Typedef", "Instance", "Annotation"})


@dataclass
class _Term:
    line: int
    id: str = ""
    name: str = ""
    synonyms: list[Name] = field(default_factory=list)
    definition: str = ""
    xrefs: list[str] = field(default_factory=list)
    matches: list[tuple[str, str]] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    namespace: str = ""
    alt_ids: list[str] = field(default_factory=list)
    obsolete: bool = False
    replaced_by: str = ""


def read(path: Path, bad_lines: list[BadLine] | None = None) -> Iterator[Record]:
    """Stream the live terms of an OBO file as concepts, obsolete and alternative ids as retired.

    Synonyms keep their scope and type as term type ("EXACT", "RELATED layperson"). The namespace
    becomes the type. Cross-references and SKOS matches become codes by vocabulary, exact ones (also
    those that Mondo marks as equivalent) before others. Relationships become relations, with `is_a`
    as "isa". The source of names and relations is the ontology's id, in capitals ("HP").
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it.
    """
    header: dict[str, str] = {}
    term: _Term | None = None
    in_header = True
    for number, line in numbered_lines(path, bad_lines):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        try:
            if text.startswith("["):
                yield from _records(term, path, bad_lines, header)
                in_header, term = False, None
                term = _Term(number) if _stanza(text) == "Term" else None
                continue
            tag, value = _tag(text)
            if in_header:
                _in_header(header, tag, value)
            elif term is not None:
                _apply(term, tag, value)
        except FieldError as error:
            report(path, number, error.problem, error.expected, bad_lines)
    yield from _records(term, path, bad_lines, header)


def release_of(path: Path) -> str:
    """Read the `data-version` of the header, "" when it has none."""
    for _, line in numbered_lines(path, []):
        if line.startswith("["):
            break
        if line.startswith("data-version:"):
            return line.partition(":")[2].strip()
    return ""


def _stanza(text: str) -> str:
    match = _STANZA.fullmatch(text)
    if match is None or match.group(1) not in _STANZAS:
        raise FieldError(f"no such stanza as {text[:60]!r}", "`[Term]` or `[Typedef]`")
    return match.group(1)


def _in_header(header: dict[str, str], tag: str, value: str) -> None:
    if tag == "id":
        raise FieldError(f"the id {value[:60]!r} in the header", "`[Term]` before it")
    header[tag] = value


def _tag(text: str) -> tuple[str, str]:
    match = _TAG.match(text)
    if match is None:
        raise FieldError(f"no tag in {text[:60]!r}", "`tag: value` or `[Term]`")
    return match.group(1), match.group(2).strip()


def _apply(term: _Term, tag: str, value: str) -> None:
    if tag == "id":
        _once(tag, term.id, value)
        term.id = _identifier(value)
    elif tag == "name":
        _once(tag, term.name, value)
        term.name = surface(_unescape(_COMMENT.sub("", value)))
    elif tag == "synonym":
        term.synonyms.append(_synonym(value))
    elif tag in ("exact_synonym", "broad_synonym", "narrow_synonym", "related_synonym"):
        scope = tag.partition("_")[0].upper()
        term.synonyms.append(Name(surface(_quoted(value)[0], tag), "en", "", scope))
    elif tag == "def":
        term.definition = _quoted(value)[0]
    elif tag == "xref":
        term.xrefs.append(_identifier(value))
        if relation := relation_of_match(_QUALIFIER.findall(value)):
            term.matches.append((term.xrefs[-1], relation))
    elif tag == "property_value" and (match := _MATCH.match(value)):
        term.matches += skos_match(match[1], _identifier(match[2]))
    elif tag == "is_a":
        term.relations.append(Relation(ISA, _identifier(value)))
    elif tag == "relationship":
        relation, _, other = value.partition(" ")
        term.relations.append(Relation(identifier(relation, "relation"), _identifier(other)))
    elif tag == "alt_id":
        term.alt_ids.append(_identifier(value))
    elif tag == "is_obsolete":
        term.obsolete = value.startswith("true")
    elif tag == "replaced_by":
        term.replaced_by = term.replaced_by or _identifier(value)
    elif tag == "namespace":
        term.namespace = value


def _records(
    term: _Term | None, path: Path, bad_lines: list[BadLine] | None, header: dict[str, str]
) -> Iterator[Record]:
    if term is None:
        return
    if not term.id:
        report(path, term.line, "a term without id", "`id: ...` below [Term]", bad_lines)
        return
    if term.obsolete:
        yield Retired(term.id, term.replaced_by, "obsolete")
        return
    if not term.name:
        report(path, term.line, f"term {term.id} without name", "`name: ...`", bad_lines)
        return
    kind = term.namespace or header.get("default-namespace", "")
    source = source_of(_COMMENT.sub("", header.get("ontology", "")), term.id, path)
    yield Concept(
        id=term.id,
        name=term.name,
        names=(
            Name(term.name, "en", source, "PT"),
            *(name._replace(source=source) for name in term.synonyms),
        ),
        types=(kind,) if kind else (),
        definition=term.definition,
        codes=codes_of(term.xrefs, term.matches),
        maps=maps_of(term.matches, source),
        parents=tuple(one.id for one in term.relations if one.relation == ISA),
        relations=tuple(one._replace(source=source) for one in term.relations),
    )
    for alternative in term.alt_ids:
        yield Retired(alternative, term.id, "merged")


def _synonym(value: str) -> Name:
    text, rest = _quoted(value)
    words = rest.partition("[")[0].split()
    scope = words[0] if words and words[0] in _SCOPES else "RELATED"
    kind = " ".join(words[1:2] if words and words[0] in _SCOPES else words[:1])
    tty = f"{scope} {kind}".strip()
    return Name(surface(text, "synonym"), "en", "", tty, kind == "obsolete_synonym")


def _once(tag: str, known: str, value: str) -> None:
    if known:
        raise FieldError(
            f"a second {tag} {value[:60]!r} in term {known[:60]!r}", "`[Term]` before it"
        )


def _identifier(value: str) -> str:
    words = _COMMENT.sub("", value).split(maxsplit=1)
    return identifier(_unescape(words[0]) if words else "", "identifier")


def _quoted(value: str) -> tuple[str, str]:
    match = _QUOTED.match(value)
    if match is None:
        raise FieldError(f"no quoted text in {value[:60]!r}", 'text in double quotes: "..."')
    return _unescape(match.group(1)), match.group(2)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), text).strip()
