"""The loop: it learns, stops, resumes, and reports."""

import errno
import os
import signal
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Stateless, Weights
from spacy_medlink.errors import MedlinkError
from tests.children import in_thread
from tests.mutants import refused
from training.choosing.yardstick import Yardstick
from training.kinds.pretraining import Pretraining
from training.loop import checkpoint
from training.loop.checkpoint import copy_weights
from training.loop.encoding import encode_names
from training.loop.interruption import StoppedError
from training.loop.learner import Learnt
from training.loop.precision import Precision
from training.loop.ranks import ALONE
from training.loop.trainer import CHECKPOINT, Trainer

from ..conftest import progress_of

FP32 = Precision("fp32", torch.device("cpu"))
LOSSES = ["multi_similarity", "all_names"]


Make = Callable[..., Trainer]


@pytest.fixture
def make(experiment, tmp_path):
    """Make trainers by settings, which run in a directory of the test."""
    return lambda within="", **settings: experiment(**settings).trainer(tmp_path / within)


def _settings(loss: str) -> dict[str, Any]:
    miner = "none" if loss == "all_names" else "hard_pairs"
    return {"objective__loss": loss, "objective__miner": miner}


def _same(first: Weights, second: Weights) -> bool:
    return all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def _found_by_synonyms(experiment: Pretraining) -> float:
    """How many training names have a name of their own concept as the nearest other one."""
    names, (first, counts) = experiment.names, _counts(experiment.names.concepts)
    encoder = experiment._encoder
    vectors = encode_names(encoder, names.texts, FP32)
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -np.inf)
    nearest = names.concepts[similarity.argmax(axis=1)]
    _, string, uses = np.unique(names.strings, return_inverse=True, return_counts=True)
    asked = (counts[first] > 1) & (uses[string] == 1)
    return float((nearest == names.concepts)[asked].mean())


