"""Mappings as files: tables for spreadsheets and Usagi, OMOP, FHIR and SSSOM."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...errors import Errors, MedlinkError
from ...kb import KnowledgeBase
from ...kb.code_systems import coded, system_of, vocabulary_of_id
from ...kb.sssom import COLUMNS, KIND, curie, predicate_of
from ...util.outputs import FileKind, marked
from ...util.spreadsheets import escaped
from .codes import NARROWER
from .mapper import Mapping, Target
from .parts import BROADER, EXACT
from .parts import COLUMNS as ASIDE
from .reviewed import EQUIVALENCES, OWN, USAGI
from .tables import Problems, read_table
from .terms import Term

_OMOP = "OMOP"
_OMOP_COLUMNS = (
    "source_code", "source_concept_id", "source_vocabulary_id", "source_code_description",
    "target_concept_id", "target_vocabulary_id", "valid_start_date", "valid_end_date",
    "invalid_reason",
)  # fmt: skip
# Largest lengths of texts in the tables of OMOP.
_CODE, _VOCABULARY, _DESCRIPTION = 50, 20, 255
_BY = "Made by medlink map (spacy-medlink)"
_EQUIVALENCES = {EXACT: "equivalent", BROADER: "wider", NARROWER: "narrower"}
_CANDIDATE = ("id", "name", "match", "probability")


class Facts(NamedTuple):
    """The data that writers need beside the mappings.

    kb (KnowledgeBase): of the targets. vocabulary (str): of the terms' codes, or a name for them.
    context (Sequence[str]): context columns. extra (Sequence[str]): columns of reviewers.
    k (int): candidates of a term.
    """

    kb: KnowledgeBase
    vocabulary: str
    context: Sequence[str] = ()
    extra: Sequence[str] = ()
    k: int = 5


Row = tuple[Sequence[str], Sequence[tuple[str, str]]]
Write = Callable[[IO[str], Iterable[Mapping], Facts], None]


class Format(NamedTuple):
    """A format of mappings.

    kind (FileKind): of its files. has_status (bool): whether the files hold reviewers' decisions.
    needs_omop (bool): whether targets must have ids of OMOP's vocabularies.
    """

    kind: FileKind
    write: Write
    has_status: bool = False
    needs_omop: bool = False


def write_own(file: IO[str], mappings: Iterable[Mapping], facts: Facts) -> None:
    """Write a table for spreadsheets: a row for each target, with what was set aside."""
    header = [
        *list(OWN)[:3], *(f"context:{column}" for column in facts.context), *list(OWN)[3:],
        *(f"aside_{column}" for column in ASIDE),
        *(f"candidate_{n}_{what}" for n in range(1, facts.k + 1) for what in _CANDIDATE),
    ]  # fmt: skip
    rows = ((_own_cells(mapping, target), mapping.extra) for mapping, target in _pairs(mappings))
    _write_table(file, header, rows, facts.extra)


def _own_cells(mapping: Mapping, target: Target) -> list[str]:
    term = mapping.term
    return [
        term.code, term.name, term.frequency, *term.context, mapping.status, target.match,
        target.id, target.name, target.matched, _number(target.prob), _number(target.score),
        mapping.comment, *(mapping.aside.get(column, "") for column in ASIDE),
        *chain.from_iterable((target.id, target.name, target.match, _number(target.prob))
                             for target in mapping.others),
    ]  # fmt: skip


def write_usagi(file: IO[str], mappings: Iterable[Mapping], facts: Facts) -> None:
    """Write a file in Usagi's format: a row for each target."""
    context = (f"ADD_INFO:{column}" for column in facts.context)
    header = [*list(USAGI)[:4], *context, *list(USAGI)[4:]]
    rows = ((_usagi_cells(*pair, facts.kb), pair[0].extra) for pair in _pairs(mappings))
    _write_table(file, header, rows, facts.extra)


