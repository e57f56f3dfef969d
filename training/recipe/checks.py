"""What the values of a recipe must fulfil, in one table."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy_medlink.errors import Errors


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
    _at_least("data.pairs_per_concept", 1),
    Rule("holdout.fraction", lambda value: 0 < value <= 0.5, "must lie above 0 and up to 0.5"),
    _at_least("holdout.most", 2),
    _at_least("sampler.batch_pairs", 1),
    _one_of("encoder.pooling", None, "mean", "cls"),
    _one_of("encoder.attention", None, "eager", "sdpa"),
    _at_least("encoder.max_length", 3),
    Rule("encoder.dropout", lambda value: 0 <= value < 1, "must lie between 0 and 1"),
    _at_least("encoder.freeze_layers", 0),
    _above_zero("optimizer.learning_rate"),
    _at_least("optimizer.weight_decay", 0),
    Rule("optimizer.warmup", lambda value: 0 <= value < 1, "must lie between 0 and 1"),
    _one_of("optimizer.decay", "linear", "constant"),
    _at_least("optimizer.clip", 0),
    _above_zero("training.epochs"),
    _above_zero("training.max_minutes"),
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
        rule = f"must be one of {', '.join(known)}"
        raise Errors.bad_value(key=f"objective.{what}", value=name, rule=rule)
    own = known[name].settings
    for key in settings:
        if key not in own:
            raise Errors.unknown_key(
                path=path,
                what=f"setting of the {what} {name}",
                key=key,
                guess="",
                known=", ".join(own) or "none",
            )
