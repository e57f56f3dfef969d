"""Gate: tells where the dense tier would not change what memory and exact tier say.

A cascade (Viola and Jones 2001, section 4) of two stages: what is sure and cheap answers first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..retrieval.concepts import MEMORY
from ..types import Candidate
from .conditions import difference

REMEMBERED, VERBATIM, FOLDED, SHARED = "remembered", "verbatim", "folded", "shared"
ANSWERS = (REMEMBERED, VERBATIM, FOLDED, SHARED)


class Gate(NamedTuple):
    """Lets some answers of memory and exact tier pass, so that nothing must be encoded.

    passing (FrozenSet[str]): of ANSWERS, those that the dense tier hardly ever changes.
    """

    passing: frozenset[str]

    @classmethod
    def of(cls, facts: Mapping[str, Any] | None, conditions: Mapping[str, Any]) -> "Gate | None":
        """Make the gate of assets; None where it lets nothing pass, or fits another linker.

        facts (Optional[Mapping]): "gate" of the manifest. conditions (Mapping): of the linker, as
            calibrators have them.
        """
        if facts is None or difference(facts["fitted_for"], conditions):
            return None
        passing = {
            kind for kind, own in facts["answers"].items() if own["at_most"] <= facts["max_changed"]
        }
        return cls(frozenset(passing)) if passing else None

    def lets(self, ranking: Sequence[Candidate]) -> bool:
        """Tell whether an answer of memory and exact tier, which is not empty, passes."""
        return kind_of(ranking) in self.passing


def kind_of(ranking: Sequence[Candidate]) -> str:
    """Tell what kind of answer memory and exact tier give: one of ANSWERS.

    ranking (Sequence[Candidate]): theirs, not empty. "remembered": corrections have the mention.
        "verbatim", "folded": it is a name of one concept alone, as it is written or but for case,
        accents, punctuation and plural. "shared": it is a name of several.
    """
    if ranking[0].scores.get(MEMORY):
        return REMEMBERED
    if len(ranking) > 1:
        return SHARED
    return VERBATIM if ranking[0].scores["exact"] == 1 else FOLDED
