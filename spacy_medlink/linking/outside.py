"""Outside: whether a concept that the filters leave out says a mention better than those within."""

from collections.abc import Sequence

from ..retrieval.concepts import MEMORY, RESOLUTION
from ..types import Candidate

MARGIN = 0.02  # how much more a concept outside must score; chosen by `benchmarks.filters`


def is_named(candidate: Candidate) -> bool:
    """Tell whether a mention is a name of the concept, or corrections say that it means it."""
    scores = candidate.scores
    return scores.get("exact", 0.0) > 0 or scores.get(MEMORY, 0.0) > 0


def is_named_within(ranking: Sequence[Candidate], forms: Sequence[str]) -> bool:
    """Tell whether a candidate has what the mention stands for as a name.

    ranking (Sequence[Candidate]): of the concepts within the filters.
    forms (Sequence[str]): what was looked up, as `Forms.all` lists it. Of an abbreviation that
        is spelled out, what it stands for counts, and not its letters.
    """
    meant = forms[:-1] or forms
    return any(is_named(one) and one.form in meant for one in ranking)


def is_better(outside: Candidate, within: Candidate | None) -> bool:
    """Tell whether the best concept outside says a mention better than the best one within.

    It does if the mention is its name and not one of the other's, or if it scores more by `MARGIN`.
    """
    if within is None:
        return is_named(outside)
    if is_named(outside):
        return not is_named(within) or outside.score > within.score + RESOLUTION
    return outside.score > within.score + MARGIN
