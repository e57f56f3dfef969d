"""Outside: compares the best concept outside the filters with the best one within."""

from collections.abc import Sequence

from ..retrieval.concepts import MEMORY, RESOLUTION
from ..types import Candidate

MARGIN = 0.02  # how much higher a concept outside must score


def is_named(candidate: Candidate) -> bool:
    """Tell whether the mention is a name of the concept, or corrections link it to the concept."""
    scores = candidate.scores
    return scores.get("exact", 0.0) > 0 or scores.get(MEMORY, 0.0) > 0


def is_named_within(ranking: Sequence[Candidate], forms: Sequence[str]) -> bool:
    """Tell whether a looked-up form is a name of a candidate.

    ranking (Sequence[Candidate]): of the concepts within the filters.
    forms (Sequence[str]): as `Lookup.forms` lists them. For an abbreviation that is spelled out,
        the long form counts, and the short form does not.
    """
    meant = forms[:-1] or forms
    return any(is_named(one) and one.form in meant for one in ranking)


def is_better(outside: Candidate, within: Candidate | None) -> bool:
    """Tell whether the best concept outside matches a mention better than the best one within.

    It does if the mention is a name of it and not of the other, or if it scores `MARGIN` more.
    """
    if within is None:
        return is_named(outside)
    if is_named(outside):
        return not is_named(within) or outside.score > within.score + RESOLUTION
    return outside.score > within.score + MARGIN
