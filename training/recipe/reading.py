"""Reading of recipes: a file, the one that it is based on, and `--set`, become a checked model."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import typer
from pydantic import ValidationError
from spacy.util import load_config

from spacy_medlink.encoders.objectives.batch import MINERS
from spacy_medlink.encoders.objectives.protocol import Choice
from spacy_medlink.errors import Errors, MedlinkError

from ..objectives.registered import LOSSES, choice_of
from .settings import Recipe, Section

Sections = TypeVar("Sections", bound=Section)
_SAYS = re.compile(r"^(\w+ should|Value error, must)")  # how pydantic begins a rule
_MOST_BASES = 9


def parse_overrides(given: Sequence[str] | None) -> dict[str, object]:
    """Read "section.key=value" strings; values are JSON, or plain text.

    RAISES (typer.BadParameter): for one without a section, a key or a value.
    """
    settings: dict[str, object] = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"{text!r} is not section.key=value", param_hint="--set")
        try:
            settings[key.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[key.strip()] = value.strip()
    return settings


def read_recipe(path: Path, overrides: Mapping[str, object] | None = None) -> Recipe:
    """Read a recipe of any kind.

    RAISES (MedlinkError): as `read_sections` does, and E502 for settings that do not go together.
    """
    recipe = read_sections(path, Recipe, overrides)
    objective, losses = recipe.objective, LOSSES[recipe.recipe.kind]
    _check_choice(path, "miner", objective.miner, objective.miner_settings, MINERS)
    _check_choice(path, "loss", objective.loss, objective.loss_settings, losses)
    for key, only, why in _demands(recipe):
        section, name = key.split(".")
        value = getattr(getattr(recipe, section), name)
        if value != only:
            raise Errors.bad_value(key=key, value=value, rule=f"must be {only!r} {why}")
    pairs = recipe.sampler.batch_pairs
    if 2 * pairs < recipe.sampler.names_per_concept:
        rule = "must be at least names_per_concept / 2, so that a batch holds a whole concept"
        raise Errors.bad_value(key="sampler.batch_pairs", value=pairs, rule=rule)
    return recipe


def read_sections(
    path: Path, sections: type[Sections], overrides: Mapping[str, object] | None = None
) -> Sections:
    """Read a file of sections (the format of spaCy's config.cfg).

    sections (Type[Sections]): the sections that there are.
    overrides (Mapping): values by dotted key ("training.max_minutes"), which win over the file.
    RAISES (MedlinkError): E107 no such file, E160 not such a file, E501 unknown key, E502 a value
        that cannot be.
    """
    config: dict[str, Any] = {}
    for file in reversed(list(_with_bases(path))):
        _put_all(config, file)
    _put_all(config, overrides or {})
    try:
        # As JSON, whose lists become tuples: strictly read, lists of Python do not.
        return sections.model_validate_json(json.dumps(config))
    except ValidationError as error:
        raise _as_ours(path, sections, error) from error


def _with_bases(path: Path) -> Iterator[dict[str, object]]:
    """Load a file, then the one that it is based on, and so on: values by dotted key."""
    for _ in range(_MOST_BASES):
        if not path.is_file():
            raise Errors.source_missing(path=path)
        try:
            config: dict[str, Any] = dict(load_config(path))
        except (ValueError, KeyError) as error:
            expected = (
                "[section], then key = value with the value in JSON, as in spaCy's config.cfg"
            )
            raise Errors.wrong_file(
                path=path, what="a recipe", problem=error, expected=expected
            ) from error
        yield dict(_flat(config))
        about = config.get("recipe")
        base = about.get("base") if isinstance(about, dict) else None
        if not isinstance(base, str) or not base:
            return
        path = path.parent / base
    raise Errors.bad_value(key="recipe.base", value=base, rule="must not lead back to the recipe")


def _flat(config: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _put_all(config: dict[str, Any], values: Mapping[str, object]) -> None:
    """Put values into a config; another loss or miner does not inherit the settings of the old."""
    objective = config.get("objective")
    for what in ("loss", "miner"):
        new = values.get(f"objective.{what}")
        if isinstance(objective, dict) and new is not None and new != objective.get(what):
            objective.pop(f"{what}_settings", None)
    for key, value in values.items():
        *sections, last = key.split(".")
        section = config
        for name in sections:
            section = section.setdefault(name, {})
            if not isinstance(section, dict):
                raise Errors.bad_value(key=key, value=value, rule=f"{name} is not a section")
        section[last] = value


def _check_choice(
    path: Path, what: str, name: str, settings: Mapping[str, float], choices: Mapping[str, Choice]
) -> None:
    """Check the name of a loss or miner, and the names of its settings."""
    if name not in choices:
        rule = f"must be one of {', '.join(choices)}{_nearest(name, choices)}"
        raise Errors.bad_value(key=f"objective.{what}", value=name, rule=rule)
    for setting in settings:
        if setting not in (settings_there := choices[name].settings):
            raise _unknown_key(path, f"setting of the {what} {name}", setting, settings_there)


def _demands(recipe: Recipe) -> Iterator[tuple[str, object, str]]:
    """List what a setting demands of another one: its key, the only value it may have, and why."""
    objective = recipe.objective
    if choice_of(recipe).needs == "memory":
        why = f"with the loss {objective.loss}, which compares with all names"
        yield "objective.miner", "none", why
        yield "bitext.order", "none", why
        yield "sampler.names_per_concept", 0, why
    if recipe.relations.weight:
        yield "bitext.order", "none", "with relations, through which all concepts are drawn"
    if recipe.adapter.kind != "none":
        why = "with an adapter, which is trained in place of all of the base's layers"
        yield "encoder.freeze_layers", 0, why
    if recipe.recipe.kind == "rerank":
        yield "selection.metric", "mrr", "for a reranker, whose weight is chosen by it"
        if recipe.reranking.pairs:
            yield "objective.loss", "binary", "for pairs, which no other loss takes one by one"


def _as_ours(path: Path, model: type[Section], error: ValidationError) -> MedlinkError:
    """Make E501 of a key that there is not, else E502 of the first value that cannot be."""
    faults = error.errors(include_url=False)
    fault = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    *places, key = map(str, fault["loc"])
    dotted = ".".join((*places, key))
    if fault["type"] == "missing":
        return Errors.bad_value(key=dotted, value=None, rule="is required")
    if fault["type"] != "extra_forbidden":
        rule = _SAYS.sub("must", fault["msg"])
        return Errors.bad_value(key=dotted, value=fault["input"], rule=rule)
    fields: Any = model
    for section in places:
        fields = fields.model_fields[section].annotation
    what = f"key in [{'.'.join(places)}]" if places else "section"
    return _unknown_key(path, what, key, fields.model_fields)


def _unknown_key(path: Path, what: str, key: str, known: Collection[str]) -> MedlinkError:
    """Make E501, with the nearest key that there is."""
    listed, guess = ", ".join(known) or "none", _nearest(key, known)
    return Errors.unknown_key(path=path, what=what, key=key, guess=guess, known=listed)


def _nearest(name: str, possible: Iterable[str]) -> str:
    """Ask whether the nearest known name was meant; "" when none is near."""
    near = get_close_matches(name, list(possible), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