def _usagi_cells(mapping: Mapping, target: Target, kb: KnowledgeBase) -> list[str]:
    term, score = mapping.term, target.score if target.prob is None else target.prob
    whole, _, rest = term.frequency.partition(".")  # a workbook may show 3 as 3.00
    frequency = whole if whole.isdecimal() and not rest.strip("0") else "0"
    domain = next(iter(kb[target.id].types), "") if target.id in kb else ""
    return [
        term.code, term.name, frequency, "", *term.context, _number(score) or "0", mapping.status,
        EQUIVALENCES.get(target.match, "UNREVIEWED"), "", "0", _omop_id(kb, target), target.name,
        domain, "MAPS_TO", mapping.comment, "medlink" if target.id else "", "0", "",
    ]  # fmt: skip


def write_omop(file: IO[str], mappings: Iterable[Mapping], facts: Facts) -> None:
    """Write OMOP's SOURCE_TO_CONCEPT_MAP; terms without a target have the concept 0."""
    rows = ((_omop_cells(mapping.term, target, facts), ()) for mapping, target in _pairs(mappings))
    _write_table(file, _OMOP_COLUMNS, rows)


def _omop_cells(term: Term, target: Target, facts: Facts) -> list[str]:
    kb, id = facts.kb, target.id
    source = kb[id].names[0].source.partition("|")[0] if id in kb else ""
    return [
        (term.code or term.name)[:_CODE], "0", facts.vocabulary[:_VOCABULARY],
        term.name[:_DESCRIPTION], _omop_id(kb, target), source or "None", "1970-01-01",
        "2099-12-31", "",
    ]  # fmt: skip


def _pairs(mappings: Iterable[Mapping]) -> Iterator[tuple[Mapping, Target]]:
    """Stream the targets of mappings; one without an id for a mapping that has none."""
    for mapping in mappings:
        yield from ((mapping, target) for target in mapping.targets or (Target("", "", ""),))


def write_sssom(file: IO[str], mappings: Iterable[Mapping], facts: Facts) -> None:
    """Write a mapping set; terms without a target are left out."""
    more = ("object_label", "confidence", "comment")
    file.write("\t".join((*COLUMNS, *more)) + "\n")
    for mapping in mappings:
        term = mapping.term
        code = term.code or term.name
        subject = code if ":" in code else f"{facts.vocabulary}:{code}"
        for target in mapping.targets:
            object = curie(facts.kb[target.id]) if target.id in facts.kb else target.id
            reason = _justification(mapping, target)
            cells = [
                subject, term.name, predicate_of(target.match), object, reason, target.name,
                _number(target.prob), mapping.comment,
            ]  # fmt: skip
            file.write("\t".join(_cell(" ".join(cell.split())) for cell in cells) + "\n")


def write_fhir(file: IO[str], mappings: Iterable[Mapping], facts: Facts) -> None:
    """Write a ConceptMap of FHIR R4; a group for each code system of targets."""
    elements: dict[str, list[dict[str, Any]]] = {}
    for mapping in mappings:
        for system, element in _elements(mapping, facts):
            elements.setdefault(system, []).append(element)
    groups = []
    for system, of_system in elements.items():
        ends = {"source": system_of(facts.vocabulary), "target": system}
        groups.append({end: uri for end, uri in ends.items() if uri} | {"element": of_system})
    head = {"resourceType": "ConceptMap", "name": "MedlinkMap", "status": "draft"}
    file.write(json.dumps({**head, "description": _BY})[:-1])
    file.write(f', "group": {json.dumps(groups, ensure_ascii=False)}}}\n' if groups else "}\n")


def _table_of(name: str, columns: Iterable[str]) -> FileKind:
    """Recognise tables by their columns, even after a spreadsheet has saved the file."""

    def is_ours(path: Path) -> bool:
        try:
            return {cell.strip() for cell in next(read_table(path, Problems()))[1]} >= set(columns)
        except (MedlinkError, StopIteration):
            return False

    return FileKind(name, is_ours)


