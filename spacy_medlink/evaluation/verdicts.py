"""Where an answer went wrong: one class a mention, for counting and for browsing."""

from collections import Counter
from collections.abc import Iterable

from .outcome import Outcome

RIGHT = "right"
NOT_IN_KB = "not in KB"
NOT_RETRIEVED = "not retrieved"
MIS_RANKED = "mis-ranked"
WRONG_NIL = "wrong NIL"
MISSED_NIL = "missed NIL"
# In the order of the steps at which a mention can be lost.
VERDICTS = (RIGHT, NOT_IN_KB, NOT_RETRIEVED, MIS_RANKED, WRONG_NIL, MISSED_NIL)


def verdict(outcome: Outcome) -> str:
    """Tell at which step a mention was lost.

    RETURNS (str): "right" (NILs told as such included); "not in KB": no ranking could be right;
        "not retrieved": the retriever did not propose the concept; "mis-ranked": it did, but
        another came first; "wrong NIL": the right one came first and was not believed; "missed
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
    """Count the verdicts, each listed, in their order."""
    counts = Counter(map(verdict, outcomes))
    return {name: counts[name] for name in VERDICTS}
