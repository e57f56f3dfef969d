"""Forms: what is looked up for a mention, and how the answers for its forms become one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..retrieval.concepts import MEMORY, merge_forms
from ..types import Candidate, Mention

if TYPE_CHECKING:
    from ..ranking.gate import Gate
    from .scopes import Scope

Asked = tuple[str, bytes]
"""A form, and its vector where it stands; b"" for that of the form alone."""

# A text that is defined as an abbreviation means its long form; the short form alone is tried too,
# at a discount, because definitions are sometimes found where there are none.
SHORT_FORM_DISCOUNT = 0.9


class Forms(NamedTuple):
    """What to look up for a mention; runs of white space are one space.

    text (str): of the mention.
    longer (Tuple[str, ...]): what the document says it means, else what a lexicon says.
    verbatim (Tuple[str, ...]): what a lexicon has looked up as names alone, best first: see
        `Mention.verbatim`; () where no lexicon decides.
    vector (bytes): of the text where it stands, see `Mention.vector`.
    """

    text: str
    longer: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    vector: bytes = b""

    @classmethod
    def of(cls, mention: Mention) -> "Forms":
        """Make the forms of a mention: what the document says goes before a lexicon."""
        text, long_form = " ".join(mention.text.split()), " ".join(mention.long_form.split())
        if long_form:
            return cls(text, (long_form,), (), mention.vector)
        return cls(text, mention.expansions, mention.verbatim, mention.vector)

    @property
    def all(self) -> list[str]:
        """List what to look up, the text itself last; it may be what corrections remember."""
        every = dict.fromkeys((*self.longer, *self.verbatim, self.text))
        every[self.text] = every.pop(self.text)
        return [form for form in every if form.strip()]

    @property
    def asked(self) -> list[Asked]:
        """List `all` with the vectors that are known: only the text stands in a context."""
        return [(form, self.vector if form == self.text else b"") for form in self.all]

    def discount(self, form: str) -> float:
        """Tell by what the scores of a form are multiplied."""
        has_others = self.longer or self.verbatim not in ((), (self.text,))
        return SHORT_FORM_DISCOUNT if has_others and form == self.text else 1.0

    def counts(self, form: str, one: Candidate) -> bool:
        """Tell whether what was found counts where only names do: corrections make names, too."""
        is_name = form in self.verbatim and bool(one.scores.get("exact"))
        return is_name or (form == self.text and bool(one.scores.get(MEMORY)))

    def best(self, by_form: Mapping[str, list[Candidate]], k: int) -> list[Candidate]:
        """Unite the rankings of the forms, keeping each concept's best.

        by_form: the ranking of each of `all`. k (int): candidates wanted.
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
    """How mentions are looked up: those of one way are looked up together.

    all_tiers (bool): whether more than memory and exact tier are asked where these have an answer.
    gate (Optional[Gate]): where it lets these answers pass, the dense tier is not asked.
    enough (int): concepts that need no more names than the tiers propose at once.
    width (int): candidates of the ranking, `enough` at least.
    """

    all_tiers: bool
    enough: int
    width: int
    gate: "Gate | None" = None


class LookupKey(NamedTuple):
    """What to look up for a mention, and how: the key of remembered rankings.

    scope (Scope): what may be an answer, and the rule for ties.
    """

    forms: Forms
    scope: "Scope"
    way: Way

    def best_in(self, scope: "Scope") -> "LookupKey":
        """Ask for the best concept alone, in another scope."""
        return self._replace(scope=scope, way=self.way._replace(enough=1, width=1))


def has_letters(form: str) -> bool:
    """Tell whether a form may resemble a name; "120" and "---" are one, or are nothing."""
    return any(map(str.isalpha, form))


def _in_order(
    rankings: Sequence[Sequence[Candidate]], of_text: Sequence[Candidate]
) -> list[Candidate]:
    """Put rankings one behind the other, each concept once; none scores more than those before.

    of_text: what the text itself found. Where the concept that comes first has the text as a name,
        too, both say the same, and what scores more is taken.
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
