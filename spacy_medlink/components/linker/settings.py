"""The settings of `medical_linker`: their defaults, and what they may be."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import Errors

if TYPE_CHECKING:  # imported when something is linked: spaCy imports this with every `spacy.blank`
    from ...linking.scopes import ScopeSettings
    from ...retrieval.filters import Filter

DEFAULT_CONFIG: dict[str, Any] = {
    "assets": None,
    "top_k": 5,
    "threshold": None,
    "cui_scheme": None,
    "spans_key": None,
    "tiers": None,
    "exact_first": False,
    "types": None,
    "sources": None,
    "languages": None,
    "allow": None,
    "deny": None,
    "force_within_filter": False,
    "labels": None,
    "favour": None,
    "source_order": None,
    "memory": True,
    "resolve_abbreviations": True,
    "resolve_identifiers": True,
    "lexicon": "clinical",
    "composite": False,
    "backoff": False,
    "backoff_margin": 0.02,
    "labels_discard": None,
    "overwrite": True,
    "merge": "replace",
    "prefix": "",
    "batch_size": 256,
    "cache_size": 16_384,
    "n_threads": 0,
    "encoder": None,
    "use_gold_ents": True,
    "index": None,
    "fusion": None,
    "calibrator": True,
    "ranker": True,
    "reranker": None,
    "rerank_top": None,
    "copy_assets": True,
}
FILTERS = ("types", "sources", "languages", "allow", "deny")


def attribute(setting: str) -> str:
    """Name the component's attribute of a setting: spaCy keeps `labels` for itself."""
    return "label_types" if setting == "labels" else setting


def keys_of(spans_key: str | Sequence[str] | None) -> list[str] | None:
    """List the span groups that a setting names; None for `doc.ents`."""
    if spans_key is None or isinstance(spans_key, str):
        return None if spans_key is None else [spans_key]
    return list(spans_key)


def check(settings: Mapping[str, Any]) -> None:
    """Check settings, some or all.

    RAISES (MedlinkError): E301 for a threshold outside 0..1, E302 for others that are not what
        they may be.
    """
    from ...util.setting_types import check_limits
    from .limits import LinkerLimits

    check_limits(LinkerLimits, {**DEFAULT_CONFIG, **settings}, {"threshold": Errors.bad_threshold})


def make_filter(values: Mapping[str, Sequence[str] | None]) -> "Filter":
    """Make a filter of settings, or of the arguments of a call.

    RAISES (MedlinkError): E302 for a name that no filter has, or text that is not in a list.
    """
    from ...retrieval.filters import Filter

    for name, value in values.items():
        if name not in FILTERS:
            rule = f"a filter has only {', '.join(FILTERS)}"
            raise Errors.bad_setting(name=name, value=value, rule=rule)
        if isinstance(value, str):
            raise Errors.bad_setting(name=name, value=value, rule="must be a list")
    return Filter.of(**values)


def scope_settings(settings: Mapping[str, Any]) -> "ScopeSettings":
    """Collect what holds by label, and the rule for ties."""
    from ...linking.scopes import ScopeSettings

    return ScopeSettings(
        labels=settings["labels"],
        favoured=settings["favour"],
        source_order=tuple(settings["source_order"] or ()),
    )
