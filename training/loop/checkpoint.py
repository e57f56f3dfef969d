"""Checkpoints: the complete state of a training, written whole or not at all, no pickle."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch.optim import Optimizer

from spacy_medlink.encoders.objectives.protocol import Weights
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.util.files import recover, replacing_directory
from spacy_medlink.util.outputs import DirectoryKind

from .task import Task

_STATE, _MODEL = "state.json", "model.safetensors"
_BEST, _OPTIMIZER = "best.safetensors", "optimizer.safetensors"
_OBJECTIVE = "objective.safetensors"
KIND = DirectoryKind("a checkpoint")


@dataclass
class Progress:
    """How far training has come.

    step (int): batches trained on. names (int): names encoded for these batches.
    seconds (float): wall-clock time; training_seconds: without evaluating and saving.
    best (float): best value of the metric on dev so far; best_step: its step. waited (int):
    evaluations since then. history (List[Dict]): all evaluations. losses (List[Dict]): step, loss,
    mined pairs and learning rate of the first ten steps, of every tenth, and of the last.
    """

    step: int = 0
    names: int = 0
    seconds: float = 0.0
    training_seconds: float = 0.0
    best: float = -1.0
    best_step: int = 0
    waited: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    losses: list[dict[str, float]] = field(default_factory=list)


def save_checkpoint(
    directory: Path, task: Task, optimizer: Optimizer, best: Weights, progress: Progress
) -> None:
    """Write a checkpoint in place of the one before.

    task (Task): its `made_with` identifies recipe, names and base; a checkpoint fits no others.
    RAISES (MedlinkError): E109 when it cannot be written; the previous one stays complete.
    """
    state = optimizer.state_dict()
    content = {
        "made_with": task.made_with,
        "progress": vars(progress),
        "groups": [{**group, "params": len(group["params"])} for group in state["param_groups"]],
    }
    with replacing_directory(directory, KIND) as path:
        save_file(copy_weights(task.module), path / _MODEL)
        save_file(best, path / _BEST)
        save_file(_flat_state(state["state"]) | _random_state(), path / _OPTIMIZER)
        save_file(_contiguous(task.objective.state()), path / _OBJECTIVE)
        (path / _STATE).write_text(json.dumps(content), "utf-8")


def load_checkpoint(directory: Path, task: Task, optimizer: Optimizer) -> tuple[Weights, Progress]:
    """Restore the state of a checkpoint.

    RETURNS (Tuple[Weights, Progress]): the best weights so far, and how far training had come.
    RAISES (MedlinkError): E505 unreadable, or of another recipe, knowledge base or base model;
        E505 there is none.
    """
    recover(directory)
    if not (directory / _STATE).is_file():
        raise Errors.bad_checkpoint(path=directory, problem="there is none")
    try:
        content = json.loads((directory / _STATE).read_text("utf-8"))
        if content["made_with"] != task.made_with:
            raise Errors.bad_checkpoint(
                path=directory, problem="it was made with another recipe, KB or base model"
            )
        task.module.load_state_dict(load_file(directory / _MODEL))
        tensors = load_file(directory / _OPTIMIZER)
        optimizer.load_state_dict(_optimizer_state(tensors, content["groups"]))
        task.objective.load_state(load_file(directory / _OBJECTIVE))
        _set_random_state(tensors)
        return load_file(directory / _BEST), Progress(**content["progress"])
    except MedlinkError:  # which is a ValueError, too
        raise
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Errors.bad_checkpoint(path=directory, problem=f"{_STATE}: {error}") from error
    except (OSError, SafetensorError, RuntimeError, LookupError, TypeError, ValueError) as error:
        raise Errors.bad_checkpoint(path=directory, problem=error) from error


def _flat_state(state: dict[int, dict[str, torch.Tensor]]) -> Weights:
    """Name the moments of every parameter "<number>.<what>"."""
    return _contiguous(
        {
            f"{parameter}.{what}": tensor
            for parameter, moments in state.items()
            for what, tensor in moments.items()
        }
    )


def _optimizer_state(tensors: Weights, groups: list[dict[str, Any]]) -> dict[str, Any]:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        parameter, what = name.split(".", 1)
        if parameter.isdigit():
            state.setdefault(int(parameter), {})[what] = tensor
    whole, first = [], 0
    for group in groups:
        numbers = list(range(first, first + group["params"]))
        whole.append({**group, "params": numbers})
        first += len(numbers)
    return {"state": state, "param_groups": whole}


def _random_state() -> Weights:
    states = {"random.cpu": torch.get_rng_state()}
    for device in range(torch.cuda.device_count()):
        states[f"random.cuda.{device}"] = torch.cuda.get_rng_state(device)
    return states


def _set_random_state(tensors: Weights) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    for device in range(torch.cuda.device_count()):
        if (name := f"random.cuda.{device}") in tensors:
            torch.cuda.set_rng_state(tensors[name], device)


def copy_weights(module: torch.nn.Module) -> Weights:
    """Copy the weights of a module to the processor's memory."""
    return _contiguous(module.state_dict())


def _contiguous(tensors: dict[str, Any]) -> Weights:
    # Copies, since tied weights share memory, which safetensors refuses.
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
