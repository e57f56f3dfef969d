"""Several ranks on one batch: the loss, the gradients and the weights are those of one process."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from spacy_medlink.util.devices import rank_device
from tests.children import killed, python
from tests.network import held_port
from training.loop.ranks import ALONE, Ranks
from training.loop.trainer import CHECKPOINT

from ..conftest import SETTINGS
from . import two_ranks

ROOT = Path(__file__).parents[3]
RANKS = 2
# What an attention's keys are shifted by changes no attention: their gradients are noise, which
# the optimizer blows up to full steps.
NOISE = "key.bias"


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **more}


def _start(arguments: list[str], rank: int, port: int) -> subprocess.Popen[str]:
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    ranks = {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(rank)}
    return subprocess.Popen(
        [sys.executable, *arguments], env=_environment(**place, **ranks), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, cwd=ROOT,
    )  # fmt: skip


def _finish(processes: list[subprocess.Popen[str]], code: int = 0) -> list[str]:
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [code] * len(processes), outputs
    return outputs


TRAININGS: list[dict[str, Any]] = [
    {**SETTINGS, "training.sub_batches": 2},
    {**SETTINGS, "objective.loss": "all_names", "objective.miner": "none",
     "training.accumulation": 2, "sampler.batch_pairs": 3},
]  # fmt: skip


def test_two_ranks_compute_what_one_does(tiny_kb, tiny_encoder, tmp_path):
    paths = [str(tiny_kb.path), str(tiny_encoder)]
    with held_port() as port, ExitStack() as stack:
        processes = [
            _start([two_ranks.__file__, *paths, str(tmp_path / f"{rank}"), json.dumps(TRAININGS)],
                   rank, port)
            for rank in range(RANKS)
        ]  # fmt: skip
        stack.enter_context(killed(*processes))
        two_ranks.main(*paths, tmp_path / "alone", TRAININGS)
        _finish(processes)
    for number in range(len(TRAININGS)):
        alone = load_file(tmp_path / f"alone.{number}")
        ranks = [load_file(tmp_path / f"{rank}.{number}") for rank in range(RANKS)]
        assert alone.keys() == ranks[0].keys() == ranks[1].keys()
        assert sum(name.startswith("gradient.") for name in alone) > 4 * two_ranks.STEPS
        for name, tensor in alone.items():
            assert torch.equal(ranks[0][name], ranks[1][name]), name
            if NOISE not in name:
                torch.testing.assert_close(ranks[0][name], tensor, rtol=2e-3, atol=2e-5, msg=name)


@pytest.mark.slow
def test_torchrun_trains_writes_once_and_resumes(tiny_kb, tiny_encoder, tmp_path):
    recipe = tmp_path / "recipe.cfg"
    recipe.write_text('[recipe]\nkind = "pretrain"\n', encoding="utf-8")
    settings = {**SETTINGS, "training.epochs": 2, "selection.min_gain": -101}
    arguments = [
        "-m", "training.train", str(recipe), f"--kb={tiny_kb.path}", f"--base={tiny_encoder}",
        *(f"--set={key}={json.dumps(value)}" for key, value in settings.items()),
    ]  # fmt: skip
    alone = [*arguments, f"--output={tmp_path / 'alone'}"]
    both = [*arguments, f"--output={tmp_path / 'both'}"]
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={RANKS}"]
    python(*alone, env=_environment())
    for more in ([], ["--resume", "--set=training.epochs=3"]):
        done = python(*torchrun, *both, *more, env=_environment())
        assert done.stdout.count("held out") == 1
        if not more:
            _assert_near(tmp_path / "alone_run" / CHECKPOINT, tmp_path / "both_run" / CHECKPOINT)
    assert (tmp_path / "both" / "model.safetensors").is_file()


def _assert_near(first: Path, second: Path) -> None:
    others = load_file(second / "model.safetensors")
    for name, tensor in load_file(first / "model.safetensors").items():
        if NOISE not in name:
            torch.testing.assert_close(others[name], tensor, rtol=2e-3, atol=2e-4, msg=name)
    progress = [
        json.loads((path / "state.json").read_text("utf-8"))["progress"] for path in (first, second)
    ]
    assert progress[0]["step"] == progress[1]["step"]
    assert progress[0]["names"] == progress[1]["names"]


@given(st.lists(st.integers(3, 25), max_size=40), st.integers(1, 5))
def test_shares_are_a_division_into_equal_work(lengths, count):
    shares = Ranks(0, count, torch.device("cpu")).shares(lengths)
    assert sorted(np.concatenate(shares).tolist()) == list(range(len(lengths)))
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1
    work = [sum(lengths[position] for position in share) for share in shares]
    assert max(work) - min(work) <= max(lengths, default=0)


def test_alone_there_is_nothing_to_agree_on():
    assert ALONE.agree(True, 3.5) == (True, 3.5)
    assert ALONE.from_first(lambda: 7) == 7
    ALONE.wait()


def test_every_rank_has_its_device(monkeypatch):
    assert rank_device("cuda") == "cuda"
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert rank_device("cuda") == "cuda:3"
    assert rank_device("cuda:1") == "cuda:1"
    assert rank_device("cpu") == "cpu"
