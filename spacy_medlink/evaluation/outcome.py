"""The outcome of a gold mention: its rank, and the step that lost it."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
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
_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Outcome(NamedTuple):
    """A gold mention and the quality of its ranking.

    rank (int): place of the first right answer, from 1; 0 if no answer is right.
    is_nil (bool): the gold standard says that no concept is right.
    abstained (bool): the linker says that no concept is right.
    in_kb (bool): the knowledge base has a gold concept; if not, no ranking can be right, and the
        mention still counts as wrong.
    doc (str): the document, since mentions of one document are not independent.
    retrieved (int): like `rank`, among the candidates of the retriever, before any reranker and to
        a greater depth.
    rollup (Optional[int]): steps from the gold concept up to the answer (negative: down); 0 for
        the same concept, None for one that is neither above nor below it.
    share (float): share of right concepts among those that tie for the first place.
    labels (Mapping[str, Tuple[str, ...]]): further groups of the mention, by label, such as
        {"length": ("2",)}.
    """

    rank: int
    is_nil: bool = False
    abstained: bool = False
    in_kb: bool = True
    doc: str = ""
    lang: str = ""
    type: str = ""
    retrieved: int = 0
    rollup: int | None = None
    share: float = 0.0
    labels: Mapping[str, tuple[str, ...]] = _NONE


def first_right(answers: Iterable[Hashable], right: Collection[Hashable]) -> int:
    """Find the place of the first right answer, from 1; repeated answers do not count.

    answers (Iterable[Hashable]): best first. right (Collection[Hashable]): any of them is right.
    RETURNS (int): 0 when no answer is right.
    """
    if not right:
        return 0
    for rank, answer in enumerate(dict.fromkeys(answers), 1):
        if answer in right:
            return rank
    return 0


def verdict(outcome: Outcome) -> str:
    """Get the step that lost a mention.

    RETURNS (str): "right" (also for NILs that got no link); "not in KB": no ranking could be right;
        "not retrieved": the retriever did not propose the concept; "mis-ranked": it did, but
        another came first; "wrong NIL": the right concept came first, below the threshold; "missed
        NIL": a link where there should be none.
    """
    if outcome.is_nil:
        return RIGHT if outcome.abstained else MISSED_NIL
    if not outcome.in_kb:
        return NOT_IN_KB
    if outcome.rank == 1:
        return WRONG_NIL if outcome.abstained else RIGHT
    return MIS_RANKED if outcome.rank or outcome.retrieved else NOT_RETRIEVED


def count_verdicts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Count the verdicts, in their order; also those that do not occur."""
    counts = Counter(map(verdict, outcomes))
    return {name: counts[name] for name in VERDICTS}
