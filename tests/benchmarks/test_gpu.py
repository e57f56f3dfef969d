"""The benchmark for GPUs runs, on a processor too, and its table says what was measured."""

from pathlib import Path

import pytest

from benchmarks.gpu import SECTIONS, Sizes, measure, table
from benchmarks.gpu_tasks import write_kb
from spacy_medlink.kb import KnowledgeBase
from tests.devices import DEVICES

TINY = Sizes(200, 50, 300, 4, 0.05, 1000, 8, 200, 1)


def test_invented_names_are_as_many_as_asked_for(tmp_path: Path) -> None:
    kb = KnowledgeBase(write_kb(tmp_path / "invented.kb", 500))
    assert 400 <= kb.n_names <= 500  # some are equal within a concept
    assert len(list(kb.iter_ids())) == 100
    assert len(set(kb.iter_texts())) > 300


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
def test_every_section_runs(tmp_path: Path, tiny_encoder: Path, device: str) -> None:
    results = measure(tmp_path, TINY, device, str(tiny_encoder))
    assert set(SECTIONS) <= set(results)
    assert results["device"].startswith(device)
    assert set(results["training"]["names_per_s"]) == {
        "ours", "reference, bf16", "reference, fp32",
    }  # fmt: skip
    assert all(own["names_per_s"] > 0 for own in results["encoding"].values())
    assert results["flat"]["names"] == 1000
    assert results["build"]["names"] >= 150
    page = table(results)
    for shown in ("SAP training, ours", "random BERT, 1 layers", "flat search", "build"):
        assert shown in page


def test_a_part_can_be_measured_alone(tmp_path: Path) -> None:
    results = measure(tmp_path, TINY, "cpu", "nowhere", ("flat",))
    assert "training" not in results and "build" not in results
    assert results["flat"]["queries_per_s"] > 0
    assert "| flat search | 1,000 |" in table(results)
