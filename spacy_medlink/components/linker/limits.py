"""What the settings of `medical_linker` may be."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator
from thinc.api import Model

from ...util.setting_types import (
    LIST_RULE,
    PATH_RULE,
    TEXT_RULE,
    Limits,
    Place,
    Text,
    TextLists,
    Texts,
    rule,
    share,
    whole,
)

_CANDIDATES = 10_000  # of a mention; memory and time grow with it
_FAVOURED = 254  # places of a tie rule, which has a byte for them
_SEARCH = {"ef_search": 1_000_000, "nprobe": 1_000_000, "k_factor": 10_000}
_FLAG = "must be true or false"
_MODEL = "must be a model of an architecture, or null"
_LABELS = "must be lists of types by label, in characters that can be written, or null"


def _keys(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list) and (not value or len(set(value)) < len(value)):
        raise ValueError("no keys, or the same twice")
    return value


def _some(value: list[str]) -> list[str]:
    if not value:
        raise ValueError("none")
    return value


def _places(value: dict[str, list[str]]) -> dict[str, list[str]]:
    if any(len(types) > _FAVOURED for types in value.values()):
        raise ValueError("too many")
    return value


def _search(value: dict[str, int]) -> dict[str, int]:
    if any(not 1 <= number <= _SEARCH.get(name, 0) for name, number in value.items()):
        raise ValueError("unknown, or out of range")
    return value


def _fusion(value: Any) -> Any:
    if value is not None and not (callable(value) and hasattr(value, "with_weights")):
        raise ValueError("no fusion")
    return value


class LinkerLimits(Limits):
    """Limits of the settings of MedicalLinker, which says what they mean."""

    assets: Place | None = rule(PATH_RULE)
    top_k: int = whole(1, _CANDIDATES)
    threshold: float | None = share()
    cui_scheme: Text | None = rule(TEXT_RULE)
    spans_key: Annotated[Text | Texts, AfterValidator(_keys)] | None = rule(
        "must be a key, or a list of different keys"
    )
    tiers: Annotated[list[Literal["exact", "ngram", "dense"]], AfterValidator(_some)] | None = rule(
        "must name at least one of exact, ngram, dense and nothing else"
    )
    exact_first: bool = rule(_FLAG)
    types: Texts | None = rule(LIST_RULE)
    sources: Texts | None = rule(LIST_RULE)
    languages: Texts | None = rule(LIST_RULE)
    allow: Texts | None = rule(LIST_RULE)
    deny: Texts | None = rule(LIST_RULE)
    force_within_filter: bool = rule(_FLAG)
    labels: TextLists | None = rule(_LABELS)
    favour: Annotated[TextLists, AfterValidator(_places)] | None = rule(
        f"{_LABELS}; at most {_FAVOURED} for a label"
    )
    source_order: Texts | None = rule(LIST_RULE)
    memory: bool = rule(_FLAG)
    resolve_abbreviations: bool = rule(_FLAG)
    resolve_identifiers: bool = rule(_FLAG)
    lexicon: Place | list[Place] | None = rule(
        'must be "clinical", the path of a file, or a list of these, without half characters'
    )
    composite: bool = rule(_FLAG)
    backoff: bool = rule(_FLAG)
    backoff_margin: float = share()
    labels_discard: Texts | None = rule(LIST_RULE)
    overwrite: bool = rule(_FLAG)
    merge: Literal["replace", "fill", "better", "leave"] = rule(
        "must be one of replace, fill, better, leave"
    )
    prefix: Text = rule(TEXT_RULE)
    batch_size: int = whole(1)
    cache_size: int = whole(0)
    n_threads: int = whole(0)
    encoder: Model[Any, Any] | None = rule(_MODEL)
    use_gold_ents: bool = rule(_FLAG)
    index: Annotated[dict[str, int], AfterValidator(_search)] | None = rule(
        "may hold ef_search, nprobe (1 to 1,000,000) and k_factor (1 to 10,000)"
    )
    fusion: Annotated[Any, AfterValidator(_fusion)] = rule(
        "must be a fusion, such as spacy-medlink.WeightedFusion.v1, or null"
    )
    calibrator: bool = rule(_FLAG)
    ranker: bool = rule(_FLAG)
    reranker: Model[Any, Any] | None = rule(_MODEL)
    rerank_top: int | None = whole(0, _CANDIDATES)
    copy_assets: bool = rule(_FLAG)
