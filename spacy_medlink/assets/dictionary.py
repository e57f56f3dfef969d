"""The names that `medical_mentions` may find, and the forms of their words."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..text.any_order import name_words
from ..text.normalisation import is_short_form, key
from ..text.word_forms import learn_forms
from ..text.word_lists import lines_of

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from .assets import Assets

_LANGUAGES = ("en", "de", "es", "fr", "it")  # that have lists of words that mean the same
_MOST_NAMES = 200_000  # names to learn forms from; of more, every second or nth concept is read


class Choice(NamedTuple):
    """The names that may be found; a missing field allows everything.

    types, languages (Tuple[str, ...]), within (str): as in `retrieval.filters.Filter`.
    """

    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    within: str = ""


def allowed_names(assets: "Assets", choice: Choice) -> NDArray[np.bool_]:
    """Tell for each name whether it is chosen: (n_names,).

    RAISES (MedlinkError): E106 for an unknown concept, E213 for an unknown type, group or
        language, E224 for a wrong expression.
    """
    from ..retrieval.filters import Filter, select

    mask = assets.filters.mask(select(Filter.of(**choice._asdict())))
    if mask is None:
        return np.ones(assets.kb.n_names, dtype=np.bool_)
    return mask.passes(np.arange(assets.kb.n_names))


def word_forms(kb: "KnowledgeBase") -> dict[str, str]:
    """Learn from the names of a knowledge base which words are forms of the same word."""
    concepts = kb.name_concepts()
    step = 1 + kb.n_names // _MOST_NAMES
    names = (
        (name_words(text), concept)
        for text, concept in zip(kb.iter_texts(), concepts.tolist(), strict=True)
        if concept % step == 0 and not is_short_form(text)
    )
    lines = (line for lang in _LANGUAGES for line in lines_of("clusters", lang))
    return learn_forms(names, [list(map(key, line.split())) for line in lines])
