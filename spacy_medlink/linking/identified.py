"""Concepts that the document itself identifies: "Fabry disease (OMIM 301500)"."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..retrieval.concepts import RESOLUTION
from ..text.identifiers import IDENTIFIER, identifies
from ..types import Candidate, Mention

DEPTH = 50  # candidates to compare with the identifier; a code may belong to something else

IdentifiersOf = Callable[[int], frozenset[str]]
"""Of a concept row: `identifiers.spellings` of its id and codes."""


def identified_first(
    mention: Mention,
    ranking: Sequence[Candidate],
    own_of: IdentifiersOf,
    perfect: float,
) -> list[Candidate]:
    """Put the concepts first whose identifier stands beside the mention in the document.

    They keep their order and their distance. If the identifier belongs to n candidates, the score
    of each is 1/n; a single candidate scores as a perfect name.

    ranking (Sequence[Candidate]): best first; the first DEPTH are compared.
    own_of (IdentifiersOf): lists the identifiers of a candidate.
    perfect (float): the score of a name that equals the mention.
    RETURNS (List[Candidate]): unchanged if no candidate is identified.
    """
    chosen = _identified(mention, ranking, own_of)
    if not chosen:
        return list(ranking)
    ahead = [ranking[position] for position in chosen]
    rest = [candidate for position, candidate in enumerate(ranking) if position not in chosen]
    top = max(perfect, ranking[0].score) if len(ahead) == 1 else ranking[0].score
    lift, share = top - ahead[0].score, 1 / len(ahead)
    alike = [candidate.row for candidate in ahead if _is_equal(candidate, ahead[0])]
    is_tied = bool(ranking[0].tied) and len(alike) > 1
    first = [
        replace(
            candidate,
            score=candidate.score + lift,
            scores={**candidate.scores, IDENTIFIER: share},
            decided=IDENTIFIER if candidate is ahead[-1] else candidate.decided,
            tied=tuple(alike) if is_tied and candidate is ahead[0] else (),
        )
        for candidate in ahead
    ]
    return [
        *first,
        *(replace(candidate, tied=()) if candidate.tied else candidate for candidate in rest),
    ]


def _identified(mention: Mention, ranking: Sequence[Candidate], own_of: IdentifiersOf) -> list[int]:
    """List the places of the candidates that the first matching identifier belongs to."""
    of_candidates = [own_of(candidate.row) for candidate in ranking[:DEPTH]]
    for identifier in mention.identifiers:
        if positions := [
            position for position, its in enumerate(of_candidates) if identifies(identifier, its)
        ]:
            return positions
    return []


def _is_equal(candidate: Candidate, other: Candidate) -> bool:
    return round(candidate.score / RESOLUTION) == round(other.score / RESOLUTION)
