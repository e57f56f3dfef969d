"""Forms: the texts to look up for a mention, and how their answers become one ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..retrieval.concepts import MEMORY, merge_forms
from ..types import Candidate, Mention

if TYPE_CHECKING:
    from .gate import Gate
    from .scopes import Scope

Asked = tuple[str, bytes]
"""A form, and its vector where it stands; b"" for that of the form alone."""

# A text that is defined as an abbreviation means its long form. The short form alone is tried too,
# at a discount, because some definitions are found by mistake.
SHORT_FORM_DISCOUNT = 0.9


class Forms(NamedTuple):
    """The texts to look up for a mention, with single spaces.

    text (str): of the mention.
    longer (Tuple[str, ...]): the meanings that the document gives, or else those of a lexicon.
    verbatim (Tuple[str, ...]): texts of a lexicon that only count as names, best first: see
        `Mention.verbatim`; () where no lexicon decides.
    vector (bytes): of the text in its context, see `Mention.vector`.
    """

    text: str
    longer: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    vector: bytes = b""

    @classmethod
    def of(cls, mention: Mention) -> "Forms":
        """Make the forms of a mention; the document has priority over a lexicon."""
        text, long_form = " ".join(mention.text.split()), " ".join(mention.long_form.split())
        if long_form:
            return cls(text, (long_form,), (), mention.vector)
        return cls(text, mention.expansions, mention.verbatim, mention.vector)

    @property
    def all(self) -> list[str]:
        """List the texts to look up, the mention's text last: corrections may remember it."""
        every = dict.fromkeys((*self.longer, *self.verbatim, self.text))
        every[self.text] = every.pop(self.text)
        return [form for form in every if form.strip()]

    @property
    def asked(self) -> list[Asked]:
        """List `all` with the known vectors: only the text itself has a context."""
        return [(form, self.vector if form == self.text else b"") for form in self.all]

    def discount(self, form: str) -> float:
        """Get the factor for the scores of a form."""
        has_others = self.longer or self.verbatim not in ((), (self.text,))
        return SHORT_FORM_DISCOUNT if has_others and form == self.text else 1.0

    def counts(self, form: str, one: Candidate) -> bool:
        """Tell whether a candidate has the form as a name, or by corrections."""
        is_name = form in self.verbatim and bool(one.scores.get("exact"))
        return is_name or (form == self.text and bool(one.scores.get(MEMORY)))

    def best(self, by_form: Mapping[str, list[Candidate]], k: int) -> list[Candidate]:
        """Merge the rankings of the forms; each concept keeps its best score.

        by_form: the ranking of each form of `all`. k (int): candidates wanted.
        """
        if not self.longer and not self.verbatim:
            return by_form.get(self.text, [])
        if not self.verbatim:
            return merge_forms([self._discounted(form, by_form[form]) for form in self.all], k)
        if remembered := [one for one in by_form[self.text] if one.scores.get(MEMORY)]:
            return remembered[:k]
        named = [
            [one for one in self._discounted(form, by_form[form]) if self.counts(form, one)]
            for form in self.verbatim
        ]
        similar = merge_forms([self._discounted(form, by_form[form]) for form in self.longer], k)
        return _in_order([*named, similar], by_form[self.text])[:k]

    def _discounted(self, form: str, ranking: Sequence[Candidate]) -> list[Candidate]:
        discount = self.discount(form)
        return [replace(one, score=one.score * discount, form=form) for one in ranking]


class Way(NamedTuple):
    """The way to look up mentions; mentions of the same way are looked up together.

    all_tiers (bool): ask all tiers, even where the memory or the exact tier has an answer.
    gate (Optional[Gate]): the dense tier is not asked for answers that pass the gate.
    enough (int): concepts after which no tier is asked for more names.
    width (int): candidates of the ranking, at least `enough`.
    """

    all_tiers: bool
    enough: int
    width: int
    gate: "Gate | None" = None


class LookupKey(NamedTuple):
    """The text to look up for a mention, and the way: the key of remembered rankings.

    scope (Scope): the concepts that may be answers, and the rule for ties.
    """

    forms: Forms
    scope: "Scope"
    way: Way

    def best_in(self, scope: "Scope") -> "LookupKey":
        """Make the key for the best concept alone, in another scope."""
        return self._replace(scope=scope, way=self.way._replace(enough=1, width=1))


def has_letters(form: str) -> bool:
    """Tell whether a form has letters; forms like "120" and "---" cannot resemble a name."""
    return any(map(str.isalpha, form))


def _in_order(
    rankings: Sequence[Sequence[Candidate]], of_text: Sequence[Candidate]
) -> list[Candidate]:
    """Join rankings; each concept occurs once, and no candidate scores more than an earlier one.

    of_text: the candidates of the text itself. If the first concept also has the text as a name,
        both rankings agree, and the higher score is taken.
    """
    ordered: dict[int, Candidate] = {}
    most = float("inf")
    for candidate in (one for ranking in rankings for one in ranking):
        if candidate.row not in ordered:
            most = min(most, candidate.score)
            ordered[candidate.row] = replace(candidate, score=most)
    found = list(ordered.values())
    same = [one for one in of_text if found and one.row == found[0].row and one.scores.get("exact")]
    return [max((found[0], *same), key=lambda one: one.score), *found[1:]] if same else found
