"""FHIR's ConceptMap: mappings of codes, for `--maps`; of any file that `fhir_files` opens."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.code_systems import vocabulary_of
from ..kb.readers.fields import FieldError, identifier
from ..kb.readers.lines import report
from ..kb.readers.xrefs import code_of
from ..kb.vocabularies import canonical, is_known
from ..types import BadLines
from .fhir_files import documents
from .json_stream import JsonStream

# What the target is to the source: `equivalence` of R4, then `relationship` of R5.
_RELATIONS = {
    "equivalent": "exact", "equal": "exact", "wider": "broader", "subsumes": "broader",
    "narrower": "narrower", "specializes": "narrower", "inexact": "related",
    "relatedto": "related", "unmatched": "", "disjoint": "",
    "source-is-narrower-than-target": "broader", "source-is-broader-than-target": "narrower",
    "related-to": "related", "not-related-to": "",
}  # fmt: skip


class CodeMapping(NamedTuple):
    """A mapping: two codes with their vocabularies; relation: of the target to the source."""

    line: int
    source: tuple[str, str]
    target: tuple[str, str]
    relation: str
    note: str = ""


def read_concept_maps(path: Path, bad_lines: BadLines) -> Iterator[CodeMapping]:
    """Stream the mappings of a ConceptMap, or of those in a Bundle or package.

    RAISES (MedlinkError): E105 for an element that is no mapping, unless `bad_lines` collects it;
        E160 without a ConceptMap; as `fhir_files.documents`.
    """
    types = set[object]()
    for shown, file in documents(path):
        with JsonStream(shown, file) as stream:
            if stream.is_next("{"):
                yield from _resource(stream, bad_lines, types)
            else:
                stream.skip()
            stream.finish()
    if "ConceptMap" not in types:
        raise Errors.wrong_file(
            path=path, what="a mapping set", problem="it has no ConceptMap",
            expected="mappings as a table (SSSOM), or a ConceptMap of FHIR",
        )  # fmt: skip


def _resource(stream: JsonStream, bad_lines: BadLines, types: set[object]) -> Iterator[CodeMapping]:
    for key in stream.items():
        if key == "resourceType":
            types.add(str(stream.value()))
        elif key == "group" and stream.is_next("["):
            for _ in stream.elements():
                yield from _group(stream, bad_lines)
        elif key == "entry" and stream.is_next("["):
            for _ in stream.elements():
                for part in stream.items():
                    if part == "resource" and stream.is_next("{"):
                        yield from _resource(stream, bad_lines, types)
                    else:
                        stream.skip()
        else:
            stream.skip()


def _group(stream: JsonStream, bad_lines: BadLines) -> Iterator[CodeMapping]:
    """Read a group, whose vocabularies may come after its elements."""
    systems, elements = dict[str, str](), list[tuple[int, object]]()
    for key in stream.items():
        if key == "element" and stream.is_next("["):
            elements += ((line, stream.value()) for line in stream.elements())
        elif key in ("source", "target"):
            systems[key] = vocabulary_of(str(stream.value()).partition("|")[0])
        else:
            stream.skip()
    for line, element in elements:
        try:
            yield from _mappings(line, element, systems)
        except FieldError as error:
            report(stream.path, line, error.problem, error.expected, bad_lines)


def _mappings(line: int, element: object, systems: dict[str, str]) -> Iterator[CodeMapping]:
    data = _object(element)
    targets = data.get("target") or []
    for target in map(_object, targets if isinstance(targets, list) else [targets]):
        said = str(target.get("equivalence", target.get("relationship", "")))
        if said not in _RELATIONS:
            raise FieldError(f"the relation {said[:60]!a}", "an equivalence of FHIR")
        if _RELATIONS[said] and "code" in target:
            source, aim = _code(data, systems, "source"), _code(target, systems, "target")
            yield CodeMapping(line, source, aim, _RELATIONS[said], str(target.get("comment", "")))


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise FieldError("an element that is no object", 'an object with "code"')
    return value


def _code(data: dict[str, object], systems: dict[str, str], side: str) -> tuple[str, str]:
    """Get a code with its vocabulary, which some systems write before it ("HP:0001945")."""
    if not systems.get(side):
        raise FieldError(f"a group without its {side}", f'"{side}": the address of a code system')
    code = identifier(str(data.get("code", "")), "code")
    whole = code_of(code) if is_known(code.partition(":")[0]) else None
    return whole or (canonical(systems[side]), code)
