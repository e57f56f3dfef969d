"""Decisions of reviewers on mappings, read from our own file or from Usagi's."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...errors import Errors
from ...exchange.spreadsheets import as_saved
from ...kb import KnowledgeBase
from ...kb.resolve import IdResolver
from .codes import NARROWER
from .mapper import UNCHECKED, Mapping, Target
from .tables import Problems, Source, read_table
from .terms import CONTEXT, Term
from .words import BROADER, CLOSE, EXACT, RELATED

Key = tuple[str, str]
INVALID = "INVALID_TARGET"
# The project's word for each header of our own files, and of Usagi's.
OWN = {
    "source_code": "code", "source_name": "name", "source_frequency": "frequency",
    "status": "status", "match_type": "match", "concept_id": "id", "concept_name": "concept",
    "matched_name": "matched", "probability": "prob", "score": "score", "comment": "comment",
}  # fmt: skip
USAGI = {
    "sourceCode": "code", "sourceName": "name", "sourceFrequency": "frequency",
    "sourceAutoAssignedConceptIds": "assigned", "matchScore": "prob", "mappingStatus": "status",
    "equivalence": "match", "statusSetBy": "", "statusSetOn": "", "conceptId": "id",
    "conceptName": "concept", "domainId": "domain", "mappingType": "", "comment": "comment",
    "createdBy": "", "createdOn": "", "assignedReviewer": "",
}  # fmt: skip
EQUIVALENCES = {
    EXACT: "EQUAL", CLOSE: "EQUIVALENT", BROADER: "WIDER", NARROWER: "NARROWER",
    RELATED: "INEXACT", "": "UNMATCHED",
}  # fmt: skip
_MATCHES = {usagi_word: match for match, usagi_word in EQUIVALENCES.items()}
_OURS = re.compile(rf"candidate_\d|aside_|{CONTEXT.pattern}")
_MACHINES = frozenset({"", UNCHECKED, "AUTO_MAPPED", "AUTO_MAPPED_TO_1"})


class Row(NamedTuple):
    """A row: the cells with a known header, the reviewers' cells, and the context by column."""

    cells: dict[str, str]
    extra: tuple[tuple[str, str], ...]
    context: dict[str, str]

    @property
    def decision(self) -> tuple[str, str]:
        """The concept and the status."""
        return self.id, self.cells["status"]

    @property
    def id(self) -> str:
        """The id of the concept, "" for none."""
        id = self.cells.get("id", "")
        return "" if id == "0" else id  # OMOP writes 0 for none


