"""The recipe of a reranker: what it reads, and how it learns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)

from ..recipe.reading import read_sections
from ..recipe.settings import (
    ObjectiveSettings,
    OptimizerSettings,
    Rate,
    Recipe,
    Section,
    SelectionSettings,
    TrainingSettings,
)
from .choosing import WEIGHTS


def _is_tried(weight: float | None) -> float | None:
    if weight is not None and weight not in WEIGHTS[1:]:
        raise ValueError(f"must be null, or one of {', '.join(map(str, WEIGHTS[1:]))}")
    return weight


class RerankRecipe(Section):
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
    layers (Optional[int]): only the first of the encoder's. weight (Optional[float]): of the
        reranker beside retrieval, whatever it gains; 1 is its order alone. None is the best on
        dev, where that gains beyond doubt.
    """

    loss: Literal["listwise", "listwise_nil", "binary", "triplet"] = "listwise"
    top: PositiveInt = 25
    context: NonNegativeInt = 16
    max_length: PositiveInt = 96
    definitions: bool = False
    names: PositiveInt = 4000
    beside: NonNegativeInt = 0
    epochs: PositiveInt = 3
    batch: PositiveInt = 8
    learning_rate: PositiveFloat = 1e-5
    head_rate: PositiveFloat = 1e-3
    warmup: Rate = 0.1
    patience: NonNegativeInt = 1
    max_minutes: PositiveFloat | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    seed: NonNegativeInt = 0
    layers: PositiveInt | None = None
    weight: Annotated[float | None, AfterValidator(_is_tried)] = None

    def for_loop(self) -> Recipe:
        """Say it in the sections that the loop reads."""
        return Recipe(
            optimizer=OptimizerSettings(learning_rate=self.learning_rate, warmup=self.warmup),
            objective=ObjectiveSettings(learning_rate=self.head_rate, weight_decay=0.01),
            training=TrainingSettings(
                seed=self.seed,
                epochs=self.epochs,
                max_minutes=self.max_minutes,
                patience=self.patience,
            ),
            selection=SelectionSettings(metric="mrr"),
        )


class RerankFile(Section):
    """A recipe file, with its one section."""

    reranking: RerankRecipe = RerankRecipe()


def read_rerank_recipe(path: Path, overrides: Mapping[str, Any] | None = None) -> RerankRecipe:
    """Read a recipe file with the one section [reranking].

    overrides (Mapping): values by dotted key ("reranking.loss"), which win over the file.
    RAISES (MedlinkError): as `read_sections` does.
    """
    return read_sections(path, RerankFile, overrides).reranking
