"""The papers' value of each setting, and that of our recipes: hyperparameters.tsv."""

import json
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).parents[1] / "training" / "papers" / "hyperparameters.tsv"


class Hyperparameter(NamedTuple):
    """A setting of a recipe, or of several.

    recipe (str): its name; with a *, of all whose names fit but for those with an own row.
    key (str): "section.key" of the recipe, or words for what no key holds.
    paper, place (str): what the paper says, and where; a value is JSON, as in a recipe.
    ours, why (str): what the recipe does, and why it differs, or what the value means.
    """

    recipe: str
    key: str
    paper: str
    place: str
    ours: str
    why: str

    @property
    def differs(self) -> bool:
        """Tell whether the recipe differs from the paper."""
        return _value(self.paper) != _value(self.ours)


def read_hyperparameters() -> list[Hyperparameter]:
    """Read the file, in its order."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()[1:]
    return [Hyperparameter(*line.split("\t")) for line in lines]


def _value(cell: str) -> object:
    try:
        return json.loads(cell)
    except ValueError:
        return cell
