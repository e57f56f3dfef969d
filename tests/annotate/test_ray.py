"""The engine over Ray writes what the local one writes."""

from pathlib import Path

import pytest

from spacy_medlink.annotate.ray_engine import for_actors
from spacy_medlink.annotate.run import annotate_file
from spacy_medlink.annotate.worker import Job
from spacy_medlink.errors import MedlinkError
from tests.children import python

_MEDLINK = "import spacy_medlink.cli as cli; cli.main()"


@pytest.mark.parametrize(
    ("device", "gpus", "expected"),
    [(None, 0, ("cpu", False)), (None, 2, ("cuda", True)), ("auto", 2, ("cuda", True)),
     ("cuda:1", 2, ("cuda", True)), ("cpu", 2, ("cpu", False)), ("auto", 0, ("cpu", False))],
)  # fmt: skip
def test_actors_compute_on_the_gpu_that_they_reserve(device, gpus, expected):
    job = Job("assets", Path("parts"), device=device)
    made, on_gpu = for_actors(job, gpus)
    assert (made.device, on_gpu) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_same_output(tiny_assets, notes, tmp_path):
    ray = pytest.importorskip("ray")
    path = notes(40, ["{", '{"doc_id": "x"}'])
    source, local, other = str(tiny_assets.path), tmp_path / "local.jsonl", tmp_path / "ray.jsonl"
    annotate_file(source, path, local, part_size=5)
    try:
        with pytest.raises(MedlinkError, match="E201"):
            annotate_file(str(tmp_path / "no"), path, tmp_path / "no.jsonl", engine="ray")
        done = annotate_file(source, path, other, part_size=5, engine="ray", n_process=2)
    finally:
        ray.shutdown()
    assert (done.linked, done.set_aside) == (40, 2)
    assert other.read_bytes() == local.read_bytes()
    aside = [file.with_name(f"{file.name}.bad.jsonl").read_bytes() for file in (local, other)]
    assert aside[0] == aside[1]


@pytest.mark.slow
def test_ray_is_silent_in_a_good_run(tiny_assets, notes, tmp_path):
    """Neither its loggers nor its core, which writes by itself, show anything."""
    pytest.importorskip("ray")
    order = ["annotate", str(tiny_assets.path), str(notes(8, [])), "--output", "out.jsonl"]
    done = python("-c", _MEDLINK, *order, "--engine", "ray", cwd=tmp_path, timeout=280)
    assert all(line.startswith("annotating: ") for line in done.stderr.splitlines())
    assert done.stdout.count("\n") == 1
