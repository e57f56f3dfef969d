"""The ids of a mention as corpora write them in one cell."""

import re
from collections.abc import Mapping

from ..kb.readers.xrefs import code_by_shape, compact
from ..kb.vocabularies import is_known
from .documents import UNSAID, Ids

# Ways in which corpora write NIL.
NO_CONCEPT = frozenset({
    "", "-1", "cui-less", "cuiless", "concept_less", "no_code", "nocode", "nil", "none", "null",
    "na", "n/a", "nan", "-",
})  # fmt: skip
_CUI = re.compile(r"(?<![A-Z0-9])C\d{7}(?!\d)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<!\d)\d{6,18}(?!\d)")


def split_ids(cell: str, separators: str = "|+", prefix: str = "") -> Ids:
    """Split a cell of ids that form one composite link.

    separators (str): characters between ids. prefix (str): removed from the ids.
    """
    ids = re.split(f"[{re.escape(separators)}]", cell) if separators else [cell]
    return together(*(id.strip().removeprefix(prefix) for id in ids))


def together(*ids: str) -> Ids:
    """Make the composite link of ids; ids for NIL are left out."""
    kept = tuple(dict.fromkeys(id for id in map(_clean, ids) if id))
    return Ids(kept, len(kept) > 1)


def or_unsaid(ids: list[str]) -> Ids:
    """Make the link of alternative ids; none means that nothing is said."""
    return either(*ids) if ids else UNSAID


def either(*ids: str) -> Ids:
    """Make the link of alternative ids, each of which is right."""
    return together(*ids)._replace(composite=False)


def cuis_in(text: str) -> list[str]:
    """Find UMLS CUIs in a cell that may also hold names."""
    return [cui.upper() for cui in _CUI.findall(text)]


def numbers_in(text: str) -> list[str]:
    """Find codes of 6 to 18 digits, as SNOMED CT and MedDRA have."""
    return _NUMBER.findall(text)


def _clean(id: str) -> str:
    id = "".join(character for character in id if character.isprintable()).strip()
    return "" if id.lower() in NO_CONCEPT else id


# What tools and their users call the feature that holds an id, the surest first.
_CALLED = (
    "identifier", "cui", "cuis", "conceptid", "concept", "kbid", "entityid", "ontologyid", "dbid",
    "normid", "code", "codes", "ids", "umls", "umlscui", "snomed", "snomedct", "sctid", "hpo",
    "hpoid", "mesh", "meshid", "icd10", "icd10cm", "icd", "loinc", "rxnorm", "rxcui", "omim",
)  # fmt: skip
_ICD = re.compile(r"[A-Z]\d\d(?:\.\w{1,4})?")


def stated_ids(features: Mapping[str, object]) -> list[str]:
    """List an annotation's ids: of the feature with the name of one, else what looks like one."""
    by_name = {re.sub(r"[\W_]", "", name).lower(): value for name, value in features.items()}
    values = (str(by_name[name]) for name in _CALLED if by_name.get(name))
    likely = (str(value) for value in features.values() if _is_surely_id(str(value)))
    cell = next(values, "") or next(likely, "")
    cell = cell.strip()
    if cell.startswith(("http://", "https://")):
        return [compact(part) for part in cell.split()]
    return [id for id in re.split(r"[|;,\s]+", cell) if id]


def is_id(text: str) -> bool:
    """Tell whether a label is a concept's id: by a known vocabulary before it, or its shape."""
    prefix, _, code = text.partition(":")
    if code:
        return is_known(prefix) or prefix in ("http", "https")
    return bool(code_by_shape(text) or _ICD.fullmatch(text)) and not re.fullmatch(r"T\d{3}", text)


def _is_surely_id(text: str) -> bool:
    """Tell whether a feature of any name is an id: numbers and codes of the ICD need not be."""
    is_other = text.isdecimal() or _ICD.fullmatch(text) or text.startswith("http")
    return is_id(text) and not (is_other and "/obo/" not in text)
