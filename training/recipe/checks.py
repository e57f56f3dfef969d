"""What the values of a recipe must fulfil, in one table."""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.errors import Errors

from .settings import Recipe


class Rule(NamedTuple):
    """A rule: it holds for the value of a key, or `says` tells the user what was expected."""

    key: str
    holds: Callable[[Any], bool]
    says: str


def _one_of(key: str, *values: object) -> Rule:
    known = ", ".join("null" if value is None else repr(value) for value in values)
    return Rule(key, lambda value: value in values, f"must be one of {known}")


def _at_least(key: str, least: float) -> Rule:
    return Rule(key, lambda value: value is None or value >= least, f"must be at least {least:g}")


def _above_zero(key: str) -> Rule:
    return Rule(key, lambda value: value is None or value > 0, "must be above 0")


RULES = [
    _one_of("data.pairs", "all", "preferred"),
    _at_least("data.pairs_per_concept", 1),
    Rule("holdout.fraction", lambda value: 0 < value <= 0.5, "must lie above 0 and up to 0.5"),
    _at_least("holdout.most", 2),
    _at_least("holdout.among", 2),
    _one_of("bitext.order", "none", "mixed", "after"),
    _above_zero("bitext.epochs"),
    _at_least("sampler.batch_pairs", 1),
    _at_least("mentions.batch", 1),
    _at_least("mentions.names", 0),
    _at_least("mentions.near", 0),
    Rule("sampler.names_per_concept", lambda value: value == 0 or value > 1, "must be 0, or 2 up"),
    _one_of("encoder.pooling", None, "mean", "cls"),
    _one_of("encoder.attention", None, "eager", "sdpa"),
    _at_least("encoder.max_length", 3),
    Rule("encoder.dropout", lambda value: 0 <= value < 1, "must lie between 0 and 1"),
    _at_least("encoder.freeze_layers", 0),
    _one_of("adapter.kind", "none", "bottleneck", "lora"),
    _at_least("adapter.reduction", 1),
    _at_least("adapter.rank", 1),
    _at_least("adapter.alpha", 1),
    _at_least("relations.weight", 0),
    _at_least("relations.margin", 0),
    _at_least("relations.triples", 1),
    _at_least("types.weight", 0),
    _above_zero("optimizer.learning_rate"),
    _at_least("optimizer.weight_decay", 0),
    Rule("optimizer.warmup", lambda value: 0 <= value < 1, "must lie between 0 and 1"),
    _one_of("optimizer.decay", "linear", "constant"),
    _at_least("optimizer.clip", 0),
    _above_zero("training.epochs"),
    _at_least("training.names", 0),
    _above_zero("training.max_minutes"),
    _at_least("objective.neighbours", 0),
    _one_of("training.precision", "auto", "fp32", "bf16", "fp16"),
    _at_least("training.sub_batches", 1),
    _at_least("training.accumulation", 1),
    _at_least("training.eval_every", 0),
    _at_least("training.save_every", 0),
    _at_least("training.patience", 0),
    _one_of("selection.metric", "acc@1", "acc@5", "acc@20", "mrr"),
    Rule(
        "selection.interpolation",
        lambda parts: len(parts) > 0 and all(0 < part <= 1 for part in parts),
        "must name parts above 0 and up to 1",
    ),
    _at_least("selection.tolerance", 0),
    _at_least("selection.shortlist", 1),
]


def check_values(values: Mapping[str, Mapping[str, Any]]) -> None:
    """Check all values of a recipe against the table.

    RAISES (MedlinkError): E502 naming the key, its value and the rule.
    """
    for rule in RULES:
        section, key = rule.key.split(".")
        value = values[section][key]
        if not rule.holds(value):
            raise Errors.bad_value(key=rule.key, value=value, rule=rule.says)


def check_choice(
    path: Path, what: str, name: str, settings: Mapping[str, float], known: Mapping[str, Any]
) -> None:
    """Check the name of a loss or miner, and the names of its settings.

    RAISES (MedlinkError): E502 unknown name, E501 unknown setting.
    """
    if name not in known:
        rule = f"must be one of {', '.join(known)}{nearest(name, known)}"
        raise Errors.bad_value(key=f"objective.{what}", value=name, rule=rule)
    check_keys(path, f"setting of the {what} {name}", settings, known[name].settings)


def check_keys(path: Path, what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Check that all keys are known ones.

    RAISES (MedlinkError): E501 with the nearest one.
    """
    names = list(known)
    for key in given:
        if key not in names:
            listed = ", ".join(names) or "none"
            guess = nearest(key, names)
            raise Errors.unknown_key(path=path, what=what, key=key, guess=guess, known=listed)


def nearest(name: str, known: Iterable[str]) -> str:
    """Ask whether the nearest known name was meant; "" when none is near."""
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def check_together(recipe: Recipe, memory_losses: Collection[str]) -> None:
    """Check what single values cannot show: settings that do not go together.

    memory_losses (Collection[str]): losses over all names, which need no pairs.
    RAISES (MedlinkError): E502.
    """
    own = recipe.objective
    if own.neighbours:
        rule = f"must be 0 with the loss {own.loss}, which compares with all names anyway"
        _refuse(own.loss in memory_losses, "objective.neighbours", own.neighbours, rule)
        rule = "must be 'none' with objective.neighbours, which knows the names of the terminology"
        _refuse(recipe.bitext.order != "none", "bitext.order", recipe.bitext.order, rule)
    if own.loss in memory_losses:
        with_all = f"with the loss {own.loss}, which compares with all names"
        _refuse(own.miner != "none", "objective.miner", own.miner, f"must be 'none' {with_all}")
        order = recipe.bitext.order
        _refuse(order != "none", "bitext.order", order, f"must be 'none' {with_all}")
        together = recipe.sampler.names_per_concept
        _refuse(together > 0, "sampler.names_per_concept", together, f"must be 0 {with_all}")
        balanced = recipe.sampler.balance_languages
        _refuse(balanced, "sampler.balance_languages", balanced, f"must be false {with_all}")
    if recipe.sampler.names_per_concept:
        rule = "must be at least names_per_concept / 2, so that a batch holds a whole concept"
        pairs = recipe.sampler.batch_pairs
        few = 2 * pairs < recipe.sampler.names_per_concept
        _refuse(few, "sampler.batch_pairs", pairs, rule)
        rule = "must be false with names_per_concept, which draws no pairs"
        _refuse(recipe.sampler.balance_languages, "sampler.balance_languages", True, rule)
    if recipe.adapter.kind != "none":
        rule = "must be 0 with an adapter, which is trained in place of all of the base's layers"
        frozen = recipe.encoder.freeze_layers
        _refuse(frozen > 0, "encoder.freeze_layers", frozen, rule)


def _refuse(wrong: bool, key: str, value: object, rule: str) -> None:
    if wrong:
        raise Errors.bad_value(key=key, value=value, rule=rule)
