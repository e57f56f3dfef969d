"""Features: properties of a candidate and of its ranking that tell whether it is right.

Each feature is defined once, by name; ranker and calibrator list the names of those that they use.
"""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA, Indel

from ..retrieval.exact import IN_CAPITALS
from ..text.identifiers import is_identified
from ..text.normalisation import is_short_form
from ..types import Candidate
from .facts import CHARACTERS, DIGITS, Form, NameFacts

Features = NDArray[np.float64]
"""(n, n_features)."""

DEPTH = 2  # candidates that features of the first one look at
MARGIN = 0.3  # larger differences to the runner-up count the same
_LONGEST = 3.0
_SLIPS = 2  # letters that may differ; only one in words of fewer than _LONG letters
# One for the other is no slip, though a letter or two make the difference.
_PREFIX = re.compile("hyper|hypo|macro|micro|inter|intra|endo|exo|ante|anti|abdu|addu|anis|iso|")
_SHORTEST, _LONG = 5, 7  # letters; in a shorter word another letter makes another word
_TIERS = ("exact", "ngram", "dense")
_NUMBER = re.compile(r"\d+(?:[a-z]\b)?")


class Described:
    """A candidate as features see it.

    ranking (Sequence[Candidate]): with the candidate. place (int): its place, from 0. form (Form):
        of the looked-up text. facts (NameFacts): of the knowledge base.
    """

    __slots__ = ("added", "candidate", "exact", "facts", "first", "form", "missing", "name",
                 "names", "place", "ranking")  # fmt: skip

    def __init__(
        self,
        ranking: Sequence[Candidate],
        place: int,
        form: Form,
        facts: NameFacts,
    ) -> None:
        self.ranking, self.place, self.form, self.facts = ranking, place, form, facts
        self.candidate = ranking[place]
        self.exact = self.candidate.scores.get("exact", 0.0)
        self.name = facts.form_of(self.candidate.name_row)
        self.added, self.missing = self.name.words - form.words, form.words - self.name.words
        self.first, self.names = facts.names_of(self.candidate.row)


def features_of_candidates(
    ranking: Sequence[Candidate], names: Iterable[str], name_facts: NameFacts
) -> Features:
    """Compute features of the candidates of a ranking, best first: (n_candidates, n_names)."""
    forms = {text: Form.of(text) for text in {candidate.form for candidate in ranking}}
    return _table(
        [
            Described(ranking, rank, forms[candidate.form], name_facts)
            for rank, candidate in enumerate(ranking)
        ],
        names,
    )


def features_of_firsts(
    rankings: Iterable[Sequence[Candidate]], names: Iterable[str], name_facts: NameFacts
) -> Features:
    """Compute features of the first candidates of rankings, none empty: (n_rankings, n_names).

    They depend on the runner-up too, but not on later candidates.
    """
    return _table(
        [Described(ranking, 0, Form.of(ranking[0].form), name_facts) for ranking in rankings], names
    )


def _table(described: Sequence[Described], names: Iterable[str]) -> Features:
    chosen = [FEATURES[name] for name in names]
    rows = [[feature(candidate) for feature in chosen] for candidate in described]
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), len(chosen))


def _of_tier(tier: str) -> Callable[[Described], float]:
    """Make the feature of a tier's score.

    A tier that was not asked, because the exact tier found the name, would score the same.
    """
    return lambda it: round(it.candidate.scores.get(tier, it.exact), DIGITS)


def _beside(tier: str, other: str) -> Callable[[Described], float]:
    """Make the feature of a tier's score times the best score of a tier for this text.

    So a tier counts as much as it, or the other one, has found something like the text.
    """
    of_tier = _of_tier(tier)
    return lambda it: of_tier(it) * max(some.scores.get(other, 0.0) for some in it.ranking)


def _margin(it: Described) -> float:
    # A candidate that the document itself identifies has no competitor; what ties is told apart.
    if len(it.ranking) < 2 or it.candidate.tied or is_identified(it.candidate.scores):
        return MARGIN
    return round(min(max(it.candidate.score - it.ranking[1].score, 0.0), MARGIN), DIGITS)


def _rival(it: Described) -> float:
    if len(it.ranking) < 2 or is_identified(it.candidate.scores):
        return 0.0
    return float(it.ranking[1].scores.get("exact", 0.0) > 0)


def _agreement(it: Described) -> float:
    asked = first = 0
    for tier in _TIERS:
        if tier in it.candidate.scores:
            asked += 1
            first += it.candidate.ranks.get(tier) == 1
    return first / asked if asked else 0.0


def _memory(it: Described) -> float:
    return float(is_identified(it.candidate.scores) or it.candidate.scores.get("memory", 0.0) > 0)


def _spelling(it: Described) -> float:
    orders = {it.name.key, it.name.spoken}
    return max(Indel.normalized_similarity(it.form.key, order) for order in orders)


def _slip(it: Described) -> float:
    """Score how near the spelling of text and name is, if they differ by slips of the pen alone.

    RETURNS (float): 1 less a third for each letter that is left out, added, changed or swapped, and
        for a blank, in words of any order; 0 where more differs, or a number or a short word does.
    """
    slips = 1 if it.form.key.replace(" ", "") == it.name.key.replace(" ", "") else _slips(it)
    return max(0.0, 1 - slips / (_SLIPS + 1)) if not it.exact else 0.0


