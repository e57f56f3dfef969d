"""Lookups: the texts to look up for a mention, and how their answers become one ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..retrieval.concepts import MEMORY, merge_forms
from ..types import Candidate, Mention
from .scopes import EVERYTHING, Scope

Asked = tuple[str, bytes]
"""A form, and its vector where it stands; b"" for that of the form alone."""

# A text that is defined as an abbreviation means its long form. The short form alone is tried too,
# at a discount, because some definitions are found by mistake.
SHORT_FORM_DISCOUNT = 0.9


class Effort(NamedTuple):
    """How much is asked for a mention; mentions of the same effort are looked up together.

    all_tiers (bool): ask all tiers, even where the memory or the exact tier has an answer.
    enough (int): concepts after which no tier is asked for more names.
    width (int): candidates of the ranking, at least `enough`.
    gated (bool): the dense tier is not asked where memory and exact tier settle the answer.
    """

    all_tiers: bool = True
    enough: int = 1
    width: int = 1
    gated: bool = False


USUAL = Effort()


class Lookup(NamedTuple):
    """The texts to look up for a mention, with single spaces; the key of remembered rankings.

    text (str): of the mention.
    longer (Tuple[str, ...]): the meanings that the document gives, or else those of a lexicon.
    verbatim (Tuple[str, ...]): texts of a lexicon that only count as names, best first: see
        `Mention.verbatim`; () where no lexicon decides.
    vector (bytes): of the text in its context, see `Mention.vector`.
    scope (Scope): the concepts that may be answers, and the rule for ties.
    """

    text: str
    longer: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    vector: bytes = b""
    scope: Scope = EVERYTHING
    effort: Effort = USUAL

    @classmethod
    def of(cls, mention: Mention, scope: Scope = EVERYTHING, effort: Effort = USUAL) -> "Lookup":
        """Make the lookup of a mention; the document has priority over a lexicon."""
        text = " ".join(mention.text.split())
        if long_form := " ".join(mention.long_form.split()):
            return cls(text, (long_form,), (), mention.vector, scope, effort)
        return cls(text, mention.expansions, mention.verbatim, mention.vector, scope, effort)

    def best_in(self, scope: Scope) -> "Lookup":
        """Make the lookup of the best concept alone, in another scope."""
        return self._replace(scope=scope, effort=self.effort._replace(enough=1, width=1))

    @property
    def forms(self) -> list[str]:
        """List the texts to look up, the mention's text last: corrections may remember it."""
        if not self.longer and not self.verbatim:
            return [self.text] if self.text.strip() else []
        every = dict.fromkeys((*self.longer, *self.verbatim, self.text))
        every[self.text] = every.pop(self.text)
        return [form for form in every if form.strip()]

    @property
    def asked(self) -> list[Asked]:
        """List `forms` with the known vectors: only the text itself has a context."""
        if not self.longer and not self.verbatim:
            return [(self.text, self.vector)] if self.text.strip() else []
        return [(form, self.vector if form == self.text else b"") for form in self.forms]

    def discount(self, form: str) -> float:
        """Get the factor for the scores of a form."""
        has_others = self.longer or self.verbatim not in ((), (self.text,))
        return SHORT_FORM_DISCOUNT if has_others and form == self.text else 1.0

    def counts(self, form: str, candidate: Candidate) -> bool:
        """Tell whether a candidate has the form as a name, or by corrections."""
        is_name = form in self.verbatim and bool(candidate.scores.get("exact"))
        return is_name or (form == self.text and bool(candidate.scores.get(MEMORY)))

    def best(self, answers: Mapping[Asked, list[Candidate]]) -> list[Candidate]:
        """Merge the rankings of the forms; each concept keeps its best score.

        answers: the ranking of each of `asked`, and of others.
        """
        k = self.effort.width
        if not self.longer and not self.verbatim:
            return answers.get((self.text, self.vector), [])
        by_form = {form: answers[form, vector] for form, vector in self.asked}
        if not self.verbatim:
            return merge_forms([self._discounted(form, by_form[form]) for form in self.forms], k)
        if remembered := [it for it in by_form[self.text] if it.scores.get(MEMORY)]:
            return remembered[:k]
        named = [
            [it for it in self._discounted(form, by_form[form]) if self.counts(form, it)]
            for form in self.verbatim
        ]
        similar = merge_forms([self._discounted(form, by_form[form]) for form in self.longer], k)
        return _in_order([*named, similar], by_form[self.text])[:k]

    def _discounted(self, form: str, ranking: Sequence[Candidate]) -> list[Candidate]:
        discount = self.discount(form)
        return [replace(it, score=it.score * discount, form=form) for it in ranking]


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
    for candidate in (it for ranking in rankings for it in ranking):
        if candidate.row not in ordered:
            most = min(most, candidate.score)
            ordered[candidate.row] = replace(candidate, score=most)
    joined = list(ordered.values())
    if not joined:
        return []
    first, *rest = joined
    same = [it for it in of_text if it.row == first.row and it.scores.get("exact")]
    return [max((first, *same), key=lambda it: it.score), *rest]
