"""Reading of recipes: every key must be known, every value fit its field and the rules."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

from spacy.util import load_config

from spacy_medlink.errors import Errors
from spacy_medlink.objectives.batch import LOSSES, MINERS
from spacy_medlink.objectives.protocol import Choice

from ..objectives.memory import MEMORY_LOSSES
from .checks import check_choice, check_keys, check_together, check_values
from .settings import Recipe


def read_recipe(
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    more_losses: Mapping[str, Choice] | None = None,
) -> Recipe:
    """Read a recipe file (the format of spaCy's config.cfg).

    overrides (Mapping): values by dotted key ("training.max_minutes"), which win over the file.
    more_losses (Mapping): losses by name that not every training knows.
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
    sections = get_type_hints(Recipe)
    check_keys(path, "section", config, sections)
    recipe = Recipe(**{name: _section(path, name, sections[name], config[name]) for name in config})
    check_values(recipe.as_dict())
    own = recipe.objective
    check_choice(path, "miner", own.miner, own.miner_settings, MINERS)
    losses = {**LOSSES, **MEMORY_LOSSES, **(more_losses or {})}
    check_choice(path, "loss", own.loss, own.loss_settings, losses)
    check_together(recipe, MEMORY_LOSSES)
    return recipe


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


def _section(path: Path, name: str, kind: type[Any], values: Mapping[str, Any]) -> Any:
    check_keys(path, f"key in [{name}]", values, [entry.name for entry in fields(kind)])
    hints = get_type_hints(kind)
    return kind(
        **{key: _typed(f"{name}.{key}", hints[key], value) for key, value in values.items()}
    )


def _typed(key: str, hint: Any, value: Any) -> Any:
    """Check a value against the type of its field; whole numbers pass as floats."""
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    for option in options:
        if isinstance(value, bool) != (option is bool):
            continue
        if option is float and isinstance(value, int | float):
            return float(value)
        if option in (int, str, bool, type(None)) and isinstance(value, option):
            return value
        if option == tuple[str, ...] and _is_list(value, str):
            return tuple(value)
        if option == tuple[float, ...] and _is_list(value, (int, float)):
            return tuple(map(float, value))
        if option == Mapping[str, float] and isinstance(value, Mapping):
            return {name: _typed(f"{key}.{name}", float, entry) for name, entry in value.items()}
    wanted = " or ".join(getattr(option, "__name__", str(option)) for option in options)
    raise Errors.bad_value(key=key, value=value, rule=f"must be of the type {wanted}")


def _is_list(value: Any, kinds: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, kinds) and not isinstance(entry, bool) for entry in value
    )
