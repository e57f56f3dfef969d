"""What tests of training share: a task small enough to learn in a second."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.encoders.bi_encoder import BiEncoder
from training.kinds.pretraining import Pretraining
from training.loop.trainer import CHECKPOINT
from training.recipe.reading import read_recipe
from training.recipe.settings import Recipe
from training.verbs import run_verb

SETTINGS: dict[str, Any] = {
    "holdout.fraction": 0.5, "sampler.batch_pairs": 16, "objective.miner": "hard_pairs",
    "optimizer.learning_rate": 2e-3, "training.precision": "fp32", "training.epochs": 6.0,
    "training.eval_every": 4, "selection.interpolation": [1.0],
}  # fmt: skip


def progress_of(directory: Path) -> dict[str, Any]:
    """Read from a checkpoint how far a training has come."""
    state = (directory / CHECKPOINT / "state.json").read_text("utf-8")
    progress: dict[str, Any] = json.loads(state)["progress"]
    return progress


MakeRecipe = Callable[..., Recipe]
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch, capsys):
    """Run a verb as from the command line: exit code, standard output, standard error."""

    def call_it(main: Callable[..., None], *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["verb", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            run_verb(main)
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return call_it


@pytest.fixture
def recipe(tmp_path):
    """Make a recipe; keywords are section__key."""

    def make(**changes: Any) -> Recipe:
        file = tmp_path / "recipe.cfg"
        file.write_text('[recipe]\nkind = "pretrain"\n', encoding="utf-8")
        changed = {key.replace("__", "."): value for key, value in changes.items()}
        return read_recipe(file, {**SETTINGS, **changed})

    return make


@pytest.fixture
def experiment(tiny_kb, tiny_encoder, recipe):
    """Make an experiment on the tiny knowledge base with the tiny encoder."""

    def make(**changes: Any) -> Pretraining:
        return Pretraining(recipe(**changes), tiny_kb, BiEncoder.load(tiny_encoder))

    return make
