"""Recipes: every key known, every value checked."""

from pathlib import Path

import pytest
import typer

from spacy_medlink.errors import MedlinkError
from tests.tables import table
from training.recipe.reading import parse_overrides, read_recipe
from training.recipe.settings import Recipe, SamplerSettings

# Three are configs of `spacy train` (tests/components/shared), one is no recipe by itself.
CONFIGS = sorted(
    path
    for path in (Path(__file__).parents[3] / "training").rglob("configs/*.cfg")
    if not path.name.startswith(("pipeline", "ner", "published"))
)

KINDS = {"finetune": "finetune", "distil": "distil", "rerank": "rerank", "sap": "pretrain"}


def _write(path: Path, text: str) -> Path:
    file = path / "recipe.cfg"
    kind = '[recipe]\nkind = "pretrain"\n' if text.startswith("[") else ""
    file.write_text(kind + text, encoding="utf-8")
    return file


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_recipes_that_come_with_the_project_are_good(path):
    recipe = read_recipe(path)
    assert recipe != Recipe(recipe=recipe.recipe)
    for prefix, kind in KINDS.items():
        if path.name.startswith(prefix):
            assert recipe.recipe.kind == kind


def test_what_a_file_leaves_out_has_its_default(tmp_path):
    recipe = read_recipe(_write(tmp_path, "[optimizer]\nlearning_rate = 1e-4\n"))
    assert recipe.optimizer.learning_rate == 1e-4
    assert recipe.sampler == SamplerSettings()


@table(__file__, "what_is_wrong_is_named")
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(MedlinkError, match=f"(?s){message}"):
        read_recipe(_write(tmp_path, text))


@table(__file__, "near_names_are_offered_and_settings_must_go_together")
def test_near_names_are_offered_and_settings_must_go_together(tmp_path, text, guess):
    with pytest.raises(MedlinkError, match=rf"(?s)E50[12].*{guess}"):
        read_recipe(_write(tmp_path, text))


def test_another_loss_does_not_inherit_the_settings_of_the_one_it_replaces(tmp_path):
    sections = ["[objective]", "[objective.loss_settings]\nalpha = 1"]
    file = _write(tmp_path, "\n".join([*sections, "[objective.miner_settings]\nmargin = 1"]))
    recipe = read_recipe(file, {"objective.loss": "nca", "objective.miner": "none"})
    assert not recipe.objective.loss_settings
    assert not recipe.objective.miner_settings
    kept = read_recipe(file, {"objective.loss_settings.base": 0.1})
    assert kept.objective.loss_settings == {"alpha": 1.0, "base": 0.1}


def test_a_recipe_says_its_kind_and_only_what_differs_from_its_base(tmp_path):
    (tmp_path / "base.cfg").write_text(
        '[recipe]\nkind = "pretrain"\n[training]\nepochs = 3\nseed = 5\n[objective]\nloss = "nca"\n'
        "[objective.loss_settings]\nsoftmax_scale = 7\n", "utf-8"
    )  # fmt: skip
    child, text = tmp_path / "child.cfg", '[recipe]\nbase = "base.cfg"\n[training]\nepochs = 4\n'
    child.write_text(text, "utf-8")
    recipe = read_recipe(child, {"training.seed": 6})
    assert (recipe.recipe.kind, recipe.training.epochs, recipe.training.seed) == ("pretrain", 4, 6)
    assert recipe.objective.loss_settings == {"softmax_scale": 7}
    child.write_text(text + '[objective]\nloss = "info_nce"\n', "utf-8")
    assert not read_recipe(child).objective.loss_settings, "another loss has settings of its own"
    (tmp_path / "base.cfg").write_text('[recipe]\nbase = "child.cfg"\n', "utf-8")
    with pytest.raises(MedlinkError, match=r"E502.*recipe.base.*lead back"):
        read_recipe(child)
    child.write_text('[recipe]\nbase = "none.cfg"\n', "utf-8")
    with pytest.raises(MedlinkError, match=r"E107.*none.cfg"):
        read_recipe(child)
    child.write_text("[training]\nepochs = 4\n", "utf-8")
    with pytest.raises(MedlinkError, match=r"E502.*recipe.*is required"):
        read_recipe(child)
    with pytest.raises(MedlinkError, match=r"E502.*recipe.kind"):
        read_recipe(child, {"recipe.kind": "tune"})


@table(__file__, "recipes_of_rerankers_that_cannot_be")
def test_recipes_of_rerankers_that_cannot_be(overrides, code):
    path = next(path for path in CONFIGS if path.name == "rerank_fast.cfg")
    assert (read_recipe(path).reranking.layers, read_recipe(path).reranking.top) == (3, 25)
    with pytest.raises(MedlinkError, match=code):
        read_recipe(path, overrides)


def test_a_missing_recipe_is_an_error(tmp_path):
    with pytest.raises(MedlinkError, match="E107"):
        read_recipe(tmp_path / "none.cfg")


def test_overrides_win_and_are_checked_too(tmp_path):
    file = _write(tmp_path, "[training]\nseed = 1\n")
    given = parse_overrides(
        ["training.seed=2", "encoder.pooling=cls", "data.languages=[\"en\", \"es\"]",
         "objective.loss_settings.alpha=1"]
    )  # fmt: skip
    recipe = read_recipe(file, given)
    assert recipe.training.seed == 2
    assert recipe.encoder.pooling == "cls"
    assert recipe.data.languages == ("en", "es")
    assert recipe.objective.loss_settings == {"alpha": 1.0}
    with pytest.raises(MedlinkError, match="E501"):
        read_recipe(file, {"training.speed": 1})
    with pytest.raises(MedlinkError, match=r"E502.*not a section"):
        read_recipe(file, {"training.seed.deep": 1})


@pytest.mark.parametrize("text", ["training.seed", "seed=1"])
def test_an_override_needs_section_key_and_value(text):
    with pytest.raises(typer.BadParameter):
        parse_overrides([text])
