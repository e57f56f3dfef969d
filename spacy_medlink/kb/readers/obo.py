"""OBO 1.4: the flat format of HPO, the Disease Ontology, Mondo and other open ontologies."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from .fields import FieldError, identifier, surface
from .lines import numbered_lines, report
from .xrefs import CrossReferences, compact, maps_of, relation_of_match, source_of

_TAG = re.compile(r"([A-Za-z_][\w.\-]*):\s*(.*)")
_MONDO = re.compile(r'"MONDO:(\w+)"')  # in the qualifiers of a cross-reference
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Behind a quoted text: scope and type, or a datatype; then sources, qualifiers or a comment.
_BEHIND = re.compile(r'((?:\s+[^\s\["{!]+){0,2})\s*(?:[\[{!]|$)')
_XREF = re.compile(r'((?:\S+:\s+(?=[^\s"]))?(?:[^\s\\]|\\.)*)(?:\s*["{].*)?')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}
_SCOPES = frozenset({"EXACT", "BROAD", "NARROW", "RELATED"})
_SYNONYMS = frozenset({"synonym", *(f"{scope.lower()}_synonym" for scope in _SCOPES)})
# Qualifiers, then a comment. Comments run to the end of the line; a "!" inside an identifier has no
# space before it. Because of the look-behind, a long run of spaces is tried only once, not from
# each space.
_QUALIFIER = r'[^\s{}="]+=(?:"(?:[^"\\]|\\.)*"|[^\s"{},]*)'
_TRAILER = re.compile(
    rf"(?<!\s)(?:(?:\s+|(?<!\\))\{{(?:\s*{_QUALIFIER}\s*(?:,|(?=\}})))*\}})?(?:(?:^|\s+)!.*)?$"
)
# Qualifiers of relations that need not hold of anything; in OWL these are no "some values from".
_MAY_BE_NONE = re.compile(r'(?:\bcardinality|minCardinality)="?0|maxCardinality=|all_only="?true')
_SOME = re.compile(r'all_some="?true|minCardinality="?[1-9]')
_STANZA = re.compile(r"\[(\w+)\](?:\s*!.*)?")
_STANZAS = frozenset({"Term", "Typedef", "Instance", "Annotation"})
# Term types of the names that a property has.
_NAMES = {
    "IAO:0000118": "SY", "alternative_term": "SY", "altLabel": "SY", "hiddenLabel": "HIDDEN",
}  # fmt: skip
_MATCH = re.compile(r"(?:exact|close|broad|narrow|related)Match|equivalentClass")
_OBSOLETE = ("oboInOwl:ObsoleteClass", "oboInOwl#ObsoleteClass")
_SUCCESSOR = "IAO:0100001"
_LAST_PART = re.compile(r".*[:/#]")


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


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the live terms of an OBO file as concepts, obsolete and alternative ids as retired.

    Synonyms keep their scope and type as term type ("EXACT", "RELATED layperson"); other names are
    "SY" or "HIDDEN". The namespace becomes the type. Cross-references, equivalent terms and SKOS
    matches become codes by vocabulary, exact ones (also those that Mondo marks as equivalent)
    before others. Relationships and the parts of a definition (`intersection_of`) become relations
    with the name of their Typedef, with underscores ("part_of"), and `is_a` as "isa"; those that
    need not hold of anything (`all_only`) are passed over. The source of
    names and relations is the ontology's id, in capitals ("HP"). Terms of which nothing but
    relations is said are passed over. A warning counts cross-references without a vocabulary.
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it.
    """
    relations, xrefs = _relation_names(path), CrossReferences()
    header: dict[str, str] = {}
    term: _Term | None = None
    in_header = True
    for line_number, line in numbered_lines(path, bad_lines):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        try:
            if text.startswith("["):
                yield from _records(term, path, bad_lines, header, xrefs)
                in_header, term = False, None
                term = _Term(line_number) if _stanza(text) == "Term" else None
                continue
            match = _TAG.match(text)
            if match is None:
                raise FieldError(f"no tag in {text[:60]!r}", "`tag: value` or `[Term]`")
            tag, value = match[1], match[2].strip()
            if in_header and tag == "id":
                raise FieldError(f"the id {value[:60]!r} in the header", "`[Term]` before it")
            if term is not None and term.id and tag == "id":
                # The lines up to the next stanza are of a term of its own, and not of this one.
                earlier, problem = term, f"a second id {value[:60]!r} in term {term.id[:60]!r}"
                term = None
                yield from _records(earlier, path, bad_lines, header, xrefs)
                raise FieldError(problem, "`[Term]` before it")
            if in_header:
                header[tag] = _plain(value)
            elif term is not None:
                _apply(term, tag, value, relations)
        except FieldError as error:
            report(path, line_number, error.problem, error.expected, bad_lines)
    yield from _records(term, path, bad_lines, header, xrefs)
    xrefs.tell_left_out(path)


