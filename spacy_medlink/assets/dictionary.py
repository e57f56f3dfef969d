"""The dictionary of `medical_mentions`: the exact tier, and a selection of its names.

With `any_order` a name can have two keys: its own key, and the key of its words in any order, where
one form stands for all forms of a word (`text.word_forms`). One index holds both keys, so that
they are saved, mapped and shared together.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..text.normalisation import hash_key, is_short_form, key
from ..text.word_forms import NO_FORMS, Forms, learn_forms
from ..types import Ints1d

if TYPE_CHECKING:
    from ..kb import KnowledgeBase
    from ..retrieval.exact import ExactIndex
    from ..retrieval.mask import Mask
    from .assets import Assets

_PAIR = np.dtype([("hash", np.int64), ("row", np.uint32)])
_ANY_ORDER = "\x00"  # begins a key of words in any order; no key of a name contains it
# Words that may be missing, in lower case only: "DE" and "OF" may be abbreviations.
_LINKS = frozenset("of the de del du des".split())
_MOST_WORDS = 8
_CHUNK = 4096
_MOST_NAMES = 200_000  # names to learn forms from; of more, every second or nth concept is read


class Choice(NamedTuple):
    """The names that a dictionary holds; a missing field allows everything.

    types, languages, deny (Tuple[str, ...]): as in `retrieval.filters.Filter`.
    branches (Tuple[str, ...]): ids; only these concepts and those below them.
    within (str): as in `retrieval.filters.Filter`.
    any_order (bool): also find names by their words, or other forms of these, in any order.
    """

    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    within: str = ""
    any_order: bool = False


def make_dictionary(assets: "Assets", choice: Choice, forms: Forms = NO_FORMS) -> "ExactIndex":
    """Make the index of a choice; it is the exact tier of the assets (see `allowed_names`).

    Only `any_order` needs an index of its own, which is made in memory.

    forms (Forms): of the words of names, as `word_forms` learns them.

    RAISES (MedlinkError): E106 for an unknown branch, E213 for an unknown type, group or
        language, E224 for a wrong expression.
    """
    if not choice.any_order:
        return assets.exact
    from ..retrieval.exact import ExactIndex

    kb = assets.kb
    allowed = allowed_names(assets, choice)
    pairs = np.fromiter(kb.lookup_table(), dtype=_PAIR)
    pairs = pairs[allowed[pairs["row"]]]
    more = np.fromiter(_in_any_order(kb.iter_texts(), allowed, forms), dtype=_PAIR)
    pairs = np.sort(np.concatenate([pairs, more]), order=["hash", "row"])
    words = assets.exact.vocabulary
    return ExactIndex.build(_streamed(pairs), kb.iter_texts(), kb.texts_at, words)


def allowed_names(assets: "Assets", choice: Choice) -> NDArray[np.bool_]:
    """Tell for each name whether it is chosen: (n_names,).

    RAISES (MedlinkError): E106, E213, E224, as for `make_dictionary`.
    """
    from ..retrieval.filters import Filter, select

    only = Filter.of(
        types=choice.types, languages=choice.languages, deny=choice.deny, within=choice.within
    )
    mask = assets.filters.mask(select(only))
    allowed = np.ones(assets.kb.n_names, dtype=np.bool_)
    if mask is not None:
        allowed = mask.passes(np.arange(assets.kb.n_names))
    if choice.branches:
        below = assets.filters.hierarchy.below(_rows(assets.kb, choice.branches))
        allowed &= below[assets.filters.name_concept]
    return allowed


def word_forms(assets: "Assets", names: "Mask | None" = None) -> dict[str, str]:
    """Learn from the names of assets which words are forms of the same word.

    names (Optional[Mask]): those to learn from; None for all.
    """
    concepts = assets.kb.name_concepts()
    step = 1 + assets.kb.n_names // _MOST_NAMES
    taken = concepts % step == 0
    if names is not None:
        taken &= names.passes(np.arange(assets.kb.n_names))
    return learn_forms(
        (name_words(text), concept)
        for text, concept, is_taken in zip(
            assets.kb.iter_texts(), concepts.tolist(), taken.tolist(), strict=True
        )
        if is_taken and not is_short_form(text)
    )


def any_order_key(words: Iterable[str], forms: Forms = NO_FORMS) -> str:
    """Make the key of words in any order; "" for fewer than two words with a meaning.

    words (Iterable[str]): as they are written; their inflections are removed.
    """
    return any_order_key_of([forms.get(own, own) for own in name_words(" ".join(words))])


def any_order_key_of(parts: Sequence[str]) -> str:
    """Make the key of words in any order from the forms of their keys (`name_words`)."""
    return _ANY_ORDER + " ".join(sorted(parts)) if 2 <= len(parts) <= _MOST_WORDS else ""


def name_has_key(name: str, own: str, forms: Forms = NO_FORMS) -> bool:
    """Tell whether a dictionary has a name under a key."""
    return own == (any_order_key(name.split(), forms) if own.startswith(_ANY_ORDER) else key(name))


def name_words(text: str) -> list[str]:
    """List the keys of a text's words, without linking words."""
    return [part for word in text.split() if not is_link(word) for part in key(word).split()]


def is_link(word: str) -> bool:
    """Tell whether a word only links other words: "of", "the"."""
    return word in _LINKS


def _streamed(pairs: NDArray[np.void]) -> Iterator[tuple[int, int]]:
    """Stream records as tuples; a list of them takes nine times the memory of the array."""
    for start in range(0, len(pairs), _CHUNK):
        yield from pairs[start : start + _CHUNK].tolist()


def _in_any_order(
    texts: Iterable[str], allowed: NDArray[np.bool_], forms: Forms
) -> Iterator[tuple[int, int]]:
    for row, text in enumerate(texts):
        if allowed[row] and not is_short_form(text):
            own = any_order_key(text.split(), forms)
            if own:
                yield int(np.uint64(hash_key(own)).astype(np.int64)), row


def _rows(kb: "KnowledgeBase", ids: Sequence[str]) -> Ints1d:
    found = []
    for id in ids:
        resolved = kb.resolve(id)
        if resolved is None:
            raise Errors.unknown_concept(path=kb.path, id=id)
        found.append(kb.row_of(resolved))
    return np.unique(found)
