"""Web pages of concepts, by vocabulary: for people who want to read what a link means."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from .vocabularies import canonical

_OBO = "http://purl.obolibrary.org/obo/{prefix}_{code}"
# {code} is the id without its vocabulary.
_PAGES = {
    "HP": "https://hpo.jax.org/browse/term/HP:{code}",
    "UMLS": "https://uts.nlm.nih.gov/uts/umls/concept/{code}",
    "MESH": "https://meshb.nlm.nih.gov/record/ui?ui={code}",
    "OMIM": "https://omim.org/entry/{code}",
    "ORPHA": "https://www.orpha.net/en/disease/detail/{code}",
    "SNOMEDCT_US": "https://browser.ihtsdotools.org/?perspective=full&conceptId1={code}",
    "NCIT": "https://evsexplore.semantics.cancer.gov/evsexplore/concept/ncit/{code}",
    "ICD10": "https://icd.who.int/browse10/2019/en#/{code}",
    "ICD10CM": "https://www.icd10data.com/search?s={code}",
    "RXNORM": "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm={code}",
    "LNC": "https://loinc.org/{code}",
    "OMOP": "https://athena.ohdsi.org/search-terms/terms/{code}",
    **{
        name: _OBO.replace("{prefix}", name)
        for name in ("MONDO", "DOID", "UBERON", "GO", "CHEBI", "CL", "MP")
    },
}
# Ids whose shape gives their vocabulary: six digits are OMIM; eight digits are ambiguous.
_SHAPES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6}|[CD]\d{9}"), "MESH"),
    (re.compile(r"\d{6}"), "OMIM"),
    (re.compile(r"\d{9,18}"), "SNOMEDCT_US"),
)


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
    for shape, vocabulary in _SHAPES:
        if shape.fullmatch(id):
            return _page(vocabulary, id)
    return next(
        (url for vocabulary in _PAGES for url in _pages_of(vocabulary, codes)),
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
    if name not in _PAGES:
        return ""
    return _PAGES[name].format(code=quote(code.removeprefix(f"{name}:"), safe=".-"))