def release_of(path: Path) -> str:
    """Read the `data-version` of the header, "" when it has none."""
    for _, line in numbered_lines(path, []):
        if line.startswith("["):
            break
        if line.startswith("data-version:"):
            return _plain(line.partition(":")[2])
    return ""


def _relation_names(path: Path) -> dict[str, str]:
    """Read what the Typedefs, which come last, call the relations: by their ids and xrefs."""
    by_id: dict[str, str] = {}
    by_xref: dict[str, str] = {}
    typedef: dict[str, list[str]] | None = None
    for _, line in chain(numbered_lines(path, []), [(0, "[")]):
        tag, _, value = line.strip().partition(":")
        if not tag.startswith("["):
            if typedef is not None:
                typedef.setdefault(tag, []).append(_plain(value))
            continue
        if typedef and "name" in typedef:
            name = "_".join(typedef["name"][0].split())
            by_id.update(dict.fromkeys(map(compact, typedef.get("id", ())), name))
            by_xref.update(dict.fromkeys(map(compact, typedef.get("xref", ())), name))
        typedef = {} if tag.startswith("[Typedef]") else None
    return {**by_xref, **by_id}


def _stanza(text: str) -> str:
    match = _STANZA.fullmatch(text)
    if match is None or match.group(1) not in _STANZAS:
        raise FieldError(f"no such stanza as {text[:60]!r}", "`[Term]` or `[Typedef]`")
    return match.group(1)


def _apply(term: _Term, tag: str, value: str, relations: dict[str, str]) -> None:
    """Read a tag into a term; tags that say nothing of names, codes or parents are passed over."""
    if tag in _SYNONYMS:
        term.synonyms.append(_synonym(tag, value))
    elif tag in _RELATIONS:
        if tag == "is_a" or _SOME.search(value) or not _MAY_BE_NONE.search(value):
            term.relations.append(_relation(tag, _words(value), relations))
    elif tag in _FIRST:
        name, read = _FIRST[tag]
        setattr(term, name, getattr(term, name) or read(value))
    elif tag in _READ:
        _READ[tag](term, value)


def _set_name(term: _Term, value: str) -> None:
    if term.name:
        problem = f"a second name {value[:60]!r} in term {term.name[:60]!r}"
        raise FieldError(problem, "one name a term")
    term.name = surface(_plain(value))


def _add_xref(term: _Term, value: str) -> None:
    match = _XREF.fullmatch(_TRAILER.sub("", value))
    if match is None:
        raise FieldError(f"white space inside {value[:60]!r}", "an id, then a quoted text")
    term.xrefs.append(identifier(_unescape(match[1]), "cross-reference"))
    relation = relation_of_match(_MONDO.findall(value))
    term.matches += [(term.xrefs[-1], relation)] if relation else []


def _add_property(term: _Term, value: str) -> None:
    _property(term, *(*value.split(maxsplit=1), "", "")[:2])


def _add_equal(term: _Term, value: str) -> None:
    term.matches.append((_identifier(value), "exact"))


def _add_alternative(term: _Term, value: str) -> None:
    term.alt_ids.append(_identifier(value))


def _set_obsolete(term: _Term, value: str) -> None:
    term.obsolete = term.obsolete or value.startswith("true")


_RELATIONS = frozenset({"is_a", "relationship", "intersection_of"})
# Of these tags the first one counts.
_FIRST: dict[str, tuple[str, Callable[[str], str]]] = {
    "id": ("id", lambda value: _identifier(value)),
    "def": ("definition", lambda value: _quoted(value)[0]),
    "replaced_by": ("replaced_by", lambda value: _identifier(value)),
    "namespace": ("namespace", lambda value: _plain(value)),
}
_READ: dict[str, Callable[[_Term, str], None]] = {
    "name": _set_name, "xref": _add_xref, "property_value": _add_property,
    "equivalent_to": _add_equal, "alt_id": _add_alternative, "is_obsolete": _set_obsolete,
}  # fmt: skip


