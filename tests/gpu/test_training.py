"""The training loop, its objectives and its number formats on every device."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase
from tests.devices import CUDA, DEVICES
from tests.training.conftest import SETTINGS
from training.kinds.pretraining import Pretraining
from training.loop.encoding import encode_names
from training.loop.precision import Precision
from training.recipe.reading import read_recipe

SHORT = {"training.epochs": 2.0, "training.eval_every": 1000}
Make = Callable[..., Pretraining]


@pytest.fixture
def make(tiny_kb: KnowledgeBase, tiny_encoder: Path, tmp_path: Path) -> Make:
    """Make an experiment on a device; changes are those of the recipe."""

    def make(device: str, **changes: Any) -> Pretraining:
        file = tmp_path / "recipe.cfg"
        file.write_text('[recipe]\nkind = "pretrain"\n', encoding="utf-8")
        changed = {key.replace("__", "."): value for key, value in changes.items()}
        recipe = read_recipe(file, {**SETTINGS, **SHORT, **changed})
        return Pretraining(recipe, tiny_kb, BiEncoder.load(tiny_encoder), device)

    return make


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", ["multi_similarity", "all_names"])
def test_a_step_is_the_same_on_every_device(
    make: Make, tmp_path: Path, device: str, loss: str
) -> None:
    miner = "hard_pairs" if loss == "multi_similarity" else "none"
    settings = {"objective__loss": loss, "objective__miner": miner}
    runs = [make(own, **settings).trainer(tmp_path / own) for own in ("cpu", device)]
    expected, found = (run._learner.learn(0, 1e-3) for run in runs)
    assert found.loss == pytest.approx(expected.loss, rel=1e-2)
    # A pair may lie on the margin, where the last bit decides.
    assert found.mined == pytest.approx(expected.mined, rel=0.02)
    assert found.names == expected.names
    assert {own.device.type for own in runs[1]._module.parameters()} == {device}


@pytest.mark.parametrize("device", DEVICES)
def test_training_makes_the_loss_fall(make: Make, tmp_path: Path, device: str) -> None:
    trainer = make(device).trainer(tmp_path / "run")
    losses = [trainer._learner.learn(step, 2e-3).loss for step in range(12)]
    assert np.isfinite(losses).all()
    assert np.mean(losses[-4:]) < np.mean(losses[:4])


@pytest.mark.parametrize(
    ("device", "precision"),
    [("cpu", "bf16"), pytest.param("cuda", "bf16", marks=pytest.mark.gpu)],
)  # fmt: skip
def test_mixed_precision_trains(make: Make, tmp_path: Path, device: str, precision: str) -> None:
    trainer = make(device, training__precision=precision).trainer(tmp_path / "run")
    before = {name: own.clone() for name, own in trainer.weights().items()}
    losses = [trainer._learner.learn(step, 2e-3).loss for step in range(16)]
    assert np.isfinite(losses).all()
    after = trainer.weights()
    assert all(own.dtype == torch.float32 for own in after.values())
    assert any(not torch.equal(before[name], own) for name, own in after.items())


@pytest.mark.parametrize("device", [CUDA])
def test_automatic_precision_on_a_gpu(device: str) -> None:
    native = torch.cuda.is_bf16_supported(including_emulation=False)
    assert Precision("auto", torch.device(device)).name == ("bf16" if native else "fp32")


@pytest.mark.parametrize("device", DEVICES)
def test_names_are_encoded_without_gradients(make: Make, device: str) -> None:
    experiment = make(device)
    precision = Precision("fp32", torch.device(device))
    encoder, texts = experiment._encoder, experiment.names.texts[::-1]
    vectors = encode_names(encoder, texts, precision)
    with torch.inference_mode():
        expected = encoder.forward(encoder.tokenize(texts)).cpu().numpy()
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_an_experiment_ends_with_an_encoder_on_its_device(
    make: Make, tmp_path: Path, device: str
) -> None:
    result = make(device).run(tmp_path / "run", resume=False)
    assert result is not None
    assert result.figures["device"].startswith(device)


@pytest.mark.parametrize("device", DEVICES)
def test_a_step_waits_for_the_device_once(
    make: Make, tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a step computed is fetched in one go; `all_names` needs no miner, which must look."""
    from training.loop import learner

    settings = {"objective__loss": "all_names", "objective__miner": "none"}
    trainer = make(device, training__accumulation=2, **settings).trainer(tmp_path / "run")
    fetched, calls = learner.fetched, []
    monkeypatch.setattr(learner, "fetched", lambda tensor: calls.append(1) or fetched(tensor))
    for step in range(3):
        trainer._learner.learn(step, 1e-3)
    assert len(calls) == 3
