"""The losses that a recipe can name, by its kind; each with its defaults and what it needs."""

from collections import ChainMap
from collections.abc import Mapping
from functools import partial

from spacy_medlink.encoders.objectives.batch import LOSSES as IN_BATCH
from spacy_medlink.encoders.objectives.lists import LOSSES as OF_LISTS
from spacy_medlink.encoders.objectives.protocol import Choice

from ..recipe.settings import Recipe
from .marginal import MarginalObjective
from .memory import MemoryObjective
from .mention_memory import MentionMemoryObjective
from .teacher import TeacherObjective

_OF_NAMES = {"all_names": Choice(MemoryObjective, {"temperature": 0.05}, "memory")}
_OF_MENTIONS = {
    "all_names": Choice(MentionMemoryObjective, {"temperature": 0.05, "renewal": 0.5}, "memory"),
    # The defaults of dense share and candidates are the paper's.
    "marginal": Choice(
        MarginalObjective,
        {"candidates": 20, "dense_ratio": 0.5, "temperature": 0.05, "sparse_weight": 0.0},
        "candidates",
    ),
}
_OF_TEACHER = {
    "teacher": Choice(
        TeacherObjective, {"vector_weight": 1.0, "ranking_weight": 1.0, "temperature": 0.05}
    )
}
LOSSES: dict[str, Mapping[str, Choice]] = {
    "pretrain": ChainMap(_OF_NAMES, IN_BATCH),
    "finetune": ChainMap(_OF_MENTIONS, IN_BATCH),
    "distil": _OF_TEACHER,
    "rerank": {name: Choice(partial(OF_LISTS.__getitem__, name), {}) for name in OF_LISTS},
}


def choice_of(recipe: Recipe) -> Choice:
    """Look up the loss of a recipe."""
    return LOSSES[recipe.recipe.kind][recipe.objective.loss]
