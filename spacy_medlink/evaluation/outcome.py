"""The outcome of a gold mention: its rank, the step that lost it, and its row in a metrics file.

A file has columns and rows, which take a third of the space of objects with names. The text of
mentions and their context are private, and kept only if the user asks for it.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..types import Data

Metrics = Data
"""Figures by name, as JSON has them."""

RIGHT = "right"
NOT_IN_KB = "not in KB"
NOT_RETRIEVED = "not retrieved"
MIS_RANKED = "mis-ranked"
WRONG_NIL = "wrong NIL"
MISSED_NIL = "missed NIL"
# In the order of the steps at which a mention can be lost.
VERDICTS = (RIGHT, NOT_IN_KB, NOT_RETRIEVED, MIS_RANKED, WRONG_NIL, MISSED_NIL)
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
_COLUMNS = [
    "doc", "number", "start", "end", "lang", "type", "gold", "right", "rank", "retrieved",
    "abstained", "rollup", "verdict", "candidates", "labels",
]  # fmt: skip
_TEXTS = ["text", "left", "after"]


class Proposal(NamedTuple):
    """A candidate in the metrics file.

    id (str): the concept. matched (str): its matched name. prob (Optional[float]): that it is
        right, if there is a calibrator.
    """

    id: str
    matched: str
    score: float
    prob: float | None = None


class Outcome(NamedTuple):
    """A gold mention and the quality of its ranking.

    rank (int): place of the first right answer, from 1; 0 if no answer is right.
    gold (Sequence[str]): ids as the gold file has them; none for NIL.
    right (Sequence[str]): the concepts of these ids in the knowledge base; without one, no ranking
        can be right, and the mention still counts as wrong.
    abstained (bool): the linker says that no concept is right.
    retrieved (int): like `rank`, among the candidates of the retriever, before any reranker and to
        a greater depth.
    doc (str): the document, since mentions of one document are not independent: its id, else its
        number. number (int): the mention's place among those measured, from 0.
    start, end (int): offsets in the document, -1 when the file has none.
    rollup (Optional[int]): steps from the gold concept up to the answer (negative: down); 0 for
        the same concept, None for one that is neither above nor below it.
    share (float): share of right concepts among those that tie for the first place; not in files.
    candidates (Sequence[Proposal]): the best ones, best first.
    labels (Mapping[str, Sequence[str]]): further groups of the mention, by label, such as
        {"length": ["2 words"]}.
    text, left, after (Optional[str]): the mention and its context; None without texts.
    """

    rank: int
    gold: Sequence[str] = ()
    right: Sequence[str] = ()
    abstained: bool = False
    retrieved: int = 0
    doc: str = ""
    number: int = 0
    start: int = -1
    end: int = -1
    lang: str = ""
    type: str = ""
    rollup: int | None = None
    share: float = 0.0
    candidates: Sequence[Proposal] = ()
    labels: Mapping[str, Sequence[str]] = _NONE
    text: str | None = None
    left: str | None = None
    after: str | None = None

    @property
    def is_nil(self) -> bool:
        """Whether the gold standard says that no concept is right."""
        return not self.gold

    @property
    def in_kb(self) -> bool:
        """Whether the knowledge base has a gold concept."""
        return bool(self.right)

    @property
    def is_right(self) -> bool:
        """Whether the first answer is right, as acc@1 counts it."""
        return self.rank == 1

    @property
    def prob(self) -> float | None:
        """The probability of the first answer."""
        return self.candidates[0].prob if self.candidates else None

    @property
    def verdict(self) -> str:
        """The step that lost the mention.

        "right" (also for NILs that got no link); "not in KB": no ranking could be right; "not
        retrieved": the retriever did not propose the concept; "mis-ranked": it did, but another
        came first; "wrong NIL": the right concept came first, below the threshold; "missed NIL": a
        link where there should be none.
        """
        if self.is_nil:
            return RIGHT if self.abstained else MISSED_NIL
        if not self.in_kb:
            return NOT_IN_KB
        if self.is_right:
            return WRONG_NIL if self.abstained else RIGHT
        return MIS_RANKED if self.rank or self.retrieved else NOT_RETRIEVED


def first_right(answers: Iterable[Hashable], right: Collection[Hashable]) -> int:
    """Find the place of the first right answer, from 1; repeated answers do not count.

    answers (Iterable[Hashable]): best first. right (Collection[Hashable]): any of them is right.
    RETURNS (int): 0 when no answer is right.
    """
    if not right:
        return 0
    ranked = enumerate(dict.fromkeys(answers), 1)
    return next((rank for rank, answer in ranked if answer in right), 0)


def count_verdicts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Count the verdicts, in their order; also those that do not occur."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    return {name: counts[name] for name in VERDICTS}


def pack(outcomes: Sequence[Outcome]) -> Metrics:
    """Make a table {"columns": [...], "rows": [[...]]}, without texts if no outcome has one."""
    with_text = any(outcome.text is not None for outcome in outcomes)
    columns = [*_COLUMNS, *_TEXTS] if with_text else _COLUMNS
    candidates = [list(map(list, outcome.candidates)) for outcome in outcomes]
    rows = [
        [own if name == "candidates" else getattr(outcome, name) for name in columns]
        for outcome, own in zip(outcomes, candidates, strict=True)
    ]
    return {"columns": columns, "rows": rows}


def unpack(table: Metrics) -> list[Outcome]:
    """Read the table of `pack`.

    RAISES (KeyError, TypeError, ValueError): when it has another shape.
    """
    columns, outcomes = table["columns"], []
    if columns not in (_COLUMNS, [*_COLUMNS, *_TEXTS]):
        raise ValueError("other columns")
    for row in table["rows"]:
        values = dict(zip(columns, row, strict=True))
        values["candidates"] = [Proposal(*proposal) for proposal in values["candidates"]]
        del values["verdict"]  # which the other columns say
        outcomes.append(Outcome(**values))
    return outcomes
