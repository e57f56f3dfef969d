"""Every setting of the papers' recipes stands in hyperparameters.tsv, with its reason."""

import json
import re
from collections import Counter
from dataclasses import asdict
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest
from spacy.util import load_config

from docs.generate import _TITLES, PAGES, Hyperparameter, read_hyperparameters
from spacy_medlink.encoders.objectives.batch import LOSSES
from training.papers.plan import LayoutFile, read_layout, read_plan
from training.papers.published import LAYOUTS
from training.recipe.reading import read_recipe, read_sections
from training.representations.relations import HeadSettings

CONFIGS = LAYOUTS.parent / "configs"
RECIPES = sorted(path.stem for path in CONFIGS.glob("*.cfg") if path.stem != "published")
TABLES = sorted(f"layouts/{path.stem}" for path in LAYOUTS.glob("*.cfg"))
PLANS = (LAYOUTS.parent / "plans").glob("*.yml")
ROWS = read_hyperparameters()
NAMES = [*RECIPES, *TABLES, "losses", "relations"]
# What a layout says of its table, not of how it measures.
WORDS = {"table.paper", "table.title", "table.note", "recipe.kind", "recipe.base"}


def _flat(config: dict[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items():
        dotted = f"{above}{key}"
        found |= _flat(value, f"{dotted}.") if isinstance(value, dict) else {dotted: value}
    return found


def _set(name: str) -> set[str]:
    """List the keys that a recipe sets."""
    if name in ("losses", "relations"):
        return set(_values(name))
    path = LAYOUTS / f"{name[8:]}.cfg" if name in TABLES else CONFIGS / f"{name}.cfg"
    files = [path, *([CONFIGS / "published.cfg"] if _is_published(name) else [])]
    return {key for file in files for key in _flat(load_config(file))} - WORDS


def _is_published(name: str) -> bool:
    """Tell whether a recipe of names or mentions has what all papers share."""
    return name in RECIPES and not name.startswith("rerank")


@cache
def _values(name: str) -> dict[str, Any]:
    """Get all values of a recipe, defaults too."""
    if name == "losses":
        return _flat({loss: dict(choice.settings) for loss, choice in LOSSES.items()})
    if name == "relations":
        return _flat({"head": asdict(HeadSettings())})
    if name in TABLES:
        found: Any = read_sections(LAYOUTS / f"{name[8:]}.cfg", LayoutFile)
    else:
        found = read_recipe(CONFIGS / f"{name}.cfg")
    return _flat(json.loads(found.model_dump_json()))


def _rows(name: str) -> dict[str, Hyperparameter]:
    """Get the rows of a recipe by key; its own win over those of several."""
    own = [row for row in ROWS if fnmatchcase(name, row.recipe)]
    return {row.key: row for row in sorted(own, key=lambda row: row.recipe == name)}


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_recipe_is_there_with_its_value(name):
    rows, values = _rows(name), _values(name)
    assert not _set(name) - set(rows)
    for key, row in rows.items():
        if "." in key:
            assert json.loads(row.ours) == values[key], f"{name}: {key}"


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS))
def test_a_plan_runs_what_the_table_says(name):
    """Recipes with the plan's own settings, the dictionaries they learn from, and pooling."""
    plan = read_plan(LAYOUTS.parent / "plans" / f"{name}.yml")
    layout = read_layout(LAYOUTS / f"{plan.layout}.cfg")
    for key, system in plan.systems.items():
        if not system.recipe.startswith("configs/"):
            continue
        path = LAYOUTS.parent / system.recipe
        recipe = read_recipe(path, system.settings)
        rows, values = _rows(path.stem), _flat(json.loads(recipe.model_dump_json()))
        assert set(system.settings) <= set(rows), key  # a variant stands in the table, too
        for row in rows.values():
            # Another loss or miner does not have the settings of the first.
            if row.key in values and row.key not in system.settings:
                assert json.loads(row.ours) == values[row.key], f"{key}: {row.key}"
        if recipe.recipe.kind == "pretrain":
            learned = plan.dictionaries[system.of]
            assert learned.obsolete == recipe.data.obsolete, key
            assert set(recipe.data.languages) <= set(learned.languages or recipe.data.languages)
        if recipe.recipe.kind != "rerank" and not system.name.endswith("cls"):
            assert (system.pooling or recipe.encoder.pooling) == layout.pooling, key


def test_what_differs_has_a_reason_and_what_the_authors_say_a_place():
    """Nothing is "not told": the paper says it, else the authors' code, else it is ours."""
    for row in ROWS:
        assert row.why or not row.differs, row
        assert bool(row.place) == (row.paper not in ("ours", "not in the paper")), row
        assert row.paper != "not told" and "not told" not in row.why, row
        assert "released code" not in row.place, row


def test_the_code_is_a_file_of_the_authors():
    files = {row.place for row in ROWS if row.told_by == "code"}
    pattern = r"code, (sapbert|BioSyn|medical_crossing|CODER|ClinLinker-KB)/[\w/]+\.py"
    assert files and all(re.fullmatch(pattern, place) for place in files), files


def test_rows_are_of_recipes_and_come_once():
    assert max(Counter((row.recipe, row.key) for row in ROWS).values()) == 1
    for row in ROWS:
        assert any(fnmatchcase(name, row.recipe) for name in NAMES), row


def test_the_page_has_every_row_that_differs():
    table = PAGES["../papers.md"]().partition("<!-- From here on")[2]
    differing = [row for row in ROWS if row.differs]
    assert table.count("\n| ") == 1 + len({(row.key, row.paper, row.ours) for row in differing})
    lines = [line.split(" | ") for line in table.splitlines() if " | " in line]
    for row in differing:
        name = _TITLES.get(row.recipe, row.recipe)
        assert any(name in cells[0] and row.key in cells[1] for cells in lines), row