def _slips(it: Described) -> int:
    """Count the letters by which the words that only one of text and name has differ."""
    written, wanted = sorted(it.missing), sorted(it.added)
    if not 0 < len(written) == len(wanted) <= _SLIPS or any(map(it.facts.is_name, written)):
        return _SLIPS + 1
    orders = {tuple(wanted), tuple(reversed(wanted))}
    return min(sum(map(_letters_apart, written, order)) for order in orders)


def _letters_apart(word: str, wanted: str) -> int:
    # Keys fold ends: "diverticulits" lost its s, "stenosis" is "stenose", and "stenossis" is not.
    ends = {wanted, f"{wanted[:-1]}is" if wanted.endswith("e") else wanted}
    return max(1, min(_between(form, end) for form in (word, f"{word}s") for end in ends))


def _between(word: str, wanted: str) -> int:
    longest = max(len(word), len(wanted))
    allowed = 1 if longest < _LONG else _SLIPS
    distance = OSA.distance(word, wanted, score_cutoff=allowed)
    prefix, other = (_PREFIX.match(text) for text in (word, wanted))
    is_other = prefix and other and prefix[0] and other[0] and prefix[0] != other[0]
    is_slip = longest >= _SHORTEST and word.isalpha() and wanted.isalpha() and not is_other
    return int(distance) if is_slip and distance <= allowed else _SLIPS + 1


def _is_short(it: Described) -> float:
    # A name that is no short form may be written in capitals.
    return float(is_short_form(it.candidate.form.strip()) and it.exact in (0.0, 1.0))


def _relative_length(it: Described) -> float:
    return min(_LONGEST, len(it.name.key) / max(1, len(it.form.key)))


def _is_preferred(it: Described) -> float:
    return float(it.facts.form_of(it.first).key == it.form.key)


def _numbers(words: Iterable[str]) -> frozenset[str]:
    """Take the numbers and single letters of words: 7 of "C7", as of "component 7"; "1a"."""
    return frozenset(
        part for word in words for part in ([word] if len(word) == 1 else _NUMBER.findall(word))
    )


FEATURES: dict[str, Callable[[Described], float]] = {
    # Retrieval. The fused score; its distance from the first candidate's score; 1 / place, from 1.
    "score": lambda it: round(it.candidate.score, DIGITS),
    "behind": lambda it: round(it.ranking[0].score - it.candidate.score, DIGITS),
    "place": lambda it: 1 / (it.place + 1),
    "ngram": _of_tier("ngram"),
    "dense": _of_tier("dense"),
    "ngram, ngram": _beside("ngram", "ngram"),
    "ngram, dense": _beside("ngram", "dense"),
    "dense, ngram": _beside("dense", "ngram"),
    "dense, dense": _beside("dense", "dense"),
    "exact": lambda it: float(it.exact > 0),  # 1 where the exact tier found it
    # 1 where the name differs from the text in letter case at most.
    "same letters": lambda it: float(round(it.exact, DIGITS) >= IN_CAPITALS),
    # The first candidate beside the others.
    "margin": _margin,  # how much less the runner-up scores, up to MARGIN
    "agreement": _agreement,  # share of the tiers that by themselves put it first
    "rival": _rival,  # 1 where the exact tier found the runner-up too
    # 1 where only preferred names, numbers of names and sources, and ids put it first.
    "tied": lambda it: float(bool(it.candidate.tied)),
    "memory": _memory,  # 1 where corrections, or an identifier in the document, say so
    # How the name that matched compares with the text.
    "spelling": _spelling,  # 1 - normalised Indel distance of the keys, also inverted
    "slip": _slip,  # how near the spelling is, where they differ by a slip of the pen
    "relative length": _relative_length,  # length of the name's key / that of the text's, up to 3
    "added": lambda it: len(it.added) / max(1, len(it.name.words)),  # share of the name's words
    "missing": lambda it: len(it.missing) / max(1, len(it.form.words)),  # ... of the text's
    # 1 where they differ in a number or a single letter: type 1 is not type 2
    "numbers": lambda it: float(
        it.added != it.missing and _numbers(it.added) != _numbers(it.missing)
    ),
    "last word": lambda it: float(it.form.last == it.name.last),  # 1 where it is the same
    # 1 where they have the same words in any order.
    "same words": lambda it: float(bool(it.form.words) and it.form.words == it.name.words),
    # The text alone: 1 for short upper-case ones that are no name, or are one as they are written;
    # logarithm of 1 + characters.
    "short form": _is_short,
    "length": lambda it: float(np.log1p(min(len(it.candidate.form), CHARACTERS))),
    # The concept: 1 where the matched name is its preferred name, 1 where the text is, and the
    # logarithm of 1 + its names: concepts with many names are mentioned more often.
    "preferred": lambda it: float(it.candidate.name_row == it.first),
    "is preferred": _is_preferred,
    "names": lambda it: it.names,
    "sources": lambda it: it.facts.sources_of(it.candidate.name_row),  # log of 1 + the name's
    # Annotated text: 1 where it mentions the concept, and logarithms: of 1 + its mentions, and of
    # the share of mentions with ids of the same form.
    "seen": lambda it: it.facts.prior_of(it.candidate.row).seen,
    "often": lambda it: it.facts.prior_of(it.candidate.row).often,
    "scheme": lambda it: it.facts.prior_of(it.candidate.row).scheme,
}