class Reviewed:
    """The decisions of reviewers on terms.

    From all rows the comments and added columns are kept. From rows with a status that a reviewer
    has set, the concept is kept, too. A term that was decided may have several rows.

    path (Optional[Source]): None for no file. kb (KnowledgeBase): has the current names; a mapping
        to a concept that was replaced leads to its successor, one to a concept that it no longer
        has gets the status INVALID_TARGET.
    extra (List[str]): the added columns. kept (int): decided terms; gone, invalid (int): decided
        terms that are no longer in the table, or whose concept no longer exists. same, changed,
        new (int): other terms: mapped as before, mapped otherwise, not in the file.
    RAISES (MedlinkError): E160 for a table of something else; as `read_table`.
    """

    def __init__(self, path: Source | None, kb: KnowledgeBase) -> None:
        self.path, self._kb, self._resolver = path, kb, IdResolver(kb)
        self.extra: list[str] = []
        self.kept = self.gone = self.invalid = self.same = self.changed = self.new = 0
        self._rows: dict[Key, list[Row]] = {}
        self._seen = set[Key]()
        self._saved = dict[Key, Key]()  # the keys, by the keys of terms as spreadsheets save these
        for key, row in self._read(path) if path is not None else ():
            rows = self._rows.setdefault(key, [])
            if row.decision not in (other.decision for other in rows):
                rows.append(row)
            self._saved.setdefault((as_saved(key[0]), key[1]), key)

    def updated(self, new: Mapping) -> Mapping:
        """Add the reviewers' decision, comment and columns to a new mapping."""
        key = new.term.key
        if key not in self._rows:
            key = self._saved.get((as_saved(key[0]), key[1]), key)
        self._seen.add(key)
        return self.applied(new, self._rows.get(key, []))

    def applied(self, new: Mapping, rows: Sequence[Row]) -> Mapping:
        """Add what the rows of a term say to a new mapping."""
        if decided := [row for row in rows if row.cells["status"] not in _MACHINES]:
            self.kept += 1
            return self._decided(new, decided)
        if not rows:
            self.new += 1
            return new
        before = [self._target(rows[0]).id] if rows[0].id else []
        is_same = [*map(as_saved, before)] == [as_saved(target.id) for target in new.targets[:1]]
        self.same, self.changed = self.same + is_same, self.changed + (not is_same)
        return new._replace(comment=rows[0].cells.get("comment", ""), extra=rows[0].extra)

    def rest(self, context: Sequence[str]) -> Iterator[Mapping]:
        """Stream decided terms that are no longer in the table. context: the context columns."""
        for key, rows in self._rows.items():
            decided = [row for row in rows if row.cells["status"] not in _MACHINES]
            if key not in self._seen and decided:
                self.gone += 1
                cells = tuple(decided[0].context.get(column, "") for column in context)
                term = Term(key[1], key[0], decided[0].cells.get("frequency", ""), cells)
                yield self._decided(Mapping(term), decided)

    def _decided(self, new: Mapping, rows: Sequence[Row]) -> Mapping:
        by_id = {target.id: target for target in (*new.targets, *new.others)}
        # Two concepts may have become one.
        chosen = {
            target.id: target for row in rows if row.id for target in [self._target(row, by_id)]
        }
        targets = tuple(chosen.values())
        others = tuple(target for id, target in by_id.items() if id not in chosen)
        is_invalid = any(target.id not in self._kb for target in targets)
        self.invalid += is_invalid
        cells = rows[0].cells
        status = INVALID if is_invalid else cells["status"]
        comment, extra = cells.get("comment", ""), rows[0].extra
        return Mapping(new.term, targets, others, status, comment, extra, new.aside)

    def _target(self, row: Row, by_id: dict[str, Target] | None = None) -> Target:
        id, cells = row.id, row.cells
        if id not in self._kb and by_id:
            id = next((other for other in by_id if as_saved(other) == as_saved(id)), id)
        if id not in self._kb:
            rows = self._resolver.rows(f"OMOP:{id}")
            id = self._kb.brief_at(min(rows))[0] if rows else self._kb.resolve(id) or id
        name = self._kb[id].name if id in self._kb else cells.get("concept", "")
        match = _MATCHES.get(cells.get("match", ""), cells.get("match", "").lower())
        new = (by_id or {}).get(id, Target(id, name, match))
        if name != cells.get("concept", name):  # the row was about another concept
            return new
        prob, score = (_number(cells.get(word, "")) for word in ("prob", "score"))
        return Target(id, name, match or new.match, cells.get("matched", ""), prob, score)

    def _read(self, path: Source) -> Iterator[tuple[Key, Row]]:
        rows = read_table(path, Problems())
        header = [cell.strip() for cell in next(rows, (0, []))[1]]
        words = OWN if "source_name" in header else USAGI
        if not {"name", "id", "status"} <= {words.get(column, "") for column in header}:
            problem = "it lacks source_name, concept_id and status (or those of Usagi)"
            expected = "one that `medlink map` or Usagi wrote, as .csv or .xlsx"
            what = "a table of mappings"
            raise Errors.wrong_file(path=path, what=what, problem=problem, expected=expected)
        self.extra = [column for column in header if not (words.get(column) or _OURS.match(column))]
        for _, texts in rows:
            row = dict(zip(header, map(str.strip, texts), strict=False))
            cells = {words[column]: cell for column, cell in row.items() if words.get(column)}
            cells["status"] = cells.get("status", "").upper()
            extra = tuple((column, row.get(column, "")) for column in self.extra)
            context = {CONTEXT.sub("", name): row[name] for name in row if CONTEXT.match(name)}
            yield (cells.get("code", ""), cells.get("name", "")), Row(cells, extra, context)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
