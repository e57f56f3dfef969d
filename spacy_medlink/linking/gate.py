"""Gates: tell where dense tier or reranker would not change the answer of the parts before them.

A cascade of two stages (Viola and Jones 2001, section 4): the cheap one answers if it is sure.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from ..retrieval.concepts import MEMORY
from ..retrieval.exact import IN_CAPITALS
from ..types import Candidate, Facts
from .linear import difference

REMEMBERED, VERBATIM, FOLDED, SHARED = "remembered", "verbatim", "folded", "shared"
ANSWERS = (REMEMBERED, VERBATIM, FOLDED, SHARED)


class Gate(NamedTuple):
    """Lets some answers of memory and exact tier pass, so that no text must be encoded.

    passing (FrozenSet[str]): the kinds of ANSWERS that the dense tier hardly ever changes.
    """

    passing: frozenset[str]

    @classmethod
    def of(cls, stored: Facts | None, conditions: Facts) -> "Gate | None":
        """Make the gate of assets; None where it passes nothing, or was fitted for another linker.

        stored (Optional[Mapping]): "gate" of the manifest. conditions (Mapping): of the linker, as
            for calibrators.
        """
        if stored is None or difference(stored["fitted_for"], conditions):
            return None
        passing = {
            answer
            for answer, counts in stored["answers"].items()
            if counts["at_most"] <= stored["max_changed"]
        }
        return cls(frozenset(passing)) if passing else None

    def lets(self, ranking: Sequence[Candidate]) -> bool:
        """Tell whether an answer of memory and exact tier passes; it must not be empty."""
        return kind_of(ranking) in self.passing


class RerankGate(NamedTuple):
    """Lets mentions pass whose first candidate the reranker hardly ever changes.

    margin (float): they are those whose first candidate is further ahead.
    """

    margin: float

    @classmethod
    def of(cls, stored: Facts | None, conditions: Facts) -> "RerankGate | None":
        """Make the gate of a reranker; None without one, or where it was fitted for another order.

        stored (Optional[Mapping]): "reranker" of the manifest. conditions (Mapping): of the linker
            without its reranker.
        """
        gate = (stored or {}).get("gate")
        if gate is None or difference(gate["fitted_for"], conditions):
            return None
        return cls(gate["margin"])

    def lets(self, ranking: Sequence[Candidate]) -> bool:
        """Tell whether a ranking passes, as it is before the reranker sees it."""
        return ahead(ranking) > self.margin


def ahead(ranking: Sequence[Candidate]) -> float:
    """Compute how far the first candidate is ahead, 0..1; infinite for one of corrections."""
    if not ranking:
        return 0.0
    if ranking[0].scores.get(MEMORY, 0.0) > 0:
        return inf
    return ranking[0].score - (ranking[1].score if len(ranking) > 1 else 0.0)


def kind_of(ranking: Sequence[Candidate]) -> str:
    """Get the kind of an answer of memory and exact tier: one of ANSWERS.

    ranking (Sequence[Candidate]): the answer, not empty. "remembered": corrections have the
        mention. "verbatim": it is a name of only one concept, in any case. "folded": it is so
        except for accents, punctuation and plural. "shared": it is a name of several concepts.
    """
    if ranking[0].scores.get(MEMORY):
        return REMEMBERED
    if len(ranking) > 1:
        return SHARED
    return VERBATIM if ranking[0].scores["exact"] >= IN_CAPITALS else FOLDED
