"""Mappings as files: tables for spreadsheets and Usagi, OMOP, FHIR and SSSOM."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from ...errors import Errors, MedlinkError
from ...exchange.spreadsheets import escaped
from ...kb import KnowledgeBase
from ...kb.code_systems import coded, system_of, vocabulary_of_id
from ...terminologies.sssom import COLUMNS, KIND, curie, predicate_of
from ...types import Data
from ...util.outputs import FileKind, marked
from .codes import NARROWER
from .mapper import Mapping, Target
from .parts import COLUMNS as ASIDE
from .reviewed import EQUIVALENCES, OWN, USAGI
from .tables import Problems, read_table
from .terms import Term
from .words import BROADER, EXACT

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
_NONE = Target("", "", "")


class MapInfo(NamedTuple):
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
Write = Callable[[IO[str], Iterable[Mapping], MapInfo], None]


class Format(NamedTuple):
    """A format of mappings.

    kind (FileKind): of its files. has_status (bool): whether the files hold reviewers' decisions.
    needs_omop (bool): whether targets must have ids of OMOP's vocabularies.
    """

    kind: FileKind
    write: Write
    has_status: bool = False
    needs_omop: bool = False


def write_own(file: IO[str], mappings: Iterable[Mapping], info: MapInfo) -> None:
    """Write a table for spreadsheets: a row for each target, with what was set aside."""
    header = [
        *list(OWN)[:3], *(f"context:{column}" for column in info.context), *list(OWN)[3:],
        *(f"aside_{column}" for column in ASIDE),
        *(f"candidate_{n}_{what}" for n in range(1, info.k + 1) for what in _CANDIDATE),
    ]  # fmt: skip
    rows = ((_own_cells(mapping, target), mapping.extra) for mapping, target in _pairs(mappings))
    _write_table(file, header, rows, info.extra)


def _own_cells(mapping: Mapping, target: Target) -> list[str]:
    term = mapping.term
    return [
        term.code, term.name, term.frequency, *term.context, mapping.status, target.match,
        target.id, target.name, target.matched, _number(target.prob), _number(target.score),
        mapping.comment, *(mapping.aside.get(column, "") for column in ASIDE),
        *chain.from_iterable((target.id, target.name, target.match, _number(target.prob))
                             for target in mapping.others),
    ]  # fmt: skip


def write_usagi(file: IO[str], mappings: Iterable[Mapping], info: MapInfo) -> None:
    """Write a file in Usagi's format: a row for each target."""
    context = (f"ADD_INFO:{column}" for column in info.context)
    header = [*list(USAGI)[:4], *context, *list(USAGI)[4:]]
    rows = ((_usagi_cells(*pair, info.kb), pair[0].extra) for pair in _pairs(mappings))
    _write_table(file, header, rows, info.extra)


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


def write_omop(file: IO[str], mappings: Iterable[Mapping], info: MapInfo) -> None:
    """Write OMOP's SOURCE_TO_CONCEPT_MAP; terms without a target have the concept 0."""
    rows = ((_omop_cells(mapping.term, target, info), ()) for mapping, target in _pairs(mappings))
    _write_table(file, _OMOP_COLUMNS, rows)


def _omop_cells(term: Term, target: Target, info: MapInfo) -> list[str]:
    kb, id = info.kb, target.id
    source = kb[id].names[0].source.partition("|")[0] if id in kb else ""
    return [
        (term.code or term.name)[:_CODE], "0", info.vocabulary[:_VOCABULARY],
        term.name[:_DESCRIPTION], _omop_id(kb, target), source or "None", "1970-01-01",
        "2099-12-31", "",
    ]  # fmt: skip


def _pairs(mappings: Iterable[Mapping]) -> Iterator[tuple[Mapping, Target]]:
    """Stream the targets of mappings; one without an id for a mapping that has none."""
    for mapping in mappings:
        yield from ((mapping, target) for target in mapping.targets or (_NONE,))


def write_sssom(file: IO[str], mappings: Iterable[Mapping], info: MapInfo) -> None:
    """Write a mapping set; terms without a target are left out."""
    more = ("object_label", "confidence", "comment")
    file.write("\t".join((*COLUMNS, *more)) + "\n")
    for mapping in mappings:
        term = mapping.term
        code = term.code or term.name
        subject = code if ":" in code else f"{info.vocabulary}:{code}"
        for target in mapping.targets:
            object = curie(info.kb[target.id]) if target.id in info.kb else target.id
            reason = _justification(mapping, target)
            cells = [
                subject, term.name, predicate_of(target.match), object, reason, target.name,
                _number(target.prob), mapping.comment,
            ]  # fmt: skip
            file.write("\t".join(_cell(" ".join(cell.split())) for cell in cells) + "\n")


def write_fhir(file: IO[str], mappings: Iterable[Mapping], info: MapInfo) -> None:
    """Write a ConceptMap of FHIR R4; a group for each code system of targets."""
    groups: dict[str, dict[int, Data]] = {}  # elements by system and mapping
    for nth, mapping in enumerate(mappings):
        term = mapping.term
        source = coded(info.vocabulary, " ".join((term.code or term.name).split())).code
        for target in mapping.targets or (_NONE,):
            system, link = _fhir_link(mapping, target, info.kb)
            element = {"code": source, "display": term.name, "target": []}
            groups.setdefault(system, {}).setdefault(nth, element)["target"].append(link)
    origin = system_of(info.vocabulary)
    listed = [
        {end: uri for end, uri in (("source", origin), ("target", system)) if uri}
        | {"element": list(elements.values())}
        for system, elements in groups.items()
    ]
    head = {"resourceType": "ConceptMap", "name": "MedlinkMap", "status": "draft"}
    file.write(json.dumps({**head, "description": _BY})[:-1])
    file.write(f', "group": {json.dumps(listed, ensure_ascii=False)}}}\n' if listed else "}\n")


def _fhir_link(mapping: Mapping, target: Target, kb: KnowledgeBase) -> tuple[str, dict[str, str]]:
    """Make a target of an element, and name its code system; "" where there is no concept."""
    if not target.id:
        return "", {"equivalence": "unmatched", "comment": _comment(mapping, target)}
    codes = kb[target.id].codes if target.id in kb else {}
    system, code = coded(vocabulary_of_id(target.id, codes), target.id)
    equivalence = _EQUIVALENCES.get(target.match, "relatedto")
    comment = _comment(mapping, target)
    return system, {
        "code": code, "display": target.name, "equivalence": equivalence, "comment": comment,
    }  # fmt: skip


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


def _comment(mapping: Mapping, target: Target) -> str:
    """Join comment, status, matched name and probability; FHIR needs it for narrower targets."""
    matched = f"matched {target.matched!r}" if target.matched else ""
    probability = "" if target.prob is None else f"probability {_number(target.prob)}"
    return "; ".join(filter(None, (mapping.comment, mapping.status, matched, probability)))


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
