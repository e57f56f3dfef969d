"""The ids of a mention as corpora write them in one cell."""

import re

from .records import Ids

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
