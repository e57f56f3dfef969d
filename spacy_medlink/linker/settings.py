"""The settings of `medical_linker`: their defaults, and what they may be."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Errors

if TYPE_CHECKING:  # imported when something is linked: spaCy imports this with every `spacy.blank`
    from ..linking.scopes import ScopeSettings
    from ..retrieval.filters import Filter

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
MERGES = ("replace", "fill", "better", "leave")
_TIERS = {"exact", "ngram", "dense"}
_SEARCH = {"ef_search", "nprobe", "k_factor"}


def attribute(setting: str) -> str:
    """Name the component's attribute of a setting: spaCy keeps `labels` for itself."""
    return "label_types" if setting == "labels" else setting


def keys_of(spans_key: str | Sequence[str] | None) -> list[str] | None:
    """List the span groups that a setting names; None for `doc.ents`."""
    if spans_key is None or isinstance(spans_key, str):
        return None if spans_key is None else [spans_key]
    return list(spans_key)


def check(settings: Mapping[str, Any]) -> None:
    """Check values that types alone do not.

    RAISES (MedlinkError): E301 for a threshold outside 0..1, E302 for others out of range.
    """
    for name in ("threshold", "backoff_margin"):
        if settings[name] is not None and not 0 <= settings[name] <= 1:
            raise (
                Errors.bad_threshold(threshold=settings[name])
                if name == "threshold"
                else _bad(settings, name, "must lie between 0 and 1")
            )
    for name in ("top_k", "batch_size"):
        if settings[name] < 1:
            raise _bad(settings, name, "must be at least 1")
    for name in ("cache_size", "n_threads"):
        if settings[name] < 0:
            raise _bad(settings, name, "must be at least 0")
    if (settings["rerank_top"] or 0) < 0:
        raise _bad(settings, "rerank_top", "must be at least 0, or null")
    if settings["merge"] not in MERGES:
        raise _bad(settings, "merge", f"must be one of {', '.join(MERGES)}")
    keys = keys_of(settings["spans_key"])
    if keys is not None and (not keys or len(set(keys)) < len(keys)):
        raise _bad(settings, "spans_key", "must be a key, or a list of different keys")
    tiers = settings["tiers"]
    if tiers == [] or set(tiers or ()) - _TIERS:
        rule = "must name at least one of exact, ngram, dense and nothing else"
        raise _bad(settings, "tiers", rule)
    index = settings["index"] or {}
    if set(index) - _SEARCH or any(value < 1 for value in index.values()):
        raise _bad(settings, "index", "may hold ef_search, nprobe and k_factor, each at least 1")


def make_filter(values: Mapping[str, Sequence[str] | None]) -> "Filter":
    """Make a filter of settings, or of the arguments of a call.

    RAISES (MedlinkError): E302 for a name that no filter has, or text that is not in a list.
    """
    from ..retrieval.filters import Filter

    for name, value in values.items():
        if name not in FILTERS:
            rule = f"a filter has only {', '.join(FILTERS)}"
            raise Errors.bad_setting(name=name, value=value, rule=rule)
        if isinstance(value, str):
            raise Errors.bad_setting(name=name, value=value, rule="must be a list")
    return Filter.of(**values)


def scope_settings(settings: Mapping[str, Any]) -> "ScopeSettings":
    """Collect what holds by label, and the rule for ties."""
    from ..linking.scopes import ScopeSettings

    return ScopeSettings(
        labels=settings["labels"],
        favoured=settings["favour"],
        source_order=tuple(settings["source_order"] or ()),
    )


def _bad(settings: Mapping[str, Any], name: str, rule: str) -> Exception:
    return Errors.bad_setting(name=name, value=settings[name], rule=rule)
