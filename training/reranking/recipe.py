"""The recipe of a reranker: what it reads, and how it learns."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from spacy.util import load_config

from spacy_medlink.encoders.cross_encoder import ATTENTIONS, LAST, ONE_WAY, POOLINGS
from spacy_medlink.errors import Errors
from spacy_medlink.objectives.lists import LOSSES

from ..recipe.checks import check_keys

_NAMED = {
    "loss": tuple(LOSSES),
    "precision": ("auto", "fp32", "bf16"),
    "attention": ATTENTIONS,
    "pooling": POOLINGS,
}
_OPTIONAL = ("max_minutes", "layers")
_FROM_0 = ("beside", "context", "warmup", "patience", "seed")


@dataclass(frozen=True)
class RerankRecipe:
    """The section [reranking] of a recipe.

    loss (str): "listwise", "listwise_nil" (with a class for "none of them"), "binary", "triplet".
    top (int): candidates a mention. context (int): word pieces on each side of it.
    max_length (int): of a pair, in word pieces. definitions (bool): read definitions too.
    names (int): names of the knowledge base that play mentions, when there is no gold file.
    beside (int): names that play mentions beside those of a gold file; they have no context.
    epochs (int), batch (int): mentions a step; learning_rate, head_rate (float): of transformer and
    head, warmup (float): part of the training in which both rise.
    patience (int): epochs without a gain on dev before training stops.
    max_minutes (Optional[float]): of the training loop. precision (str): as for other trainings.
    attention (str): "full", or "one_way", in which the mention does not read the candidate: three
        times as fast to train and to use. pooling (str): "mean", or with "one_way" "last": the
        piece that closes a candidate says it all. layers (Optional[int]): only the first of the
        encoder's.
    """

    loss: str = "listwise"
    top: int = 25
    context: int = 16
    max_length: int = 96
    definitions: bool = False
    names: int = 4000
    beside: int = 0
    epochs: int = 3
    batch: int = 8
    learning_rate: float = 1e-5
    head_rate: float = 1e-3
    warmup: float = 0.1
    patience: int = 1
    max_minutes: float | None = None
    precision: str = "auto"
    seed: int = 0
    attention: str = "full"
    pooling: str = "mean"
    layers: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Write as a plain dict, for JSON."""
        return asdict(self)


def read_rerank_recipe(path: Path, overrides: Mapping[str, Any] | None = None) -> RerankRecipe:
    """Read a recipe file with the one section [reranking].

    overrides (Mapping): values by dotted key ("reranking.loss"), which win over the file.
    RAISES (MedlinkError): E107 no such file, E510 not such a file, E501 unknown key, E502 a value
        that cannot be.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        config: dict[str, Any] = dict(load_config(path))
    except (ValueError, KeyError) as error:
        raise Errors.not_a_recipe(path=path, reason=error) from error
    check_keys(path, "section", config, ["reranking"])
    values = dict(config.get("reranking", {}))
    for key, value in (overrides or {}).items():
        section, _, name = key.partition(".")
        check_keys(path, "section", [section], ["reranking"])
        values[name] = value
    check_keys(path, "key in [reranking]", values, [entry.name for entry in fields(RerankRecipe)])
    hints = get_type_hints(RerankRecipe)
    for name, value in values.items():
        _check(name, value, hints[name])
    recipe = RerankRecipe(**values)
    # Found out before mentions are looked up, for minutes.
    fits = recipe.pooling != LAST or recipe.attention == ONE_WAY
    _require(fits, "pooling", recipe.pooling, f'needs attention = "{ONE_WAY}"')
    return recipe


def _check(name: str, value: Any, hint: Any) -> None:
    if name in _NAMED:
        known = _NAMED[name]
        _require(value in known, name, value, f"must be one of {', '.join(known)}")
    elif hint is bool:
        _require(isinstance(value, bool), name, value, "must be true or false")
    elif value is not None or name not in _OPTIONAL:
        kinds = int if hint in (int, int | None) else (int, float)
        _require(
            isinstance(value, kinds) and not isinstance(value, bool), name, value,
            "must be a whole number" if kinds is int else "must be a number",
        )  # fmt: skip
        if name in _FROM_0:
            _require(value >= 0, name, value, "must be at least 0")
        else:
            _require(value > 0, name, value, "must be above 0")


def _require(holds: bool, name: str, value: Any, rule: str) -> None:
    if not holds:
        raise Errors.bad_value(key=f"reranking.{name}", value=value, rule=rule)