def _property(term: _Term, property: str, value: str) -> None:
    """Read the properties that hold a name, a match or a successor; others are passed over."""
    property = compact(_unescape(property))
    word = property if property in _NAMES else _LAST_PART.sub("", property)
    if word == "deprecated":
        term.obsolete = term.obsolete or value.strip('"').startswith("true")
    elif property == _SUCCESSOR:
        term.replaced_by = term.replaced_by or _target(value)
    elif word in _NAMES:
        term.synonyms.append(Name(surface(_quoted(value)[0]), "en", "", _NAMES[word]))
    elif _MATCH.fullmatch(word):
        term.matches.append((_target(value), relation_of_match([word])))


def _target(value: str) -> str:
    """Read the concept that a property leads to: quoted, as an address, or as an id."""
    target = _quoted(value)[0] if value.startswith('"') else (_words(value) or [""])[0]
    return _id(target.strip("<>"))


def _relation(tag: str, words: list[str], names: dict[str, str]) -> Relation:
    """Make a relation of the words behind a tag; a definition has a term alone for its genus."""
    if tag == "is_a" or (tag == "intersection_of" and len(words) == 1):
        return Relation(ISA, _id((*words, "")[0]))
    relation, other = (*words, "", "")[:2]
    relation = compact(relation)
    name = names.get(relation, relation)
    name = ISA if "is_a" in (relation, name) else identifier(name, "relation")
    return Relation(name, _id(other))


def _records(
    term: _Term | None,
    path: Path,
    bad_lines: BadLines,
    header: dict[str, str],
    xrefs: CrossReferences,
) -> Iterator[Record]:
    if term is None or term.id.endswith(_OBSOLETE):
        return
    if not term.id:
        report(path, term.line, "a term without id", "`id: ...` below [Term]", bad_lines)
        return
    relations = tuple(dict.fromkeys(term.relations))
    parents = tuple(relation.id for relation in relations if relation.relation == ISA)
    if term.obsolete or any(id.endswith(_OBSOLETE) for id in parents):
        yield Retired(term.id, term.replaced_by, "obsolete")
        return
    spelled = term.name or next((name.text for name in term.synonyms), "")
    if not spelled:
        if term.definition:
            report(path, term.line, f"term {term.id} without name", "`name: ...`", bad_lines)
        return
    namespace = term.namespace or header.get("default-namespace", "")
    source = source_of(header.get("ontology", ""), term.id, path)
    preferred = [Name(term.name, "en", "", "PT")] if term.name else []
    yield Concept(
        id=term.id,
        name=spelled,
        names=tuple(name._replace(source=source) for name in (*preferred, *term.synonyms)),
        types=(namespace,) if namespace else (),
        definition=term.definition,
        codes=xrefs.codes_of(term.xrefs, term.matches),
        maps=maps_of(term.matches, source),
        parents=parents,
        relations=tuple(relation._replace(source=source) for relation in relations),
    )
    for alternative in term.alt_ids:
        yield Retired(alternative, term.id, "merged")


def _synonym(tag: str, value: str) -> Name:
    """Make a name of a `synonym`, or of an `exact_synonym` and the like, as OBO 1.0 has them."""
    text, words = _quoted(value)
    if tag != "synonym":
        return Name(surface(text, tag), "en", "", tag.partition("_")[0].upper())
    scope, *rest = words if words and words[0] in _SCOPES else ("RELATED", *words)
    synonym_type = " ".join(rest[:1])
    tty = f"{scope} {synonym_type}".strip()
    return Name(surface(text, "synonym"), "en", "", tty, synonym_type == "obsolete_synonym")


def _identifier(value: str) -> str:
    return _id((_words(value) or [""])[0])


def _id(word: str) -> str:
    """Check an id, and shorten the address that some files have for it."""
    return compact(identifier(word, "identifier"))


def _words(value: str) -> list[str]:
    return [_unescape(word) for word in _TRAILER.sub("", value).split()]


def _plain(value: str) -> str:
    """Return a value without quotation marks, and without its qualifiers and comment."""
    return _unescape(_TRAILER.sub("", value.strip()))


def _quoted(value: str) -> tuple[str, list[str]]:
    """Return a text in quotation marks, and the words behind it (scope and type)."""
    match = _QUOTED.match(value)
    if match is None:
        raise FieldError(f"no quoted text in {value[:60]!r}", 'text in double quotes: "..."')
    rest = value[match.end() :]
    behind = _BEHIND.match(rest)
    # The quotation marks of sources and qualifiers come in pairs, those of a comment may not.
    if behind is None or '"' in _QUOTED.sub("", rest).partition(" !")[0]:
        raise FieldError(f"a quotation mark inside {value[:60]!r}", 'a backslash before it: \\"')
    return _unescape(match[1]), behind[1].split()


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), text).strip()
