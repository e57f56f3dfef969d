"""One rank of some trainings, for `test_ranks`: python two_ranks.py KB ENCODER OUT SETTINGS

SETTINGS are the recipes' values as JSON. Of each training it writes the loss and the gradients that
the optimizer saw at each of four steps, and the weights at the end, into a file OUT.N. WORLD_SIZE,
RANK, MASTER_ADDR and MASTER_PORT say which rank it is, if any.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from training.kinds.pretraining import Pretraining
from training.loop.ranks import Ranks, all_ranks
from training.recipe.reading import read_recipe

STEPS = 4


def main(kb: str, encoder: str, out: Path, trainings: list[dict[str, object]]) -> None:
    device = torch.device("cpu")
    with all_ranks(device) as ranks:
        for number, settings in enumerate(trainings):
            kept = train(kb, encoder, out.with_name(f"{out.name}.{number}"), settings, ranks)
            tensors = {name: tensor.contiguous() for name, tensor in kept.items()}
            save_file(tensors, out.with_name(f"{out.name}.{number}"))


def train(
    kb: str, encoder: str, out: Path, settings: dict[str, object], ranks: Ranks
) -> dict[str, torch.Tensor]:
    recipe_file = out.with_suffix(".cfg")
    recipe_file.write_text('[recipe]\nkind = "pretrain"\n', encoding="utf-8")
    recipe = read_recipe(recipe_file, settings)
    base = BiEncoder.load(encoder)
    experiment = Pretraining(recipe, KnowledgeBase(kb), base, "cpu", ranks=ranks)
    trainer = experiment.trainer(out.with_suffix(".run"))
    learner = trainer._learner
    named = dict(trainer._task.module.named_parameters())
    named |= {f"objective.{number}": other for number, other in enumerate(learner._others)}
    kept: dict[str, torch.Tensor] = {}
    for step in range(STEPS):
        handle = learner.optimizer.register_step_pre_hook(
            lambda *_, step=step: kept.update(_gradients(named, step))
        )
        kept[f"loss.{step}"] = torch.tensor(learner.learn(step, 1e-3).loss, dtype=torch.float64)
        handle.remove()
    state = trainer._task.objective.state()
    kept |= {f"weight.{name}": tensor for name, tensor in trainer.weights().items()}
    return kept | {f"state.{name}": tensor.detach().clone() for name, tensor in state.items()}


def _gradients(named: dict[str, torch.nn.Parameter], step: int) -> dict[str, torch.Tensor]:
    return {
        f"gradient.{step}.{name}": parameter.grad.clone()
        for name, parameter in named.items()
        if parameter.grad is not None
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4]))
