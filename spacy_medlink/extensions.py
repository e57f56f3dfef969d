"""The attributes that a linker sets on spans, in one table."""

from collections.abc import Mapping
from typing import Any

from spacy.tokens import Span

SPAN_ATTRIBUTES: Mapping[str, Any] = {
    "cui": None,  # id of the link in the scheme `cui_scheme`, None for NIL
    "kb_ents": [],  # [[id, score], ...], best first
    "candidates": [],  # ranked dicts: id, name, matched, score, prob, scores, ranks, types
    "codes": {},  # codes of the link by vocabulary
    "ambiguous": [],  # ids that nothing tells apart but their order, the link's among them
    "reason": "",  # why it is NIL
    "backed_off": [],  # ids of near ties that the link stands for, being above them
    "parts": [],  # of a composite mention, each with text, id, cui, name, matched, score
    "ambiguous_codes": [],  # codes that `cui` was chosen from where no name told them apart
}

READING = "reading"  # what a mention says, where it is written otherwise; set by `medical_mentions`

_PREFIXES: dict[str, None] = {}  # in the order of their registration


def registered_prefixes() -> list[str]:
    """List the prefixes that linkers of this process write under."""
    return list(_PREFIXES)


def register_extensions(prefix: str = "") -> None:
    """Register the attributes under a prefix; what is registered already is left alone.

    prefix (str): put before each name, so that several linkers do not share attributes.
    """
    _PREFIXES[prefix] = None
    for name, default in SPAN_ATTRIBUTES.items():
        if not Span.has_extension(prefix + name):
            Span.set_extension(prefix + name, default=default)


def register_reading() -> None:
    """Register `span._.reading`, which no linker writes, hence without a prefix."""
    if not Span.has_extension(READING):
        Span.set_extension(READING, default="")
