"""Recipes: every key known, every value checked."""

from pathlib import Path

import pytest
import typer

from spacy_medlink.errors import MedlinkError
from training.objectives.registered import OF_MENTIONS, OF_TEACHER
from training.recipe.overrides import parse_overrides
from training.recipe.reading import read_recipe
from training.recipe.settings import Recipe

# The recipe of rerankers has a section of its own (tests/training/reranking); one is a config of
# `spacy train` (tests/components/shared).
CONFIGS = sorted(
    path
    for path in (Path(__file__).parents[3] / "training").rglob("configs/*.cfg")
    if not path.name.startswith(("rerank", "pipeline", "ner"))
)


def _write(path: Path, text: str) -> Path:
    file = path / "recipe.cfg"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_recipes_that_come_with_the_project_are_good(path: Path) -> None:
    assert read_recipe(path, losses={**OF_MENTIONS, **OF_TEACHER}) != Recipe()


def test_what_a_file_leaves_out_has_its_default(tmp_path: Path) -> None:
    recipe = read_recipe(_write(tmp_path, "[optimizer]\nlearning_rate = 1e-4\n"))
    assert recipe.optimizer.learning_rate == 1e-4
    assert recipe.sampler == Recipe().sampler


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[trainig]\nseed = 1", "E501.*section 'trainig' \\(did you mean 'training'\\?\\)"),
        ("[training]\nepoch = 1", "E501.*key in \\[training\\] 'epoch' .*'epochs'"),
        ('[objective]\nloss = "ms"', "E502.*objective.loss is 'ms', but must be one of multi_s"),
        ('[objective]\nminer = "hard"', "E502.*objective.miner"),
        (
            "[objective]\n[objective.loss_settings]\ngamma = 1",
            "E501.*multi_similarity 'gamma'",
        ),
        ('[objective]\n[objective.loss_settings]\nbeta = "x"', "E502.*loss_settings.beta is 'x'"),
        ('[objective]\nloss = "all_names"', "E502.*objective.miner.*must be 'none'"),
        ('[training]\nseed = "one"', "E502.*training.seed is 'one', but must be a valid integer"),
        ("[training]\nseed = true", "E502.*training.seed"),
        ("[training]\nepochs = NaN", "E502.*training.epochs is nan, but must be a finite"),
        ("[optimizer]\nclip = true", "E502.*optimizer.clip is True, but must be a valid number"),
        ("[training]\nepochs = 0", "E502.*training.epochs is 0, but must be greater than 0"),
        ('[training]\nprecision = "int8"', "E502.*must be 'auto', 'fp32'"),
        (
            "[selection]\ninterpolation = []",
            "E502.*selection.interpolation is .*, but must have at least 1",
        ),
        (
            "[selection]\ninterpolation = [0.5, 2]",
            "E502.*interpolation.1 is 2, but must be .* equal to 1",
        ),
        ('[data]\nlanguages = "en"', "E502.*data.languages"),
        ("[training\nseed = 1", "E510.*recipe.cfg is not a recipe"),
        ("training = 1", "E510.*recipe.cfg is not a recipe"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MedlinkError, match=f"(?s){message}"):
        read_recipe(_write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ('[objective]\nloss = "info_nse"', "did you mean 'info_nce'"),
        ('[objective]\nminer = "hard_pair"', "did you mean 'hard_pairs'"),
        ("[objective]\n[objective.loss_settings]\nalfa = 1", "did you mean 'alpha'"),
        ("[relations]\nweigth = 1", "did you mean 'weight'"),
        ('[bitext]\norder = "first"', "bitext.order is 'first'.*'mixed' or 'after'"),
        ('[adapter]\nkind = "bottle"', "adapter.kind is 'bottle'"),
        ('[objective]\nloss = "all_names"', "objective.miner.*'none'"),
        (
            '[objective]\nloss = "all_names"\nminer = "none"\n[bitext]\norder = "mixed"',
            "bitext.order",
        ),
        ("[sampler]\nbatch_pairs = 2\nnames_per_concept = 8", "batch_pairs is 2"),
        ("[sampler]\nnames_per_concept = 1", "0, or 2 up"),
        ('[adapter]\nkind = "lora"\n[encoder]\nfreeze_layers = 2', "freeze_layers is 2"),
    ],
)  # fmt: skip
def test_near_names_are_offered_and_settings_must_go_together(
    tmp_path: Path, text: str, guess: str
) -> None:
    with pytest.raises(MedlinkError, match=rf"(?s)E50[12].*{guess}"):
        read_recipe(_write(tmp_path, text))


def test_another_loss_does_not_inherit_the_settings_of_the_one_it_replaces(tmp_path: Path) -> None:
    sections = ["[objective]", "[objective.loss_settings]\nalpha = 1"]
    file = _write(tmp_path, "\n".join([*sections, "[objective.miner_settings]\nmargin = 1"]))
    recipe = read_recipe(file, {"objective.loss": "nca", "objective.miner": "none"})
    assert not recipe.objective.loss_settings
    assert not recipe.objective.miner_settings
    kept = read_recipe(file, {"objective.loss_settings.base": 0.1})
    assert kept.objective.loss_settings == {"alpha": 1.0, "base": 0.1}


def test_a_missing_recipe_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        read_recipe(tmp_path / "none.cfg")


def test_overrides_win_and_are_checked_too(tmp_path: Path) -> None:
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
def test_an_override_needs_section_key_and_value(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_overrides([text])
