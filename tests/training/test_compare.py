"""The table of tiers and encoders: every encoder on the way has a row, with its objective."""

import json
from pathlib import Path

import pytest

import training
from training.compare import compare, name_of, table
from training.kinds.encoder_training import Inputs
from training.recipe.reading import read_recipe
from training.run import train

CONFIGS = Path(training.__file__).parent / "configs"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny_kb, tiny_encoder):
    """SAP, and all_names after it."""
    place, base = tmp_path_factory.mktemp("trained"), str(tiny_encoder)
    made = []
    for name in ("sap", "starter"):
        given = {
            "training.names": 64, "sampler.batch_pairs": 8, "holdout.fraction": 0.3,
            "selection.interpolation": [1.0], "selection.min_gain": -100.0,
        }  # fmt: skip
        recipe = read_recipe(CONFIGS / f"{name}.cfg", given)
        train(recipe, Inputs(base, place / name, tiny_kb.path), device="cpu")
        made.append(place / name)
        base = str(place / name)
    return made


def test_every_encoder_has_a_row(trained, tiny_kb, tiny_encoder):
    holdout = trained[-1] / "holdout"
    found = compare(tiny_kb.path, holdout, tiny_encoder, trained, "cpu")
    names = [row["system"] for row in found["systems"]]
    assert names[:3] == ["exact", "n-gram", "base encoder"] and names[-1] == "fused"
    assert names[3].startswith("SAP, ") and names[4].startswith("all_names, ")
    assert all(row["system"] in table(found) for row in found["systems"])


def test_both_encoders_are_measured_on_the_same_names(trained):
    held = [(path / "holdout" / "holdout.json").read_bytes() for path in trained]
    assert held[0] == held[1]


def test_an_encoder_says_what_it_was_trained_for(tmp_path):
    facts = {
        "recipe": {"objective": {"loss": "multi_similarity", "miner": "none"}},
        "training": {"names": 4000, "stopped_by": "minutes"}, "trained_part": 0,
    }  # fmt: skip
    (tmp_path / "metrics.json").write_text(json.dumps(facts))
    assert name_of(tmp_path) == (
        "multi_similarity, 4,000 names (stopped by the clock) (its base was kept)"
    )
    assert name_of(tmp_path / "none") == "trained encoder"
