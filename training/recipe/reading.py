"""Reading of recipes: a file of sections, and `--set` over it, becomes a checked model."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from spacy.util import load_config

from spacy_medlink.encoders.objectives.batch import MINERS
from spacy_medlink.encoders.objectives.protocol import Choice
from spacy_medlink.errors import Errors, MedlinkError

from ..objectives.registered import OF_NAMES
from .checks import check_choice, check_together, unknown_key
from .settings import Recipe, Section

Sections = TypeVar("Sections", bound=Section)
_SAYS = re.compile(r"^(\w+ should|Value error, must)")  # how pydantic begins a rule


def read_recipe(
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    losses: Mapping[str, Choice] = OF_NAMES,
) -> Recipe:
    """Read the recipe of an encoder.

    losses (Mapping): those that the training knows, by name.
    RAISES (MedlinkError): as `read_sections` does.
    """
    recipe = read_sections(path, Recipe, overrides)
    own = recipe.objective
    check_choice(path, "miner", own.miner, own.miner_settings, MINERS)
    check_choice(path, "loss", own.loss, own.loss_settings, losses)
    check_together(recipe, losses[own.loss].needs)
    return recipe


def read_sections(
    path: Path, kind: type[Sections], overrides: Mapping[str, Any] | None = None
) -> Sections:
    """Read a recipe file (the format of spaCy's config.cfg).

    kind (Type[Sections]): the sections that there are.
    overrides (Mapping): values by dotted key ("training.max_minutes"), which win over the file.
    RAISES (MedlinkError): E107 no such file, E510 not such a file, E501 unknown key, E502 a value
        that cannot be.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    try:
        config: dict[str, Any] = dict(load_config(path))
    except (ValueError, KeyError) as error:
        raise Errors.not_a_recipe(path=path, reason=error) from error
    _forget_settings(config, overrides or {})
    for key, value in (overrides or {}).items():
        # Not left to the config system, which overrides only what the file has.
        _put(config, key, value)
    try:
        # As JSON, whose lists become tuples: strictly read, lists of Python do not.
        return kind.model_validate_json(json.dumps(config))
    except ValidationError as error:
        raise _as_ours(path, kind, error) from error


def _forget_settings(config: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    """Take out what the file sets for a loss or miner that another one replaces."""
    own = config.get("objective", {})
    for what in ("loss", "miner"):
        new = overrides.get(f"objective.{what}")
        if isinstance(own, dict) and new is not None and new != own.get(what):
            own.pop(f"{what}_settings", None)


def _put(config: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    place = config
    for name in sections:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise Errors.bad_value(key=key, value=value, rule=f"{name} is not a section")
    place[last] = value


def _as_ours(path: Path, kind: type[Section], error: ValidationError) -> MedlinkError:
    """Make E501 of a key that there is not, else E502 of the first value that cannot be."""
    faults = error.errors(include_url=False)
    fault = min(faults, key=lambda one: one["type"] != "extra_forbidden")
    *places, key = map(str, fault["loc"])
    dotted = ".".join((*places, key))
    if fault["type"] == "missing":
        return Errors.bad_value(key=dotted, value=None, rule="must be there")
    if fault["type"] != "extra_forbidden":
        rule = _SAYS.sub("must", fault["msg"])
        return Errors.bad_value(key=dotted, value=fault["input"], rule=rule)
    known: Any = kind
    for place in places:
        known = known.model_fields[place].annotation
    what = f"key in [{'.'.join(places)}]" if places else "section"
    return unknown_key(path, what, key, known.model_fields)