FORMATS = {
    "csv": Format(_table_of("a table of mappings", OWN), write_own, True),
    "usagi": Format(_table_of("a table of Usagi", USAGI), write_usagi, True, True),
    "omop": Format(_table_of("a SOURCE_TO_CONCEPT_MAP", _OMOP_COLUMNS), write_omop, False, True),
    "fhir": Format(marked("a ConceptMap", _BY), write_fhir),
    "sssom": Format(KIND, write_sssom),
}
_ENDINGS = {".usagi.csv": "usagi", ".csv": "csv", ".json": "fhir", ".tsv": "sssom"}


def format_of(path: Path, kb: KnowledgeBase, wanted: str = "") -> Format:
    """Find the format of a file, by the wanted name or by its suffix.

    RAISES (MedlinkError): E611 for an unknown suffix, E407 if concepts have no ids of OMOP.
    """
    ending = next((suffix for suffix in _ENDINGS if path.name.lower().endswith(suffix)), "")
    name = wanted or _ENDINGS.get(ending, "")
    if name not in FORMATS:
        raise Errors.unknown_ending(path=path, known=", ".join(_ENDINGS))
    chosen = FORMATS[name]
    if chosen.needs_omop and _OMOP not in kb.code_schemes():
        what = "concept of OMOP's vocabularies, whose ids this format asks for"
        remedy = "Map to assets over `medlink kb build --from omop`, or write another format."
        raise Errors.nothing_there(path=kb.path, what=what, remedy=remedy)
    return chosen


def _write_table(
    file: IO[str], header: Sequence[str], rows: Iterable[Row], extra: Sequence[str] = ()
) -> None:
    """Write rows, each of cells and of reviewers' cells by column."""
    columns = dict.fromkeys((*header, *extra))
    # Each cell is quoted, so that one with another separator is not read as two.
    out = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow(map(_cell, columns))
    for cells, added in rows:
        row = dict(zip(header, cells, strict=False)) | dict(added)
        out.writerow(_cell(row.get(column, "")) for column in columns)


def _cell(cell: str) -> str:
    return escaped(cell.replace("\0", "").replace("\r\n", "\n"))


def _elements(mapping: Mapping, facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    term = mapping.term
    source = " ".join((term.code or term.name).split())
    source_element = {"code": coded(facts.vocabulary, source).code, "display": term.name}
    if not mapping.targets:
        unmatched = {"equivalence": "unmatched", "comment": _comment(mapping)}
        yield "", {**source_element, "target": [unmatched]}
    by_system: dict[str, list[dict[str, str]]] = {}
    for target in mapping.targets:
        codes = facts.kb[target.id].codes if target.id in facts.kb else {}
        system, code = coded(vocabulary_of_id(target.id, codes), target.id)
        by_system.setdefault(system, []).append({
            "code": code, "display": target.name,
            "equivalence": _EQUIVALENCES.get(target.match, "relatedto"),
            "comment": _comment(mapping, target),
        })  # fmt: skip
    for system, targets in by_system.items():
        yield system, {**source_element, "target": targets}


def _comment(mapping: Mapping, target: Target | None = None) -> str:
    """Join comment, status, matched name and probability; FHIR needs it for narrower targets."""
    notes = [mapping.comment] if mapping.comment else []
    notes.append(mapping.status)
    if target is not None and target.matched:
        notes.append(f"matched {target.matched!r}")
    if target is not None and target.prob is not None:
        notes.append(f"probability {_number(target.prob)}")
    return "; ".join(notes)


def _justification(mapping: Mapping, target: Target) -> str:
    if mapping.status == "APPROVED":
        return "semapv:ManualMappingCuration"
    lexical = target.match == EXACT and target.matched
    return "semapv:LexicalMatching" if lexical else "semapv:CompositeMatching"


def _omop_id(kb: KnowledgeBase, target: Target) -> str:
    codes = kb[target.id].codes.get(_OMOP, ()) if target.id in kb else ()
    return target.id if target.id in codes else next(iter(codes), "0")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
