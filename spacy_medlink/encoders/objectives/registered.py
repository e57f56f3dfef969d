"""The objectives that a config of spaCy names: plain choices, made when training begins.

spaCy resolves them with every pipeline that is loaded, so this module imports no torch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import Errors

if TYPE_CHECKING:
    from .protocol import Choice, Objective

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class BatchChoice:
    """A loss and a miner over the texts of a batch; see `batch_objective`."""

    loss: str = "multi_similarity"
    miner: str = "hard_pairs"
    loss_settings: Numbers = field(default_factory=dict)
    miner_settings: Numbers = field(default_factory=dict)

    def make(self) -> Objective:
        """Make the objective.

        RAISES (MedlinkError): E302 for an unknown loss, miner or setting.
        """
        from .batch import LOSSES, MINERS, BatchObjective

        miner = _chosen("miner", self.miner, self.miner_settings, MINERS)
        return BatchObjective(miner, _chosen("loss", self.loss, self.loss_settings, LOSSES))


def batch_objective(
    loss: str = "multi_similarity",
    miner: str = "hard_pairs",
    loss_settings: dict[str, float] | None = None,
    miner_settings: dict[str, float] | None = None,
) -> BatchChoice:
    """Make `spacy-medlink.BatchObjective.v1`: what an encoder is trained for; by default SAP.

    loss, miner (str): of pytorch-metric-learning, by the names of `objectives.batch`.
    loss_settings, miner_settings (Optional[Dict[str, float]]): such as {"alpha": 2.0}; what is
        left out has the default of the papers.
    """
    return BatchChoice(loss, miner, loss_settings or {}, miner_settings or {})


def _chosen(what: str, name: str, settings: Numbers, choices: Mapping[str, Choice]) -> Any:
    _check(what, name, choices)
    for setting in settings:
        _check(f"setting of {name}", setting, choices[name].settings)
    return choices[name].with_settings(settings)


def _check(what: str, name: str, choices: Collection[str]) -> None:
    if name not in choices:
        rule = f"must be one of {', '.join(choices) or 'none'}"
        raise Errors.bad_setting(name=f"{what} of an objective", value=name, rule=rule)