def _counts(concepts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, number, counts = np.unique(concepts, return_inverse=True, return_counts=True)
    return number, counts


@pytest.mark.parametrize("loss", LOSSES)
def test_names_that_are_trained_on_find_their_concept(experiment, tmp_path, loss):
    rare = {"training__eval_every": 1000, "optimizer__learning_rate": 5e-3}
    made = experiment(training__epochs=25.0, **rare, **_settings(loss))
    trainer = made.trainer(tmp_path)
    assert _found_by_synonyms(made) < 0.7
    trainer.train()
    losses = [line["loss"] for line in progress_of(tmp_path)["losses"]]
    assert losses[-1] < losses[0] / 2
    assert _found_by_synonyms(made) > 0.95


@pytest.mark.parametrize(("loss", "dropout"), [("multi_similarity", 0.0), ("all_names", 0.1)])
@pytest.mark.parametrize("step", [3, 6])
def test_resumed_training_gives_the_weights_of_an_unbroken_run(make, tmp_path, loss, dropout, step):
    settings = {"encoder__dropout": dropout, "training__epochs": 3.0, **_settings(loss)}
    whole = make("whole", **settings)
    whole.train()
    broken = make("broken", **settings)
    _stop_at(broken, step)
    with pytest.raises(StoppedError):
        broken.train()
    assert broken.progress.step == step
    torch.manual_seed(999)
    resumed = make("broken", **settings)
    resumed.train(resume=True)
    assert resumed.progress.step == whole.progress.step
    assert _same(resumed.weights(), whole.weights())
    assert _same(resumed.best, whole.best)
    noted = [progress_of(tmp_path / name) for name in ("whole", "broken")]
    assert noted[0]["history"] == noted[1]["history"] != []
    assert noted[0]["losses"] == noted[1]["losses"] != []


def _stop_at(trainer: Trainer, step: int) -> None:
    """Press Ctrl-C while a step is computed."""
    original = trainer._learner.learn

    def learn(number: int, rate: float) -> Learnt:
        if number == step - 1:
            signal.raise_signal(signal.SIGINT)
        return original(number, rate)

    trainer._learner.learn = learn


def test_ctrl_c_is_python_s_own_again_afterwards(make):
    before = signal.getsignal(signal.SIGINT)
    trainer = make()
    _stop_at(trainer, 2)
    with pytest.raises(StoppedError, match="--resume"):
        trainer.train()
    assert signal.getsignal(signal.SIGINT) is before


def test_training_works_outside_the_main_thread(make, tmp_path):
    trainer = make(training__epochs=1.0)
    in_thread(trainer.train)
    assert trainer.progress.step > 0
    assert (tmp_path / CHECKPOINT).is_dir()


def test_a_loss_that_is_not_a_number_stops_training_with_the_last_good_weights(make, tmp_path):
    trainer = make()
    good: list[Weights] = []
    original = trainer._task.objective.__call__
    broken = _Broken(original, at=5, before=lambda: good.append(trainer.weights()))
    object.__setattr__(trainer._task, "objective", broken)
    with pytest.raises(
        MedlinkError, match=r"E504.*loss became nan at step 4.*name rows \d+"
    ) as hit:
        trainer.train()
    assert str(tmp_path / CHECKPOINT) in str(hit.value)
    resumed = make()
    resumed._load()
    assert resumed.progress.step == 4
    assert _same(resumed.weights(), good[-1])


class _Broken(Stateless):
    """An objective that gives NaN at a call."""

    def __init__(self, call: Callable[..., Any], at: int, before: Callable[[], None]) -> None:
        self._call, self._left, self._before = call, at, before

    def __call__(self, vectors: torch.Tensor, batch: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self._before()
            return vectors.sum() * float("nan"), 0
        return self._call(vectors, batch)


def test_a_gradient_that_is_not_finite_stops_training_too(make):
    trainer = make()
    before = trainer.weights()
    first = trainer._learner._encoders[0]
    first.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(MedlinkError, match=r"E504.*gradient became (nan|inf) at step 0"):
        trainer.train()
    assert _same(trainer.weights(), before)


def test_training_stops_early_when_dev_gains_nothing(make):
    often = {"training__patience": 2, "training__eval_every": 1, "training__epochs": 50.0}
    trainer = make(**often, optimizer__learning_rate=1e-12)
    trainer.train()
    assert trainer.progress.step == 3
    assert trainer.progress.best_step == 1


def test_a_budget_of_minutes_ends_training_and_brings_the_rate_to_zero(make, tmp_path):
    trainer = make(training__epochs=100_000.0, training__max_minutes=0.02)
    trainer.train()
    assert 1.2 <= trainer.progress.seconds < 10
    assert trainer.part_done() == 1
    assert trainer.progress.history[-1]["step"] == trainer.progress.step
    rates = [line["rate"] for line in progress_of(tmp_path)["losses"]]
    assert rates[-1] < max(rates) / 2


def test_best_weights_are_those_of_the_best_evaluation(make, monkeypatch):
    values = iter([10.0, 30.0, 20.0, 30.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0])
    kept: list[Weights] = []

    def fast(self: Yardstick, encoder: BiEncoder) -> dict[str, float]:
        kept.append(copy_weights(encoder.module))
        return {"acc@1": next(values)}

    monkeypatch.setattr(Yardstick, "fast", fast)
    trainer = make(training__eval_every=1, training__epochs=2.0)
    trainer.train()
    assert len(kept) > 3
    assert trainer.progress.best_step == 2
    assert _same(trainer.best, kept[1])


@pytest.mark.parametrize(("pooling", "still"), [("mean", ["pooler"]), ("pooler", [])])
def test_frozen_layers_stay_and_the_others_move(make, pooling, still):
    settings = {"encoder__freeze_embeddings": True, "encoder__pooling": pooling}
    trainer = make(**settings, training__epochs=1.0)
    before = trainer.weights()
    trainer.train()
    for name, tensor in trainer.weights().items():
        frozen = name.startswith(("embeddings", *still))
        assert torch.equal(tensor, before[name]) == frozen, name


@pytest.mark.parametrize("change", ["recipe", "kb"])
def test_a_checkpoint_of_something_else_is_refused(make, change):
    make(training__epochs=1.0).train()
    other = {"recipe": {"data__lower_case": False}, "kb": {"holdout__seed": 5}}[change]
    with pytest.raises(MedlinkError, match=r"E505.*another recipe"):
        make(**other).train(resume=True)


def test_the_learning_rate_may_change_when_training_goes_on(make, tmp_path):
    make(training__epochs=1.0).train()
    longer = make(training__epochs=2.0, optimizer__learning_rate=1e-4)
    longer.train(resume=True)
    rates = [line["rate"] for line in progress_of(tmp_path)["losses"]]
    assert longer.part_done() == 1
    assert rates[-1] <= 1e-4


FILES = ["state.json", "model.safetensors", "optimizer.safetensors", "best.safetensors"]


def test_a_damaged_checkpoint_is_an_error(make, tmp_path):
    make(training__epochs=1.0).train()
    for file, how in product(FILES, ["gone", "half", bytes(range(255, -1, -1))]):
        trainer = make(training__epochs=1.0)
        refused(tmp_path / CHECKPOINT / file, how, trainer.train, resume=True, match="E505")


def test_an_optimizer_of_other_tensors_is_an_error(make, tmp_path):
    make(training__epochs=1.0).train()
    save_file({"none": torch.zeros(1)}, tmp_path / CHECKPOINT / "optimizer.safetensors")
    with pytest.raises(MedlinkError, match="E505"):
        make(training__epochs=1.0).train(resume=True)


class _Hungry(Stateless):
    """An objective that no batch fits."""

    def __call__(self, vectors: torch.Tensor, batch: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def test_out_of_memory_says_what_to_set(make):
    trainer = make(sampler__batch_pairs=8)
    object.__setattr__(trainer._task, "objective", _Hungry())
    with pytest.raises(MedlinkError, match=r"E509.*batch of \d+ names.*batch_pairs = [1-4] or"):
        trainer.train()


def test_a_full_disk_leaves_the_checkpoint_before(make, tmp_path, monkeypatch):
    place = tmp_path / "run"
    make("run", training__epochs=1.0).train()
    state = (place / CHECKPOINT / "state.json").read_bytes()
    again = make("run", training__epochs=3.0)

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(MedlinkError, match=r"E109.*No space left"):
        again.train(resume=True)
    assert (place / CHECKPOINT / "state.json").read_bytes() == state
    assert {path.name for path in place.iterdir()} == {CHECKPOINT}
    monkeypatch.undo()
    resumed = make("run", training__epochs=2.0)
    resumed.train(resume=True)
    assert resumed.part_done() == 1


def test_accumulated_batches_are_one_step_with_the_mean_of_their_gradients(make):
    trainer = make("three", training__accumulation=3)
    learner, module = trainer._learner, trainer._task.module
    single = make("one")
    for number in range(3):
        single._task.pull(number, 1.0, FP32, ALONE)
    expected = [parameter.grad for parameter in single._learner._encoders]
    seen: list[torch.Tensor] = []
    learner.optimizer.register_step_pre_hook(
        lambda *_: seen.extend(parameter.grad.clone() for parameter in learner._encoders)
    )
    object.__setattr__(trainer._recipe.optimizer, "clip", 0.0)
    learner.learn(0, 1e-3)
    assert module is trainer._task.module
    for found, whole in zip(seen, expected, strict=True):
        assert whole is not None
        torch.testing.assert_close(found, whole / 3, rtol=1e-4, atol=1e-7)
