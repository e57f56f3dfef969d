"""What the type of a single value cannot show: names of losses, and settings that go together."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from spacy_medlink.encoders.objectives.protocol import Choice, Needs
from spacy_medlink.errors import Errors, MedlinkError

from .settings import Recipe


def check_choice(
    path: Path, what: str, name: str, settings: Mapping[str, float], known: Mapping[str, Choice]
) -> None:
    """Check the name of a loss or miner, and the names of its settings.

    RAISES (MedlinkError): E502 unknown name, E501 unknown setting.
    """
    if name not in known:
        rule = f"must be one of {', '.join(known)}{_nearest(name, known)}"
        raise Errors.bad_value(key=f"objective.{what}", value=name, rule=rule)
    for setting in settings:
        if setting not in (own := known[name].settings):
            raise unknown_key(path, f"setting of the {what} {name}", setting, own)


def unknown_key(path: Path, what: str, key: str, known: Collection[str]) -> MedlinkError:
    """Make E501, with the nearest key that there is."""
    listed, guess = ", ".join(known) or "none", _nearest(key, known)
    return Errors.unknown_key(path=path, what=what, key=key, guess=guess, known=listed)


def check_together(recipe: Recipe, needs: Needs) -> None:
    """Check settings that do not go together.

    needs (Needs): of the loss. RAISES (MedlinkError): E502.
    """
    for key, only, why in _demands(recipe, needs):
        section, name = key.split(".")
        value = getattr(getattr(recipe, section), name)
        if value != only:
            raise Errors.bad_value(key=key, value=value, rule=f"must be {only!r} {why}")
    pairs = recipe.sampler.batch_pairs
    if 2 * pairs < recipe.sampler.names_per_concept:
        rule = "must be at least names_per_concept / 2, so that a batch holds a whole concept"
        raise Errors.bad_value(key="sampler.batch_pairs", value=pairs, rule=rule)


def _demands(recipe: Recipe, needs: Needs) -> Iterator[tuple[str, object, str]]:
    """List what a setting demands of another one: its key, the only value it may have, and why."""
    own = recipe.objective
    if needs == "memory":
        why = f"with the loss {own.loss}, which compares with all names"
        yield "objective.neighbours", 0, why
        yield "objective.miner", "none", why
        yield "bitext.order", "none", why
        yield "sampler.names_per_concept", 0, why
        yield "sampler.balance_languages", False, why
    if own.neighbours:
        why = "with objective.neighbours, which knows the names of the terminology"
        yield "bitext.order", "none", why
    if recipe.sampler.names_per_concept:
        yield "sampler.balance_languages", False, "with names_per_concept, which draws no pairs"
    if recipe.adapter.kind != "none":
        why = "with an adapter, which is trained in place of all of the base's layers"
        yield "encoder.freeze_layers", 0, why


def _nearest(name: str, known: Iterable[str]) -> str:
    """Ask whether the nearest known name was meant; "" when none is near."""
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
