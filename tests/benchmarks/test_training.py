"""The benchmarks of training and of GPUs run, on a processor too, and say what was measured."""

from pathlib import Path

import pytest

from benchmarks import gpu, training
from spacy_medlink.kb import KnowledgeBase
from tests.devices import DEVICES


@pytest.mark.parametrize("device", DEVICES)
def test_the_loop_of_the_authors(tiny_kb: KnowledgeBase, tiny_encoder: Path, device: str) -> None:
    row = training.authors_loop(tiny_kb.path, tiny_encoder, 4, 0.05, device, half=False)
    assert row["trained by"] == "the authors' loop, fp32" and row["names/s"] > 0


@pytest.mark.slow
def test_a_recipe_is_measured(tmp_path: Path, tiny_encoder: Path) -> None:
    kb = gpu.write_kb(tmp_path / "kb", 400)
    changes: dict[str, object] = {"training.names": 64, "sampler.batch_pairs": 8}
    base, row = training.train(tmp_path, kb, tiny_encoder, "sap", changes, "cpu")
    assert base.keys() == {"trained by", "acc@1", "acc@5"}
    assert row["names"] >= 64 and row["names/s"] > 0


@pytest.mark.parametrize("device", DEVICES)
def test_encoding_and_flat_search(tmp_path: Path, tiny_encoder: Path, device: str) -> None:
    kb = gpu.write_kb(tmp_path / "kb", 500)
    opened = KnowledgeBase(kb)
    assert 400 <= opened.n_names <= 500  # some are equal within a concept
    assert len(opened) == 100 and len(set(opened.iter_texts())) > 300
    bert = gpu.write_random_bert(tmp_path / "bert", tiny_encoder, num_hidden_layers=1)
    rows = [gpu.encoding(bert, kb, device, 50), gpu.flat(1000, 16, 8, device)]
    assert [row["names"] for row in rows] == [50, 1000]
    assert all(row["a second"] > 0 for row in rows)
