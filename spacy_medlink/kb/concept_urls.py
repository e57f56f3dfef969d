"""Web pages of concepts, by vocabulary: for people who want to read what a link means."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from .vocabularies import VOCABULARIES, by_shape, canonical


def concept_url(id: str, codes: Mapping[str, Sequence[str]] | None = None) -> str:
    """Find the web page of a concept.

    The vocabulary is that of the id's prefix ("HP:0001250"), else that of the codes which include
    the id, else that of the id's shape. An id without a page gets the page of one of its codes.

    codes (Optional[Mapping[str, Sequence[str]]]): the concept's codes by vocabulary.
    RETURNS (str): "" when no page is known.
    """
    codes = codes or {}
    prefix, colon, local = id.partition(":")
    if colon and (url := _page(prefix, local)):
        return url
    for vocabulary, values in codes.items():
        if id in values and (url := _page(vocabulary, id)):
            return url
    if vocabulary := by_shape(id):
        return _page(vocabulary, id)
    return next(
        (url for vocabulary in VOCABULARIES for url in _pages_of(vocabulary, codes)),
        "",
    )


class ConceptPages:
    """The pages of concepts, for displaCy's option `kb_url_template`.

    codes_of (Callable[[str], Mapping[str, Sequence[str]]]): the codes of an id by vocabulary, none
        for an unknown id.
    """

    def __init__(self, codes_of: Callable[[str], Mapping[str, Sequence[str]]]) -> None:
        self._codes_of = codes_of

    def format(self, id: str) -> str:
        """Return the address of a concept's page, escaped for HTML; "#" without a page."""
        return escape(concept_url(id, self._codes_of(id))) or "#"


def _pages_of(vocabulary: str, codes: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        _page(name, value)
        for name, values in codes.items()
        if canonical(name) == vocabulary
        for value in values[:1]
    ]


def _page(vocabulary: str, code: str) -> str:
    name = canonical(vocabulary)
    page = VOCABULARIES[name].page if name in VOCABULARIES else ""
    return page.format(code=quote(code.removeprefix(f"{name}:"), safe=".-"))
