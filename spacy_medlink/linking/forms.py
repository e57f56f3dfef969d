"""Forms: what is looked up for a mention, and how the answers for its forms become one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..retrieval.concepts import merge_forms
from ..types import Candidate, Mention

# A text that is defined as an abbreviation means its long form; the short form alone is tried too,
# at a discount, because definitions are sometimes found where there are none.
SHORT_FORM_DISCOUNT = 0.9


def forms_of(text: str, long_form: str, expansions: Sequence[str] = ()) -> list[str]:
    """List what to look up, the text itself last: what the document says goes before a lexicon."""
    longer = (long_form,) if long_form.strip() else expansions
    return [form for form in dict.fromkeys((*longer, text)) if form.strip()]


def forms_of_mention(mention: Mention) -> list[str]:
    """List what to look up for a mention."""
    return forms_of(mention.text, mention.long_form, mention.expansions)


def has_letters(form: str) -> bool:
    """Tell whether a form may resemble a name; "120" and "---" are one, or are nothing."""
    return any(map(str.isalpha, form))


def best_of(
    text: str, forms: Sequence[str], by_form: Mapping[str, list[Candidate]], k: int
) -> list[Candidate]:
    """Unite the rankings of a mention's forms, keeping each concept's best."""
    if len(forms) < 2:
        return by_form[forms[0]] if forms else []
    rankings = []
    for form in forms:
        discount = SHORT_FORM_DISCOUNT if form == text else 1.0
        rankings.append(
            [replace(one, score=one.score * discount, form=form) for one in by_form[form]]
        )
    return merge_forms(rankings, k)
