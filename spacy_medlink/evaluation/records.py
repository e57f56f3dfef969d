"""Records: the part of every mention that a metrics file keeps, for reports and comparisons.

They are stored as columns and rows, which take a third of the space of objects with names. The
text of mentions and their context are private, and kept only if the user asks for it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..kb import KnowledgeBase
from ..types import Candidate
from .gold_set import Case
from .outcome import Metrics, Outcome, verdict


class Proposal(NamedTuple):
    """A candidate in the metrics file.

    id (str): the concept. matched (str): its matched name. prob (Optional[float]): that it is
        right, if there is a calibrator.
    """

    id: str
    matched: str
    score: float
    prob: float | None = None


class Record(NamedTuple):
    """A gold mention and its answers.

    doc (str): the document's id. number (int): the mention's place in the gold file, from 0.
    start, end (int): offsets in the document, -1 when the file has none.
    gold (List[str]): ids as the gold file has them; [] for NIL.
    right (List[str]): the concepts of these ids in the knowledge base.
    rank, retrieved, abstained, rollup: as in `Outcome`. verdict (str): of `verdicts`.
    candidates (List[Proposal]): the best ones, best first.
    labels (Dict[str, List[str]]): as in `Outcome`.
    text, left, after (Optional[str]): the mention and its context; None if the file was written
        without text.
    """

    doc: str
    number: int
    start: int
    end: int
    lang: str
    type: str
    gold: list[str]
    right: list[str]
    rank: int
    retrieved: int
    abstained: bool
    rollup: int | None
    verdict: str
    candidates: list[Proposal]
    labels: dict[str, list[str]]
    text: str | None = None
    left: str | None = None
    after: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether the first answer is right, as acc@1 counts it."""
        return self.rank == 1

    @property
    def prob(self) -> float | None:
        """The probability of the first answer."""
        return self.candidates[0].prob if self.candidates else None


_DIGITS = 4
_TEXTS = ("text", "left", "after")


def pack(records: Iterable[Record]) -> Metrics:
    """Make a table {"columns": [...], "rows": [[...]]}, without texts if no record has one."""
    records = list(records)
    with_text = any(record.text is not None for record in records)
    columns = [name for name in Record._fields if with_text or name not in _TEXTS]
    rows = [
        record._asdict() | {"candidates": list(map(list, record.candidates))} for record in records
    ]
    return {"columns": columns, "rows": [[row[name] for name in columns] for row in rows]}


def unpack(table: Metrics) -> list[Record]:
    """Read the table of `pack`.

    RAISES (KeyError, TypeError, ValueError): when it has another shape.
    """
    columns = list(table["columns"])
    at = columns.index("candidates")
    records = []
    for row in table["rows"]:
        values = dict(zip(columns, row, strict=True))
        values["candidates"] = [Proposal(*proposal) for proposal in row[at]]
        records.append(Record(**values))
    return records


def make_records(
    kb: KnowledgeBase,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    candidates: Sequence[Sequence[Candidate]],
    with_text: bool,
) -> list[Record]:
    """Make the record of every case.

    with_text (bool): keep the mentions' texts and their context, which are private.
    """

    def id_of(row: int) -> str:
        return kb.brief_at(row)[0]

    def proposal(candidate: Candidate) -> Proposal:
        prob = None if candidate.prob is None else round(candidate.prob, _DIGITS)
        matched, score = kb.text_at(candidate.name_row), round(candidate.score, _DIGITS)
        return Proposal(id_of(candidate.row), matched, score, prob)

    records = []
    for at, (case, outcome, proposed) in enumerate(zip(cases, outcomes, candidates, strict=True)):
        texts = (case.gold.text, case.mention.left, case.mention.right) if with_text else ()
        records.append(
            Record(
                case.doc_id or case.doc, at, case.gold.start, case.gold.end, case.lang,
                case.gold.type, list(case.gold.ids), [id_of(row) for row in
                sorted(case.right)], outcome.rank, outcome.retrieved, outcome.abstained,
                outcome.rollup, verdict(outcome), [proposal(candidate) for candidate in proposed],
                {label: list(groups) for label, groups in outcome.labels.items()}, *texts,
            )
        )  # fmt: skip
    return records


def describe_concepts(kb: KnowledgeBase, records: Iterable[Record]) -> dict[str, list[object]]:
    """Map the ids of concepts in records to [preferred name, types]."""
    ids = {
        id
        for record in records
        for id in (*record.right, *(candidate.id for candidate in record.candidates))
    }
    return {id: [concept.name, list(concept.types)] for id in sorted(ids) if (concept := kb[id])}
