"""From judged cases to the records that a metrics file keeps, and the concepts that they name."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..evaluation import Outcome, Proposal, Record, verdict
from ..kb import KnowledgeBase
from ..types import Candidate
from .gold_set import Case

_DIGITS = 4  # of scores


def make_records(
    kb: KnowledgeBase,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    candidates: Sequence[Sequence[Candidate]],
    with_text: bool,
) -> list[Record]:
    """Make the record of every case.

    with_text (bool): keep the mentions' texts and what stands around them, which is private.
    """
    reader = _Reader(kb)
    records = []
    for number, (case, outcome, own) in enumerate(zip(cases, outcomes, candidates, strict=True)):
        texts = (case.gold.text, case.mention.left, case.mention.right) if with_text else ()
        records.append(
            Record(
                case.doc_id or case.doc, number, case.gold.start, case.gold.end, case.lang,
                case.gold.type, list(case.gold.ids), [reader.id_at(row) for row in
                sorted(case.right)], outcome.rank, outcome.retrieved, outcome.abstained,
                outcome.rollup, verdict(outcome), [reader.proposal(one) for one in own],
                {label: list(groups) for label, groups in outcome.labels.items()}, *texts,
            )
        )  # fmt: skip
    return records


def describe_concepts(kb: KnowledgeBase, records: Iterable[Record]) -> dict[str, list[Any]]:
    """List the concepts that records name: id to [preferred name, types]."""
    ids = {
        id
        for record in records
        for id in (*record.right, *(candidate.id for candidate in record.candidates))
    }
    return {id: [concept.name, list(concept.types)] for id in sorted(ids) if (concept := kb[id])}


class _Reader:
    """Reads ids and names by row, each once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._ids: dict[int, str] = {}
        self._names: dict[int, str] = {}

    def id_at(self, row: int) -> str:
        if row not in self._ids:
            self._ids[row] = self._kb.concept_at(row, names=False).id
        return self._ids[row]

    def proposal(self, candidate: Candidate) -> Proposal:
        name = self._names.get(candidate.name_row)
        if name is None:
            name = self._names[candidate.name_row] = self._kb.name_at(candidate.name_row).text
        prob = None if candidate.prob is None else round(candidate.prob, _DIGITS)
        return Proposal(self.id_at(candidate.row), name, round(candidate.score, _DIGITS), prob)
