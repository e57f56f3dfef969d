"""Task: all that a loop needs to know of what is trained on what."""

from collections.abc import Callable
from dataclasses import dataclass

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.objectives.protocol import Objective

from ..data.names import TrainingNames
from ..data.sampler import Sampler

Validate = Callable[[BiEncoder], dict[str, float]]


@dataclass(frozen=True)
class Task:
    """What is trained on what.

    encoder (BiEncoder): its module is changed in place. names (TrainingNames): what pairs refer to.
    validate (Callable): measures an encoder on dev, fast.
    made_with (str): identifies names, recipe and base, so that a checkpoint is not misused.
    batches (Optional[int]): to train on, for a sampler that does not go by epochs.
    """

    encoder: BiEncoder
    names: TrainingNames
    sampler: Sampler
    objective: Objective
    validate: Validate
    made_with: str
    batches: int | None = None
