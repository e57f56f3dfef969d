"""Several processes encode the names of one build together."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.assets.shares import Share, encode_share, encode_together
from spacy_medlink.assets.vectors import NameVectors, store_beside
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from spacy_medlink.util.devices import rank_device
from tests.assets.conftest import CHUNK, all_vectors
from tests.network import held_port

ROOT = Path(__file__).parents[2]
NAMES = 60


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    path = tmp_path / "names.kb"
    build_kb(path, [Concept(f"C{n}", f"fever {n}", (Name(f"fever {n}"),)) for n in range(NAMES)])
    return path


@pytest.mark.parametrize("processes", [2, 3, 11])
def test_shares_are_disjoint_and_whole(
    tmp_path, kb, tiny_encoder, encoded, small_chunks, processes
):
    out, encoder, waited = tmp_path / "out", BiEncoder.load(tiny_encoder), []
    for number in range(processes):
        names = NameVectors(encoder, KnowledgeBase(kb))
        names.store = store_beside(out, encoder)
        share = Share(number, processes)
        encode_together(names, share=share, wait=lambda: waited.append(1))
    assert len(waited) == processes
    assert sorted(encoded) == sorted(KnowledgeBase(kb).iter_texts())


def test_the_build_finds_what_the_others_encoded(
    tmp_path, kb, tiny_encoder, encoded, small_chunks, monkeypatch
):
    whole = all_vectors(build_assets(tmp_path / "whole", kb, tiny_encoder))
    encoded.clear()
    out = tmp_path / "out"
    monkeypatch.setattr("spacy_medlink.assets.shares._wait_for_all", lambda: None)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    encode_share(out, kb, tiny_encoder)
    others = list(encoded)
    assert len(others) in range(CHUNK, NAMES - CHUNK)
    monkeypatch.setenv("RANK", "0")
    with pytest.warns(UserWarning, match="W120"):
        made = build_assets(out, kb, tiny_encoder)
    assert len(encoded) == NAMES
    assert not set(others) & set(encoded[len(others) :])
    np.testing.assert_allclose(all_vectors(made), whole, atol=1e-6)
    assert not list(tmp_path.glob(".*.vectors"))


def test_alone_and_for_few_names_nobody_waits(tmp_path, kb, tiny_encoder, monkeypatch):
    def wait() -> None:
        raise AssertionError("waited")

    monkeypatch.setattr("spacy_medlink.assets.shares._wait_for_all", wait)
    build_assets(tmp_path / "alone", kb, tiny_encoder)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    encode_share(tmp_path / "out", kb, tiny_encoder)
    monkeypatch.setenv("RANK", "0")
    build_assets(tmp_path / "out", kb, tiny_encoder)


def test_a_cluster_that_is_not_torchrun_is_not_waited_for(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert Share.of_process() == Share(0, 1)


@pytest.mark.parametrize(("local", "name", "expected"), [
    ("3", "cuda", "cuda:3"), ("3", "cuda:1", "cuda:1"), ("3", "cpu", "cpu"), ("", "cuda", "cuda"),
])  # fmt: skip
def test_every_process_has_its_gpu(monkeypatch, local, name, expected):
    monkeypatch.setenv("LOCAL_RANK", local)
    assert rank_device(name) == expected


def test_auto_is_the_gpu_of_the_process(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert rank_device("auto") == "cuda:1"


def start(rank: int, port: int, arguments: list[str]) -> "subprocess.Popen[str]":
    ranks = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    ranks |= {"TORCHELASTIC_RUN_ID": "none"}
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "spacy_medlink.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **ranks, **place}, cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_two_processes_build_with_one_command(tmp_path, tiny_encoder):
    """As torchrun starts them: they meet, one builds, the other says nothing."""
    many, out = 9000, tmp_path / "out"
    names = [Concept(f"C{n}", f"fever {n}", (Name(f"fever {n}"),)) for n in range(many)]
    build_kb(tmp_path / "names.kb", names)
    arguments = ["build", str(tmp_path / "names.kb"), "--output", str(out)]
    arguments += ["--encoder", str(tiny_encoder), "--device", "cpu"]
    with held_port() as port, ExitStack() as stack:
        processes = [start(rank, port, arguments) for rank in range(2)]
        for process in processes:
            stack.callback(process.kill)
        said = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    assert "on cpu" in said[0]
    assert said[1].strip() == ""
    made = Assets(out, verify=True)
    assert len(made.dense) == many
    rows = np.arange(0, many, 1000)
    expected = BiEncoder.load(tiny_encoder).encode([f"fever {n}" for n in rows])
    texts = made.kb.texts_at(rows.tolist())
    assert texts == [f"fever {n}" for n in rows]
    np.testing.assert_allclose(made.dense.vectors(rows), expected, atol=0.02)
