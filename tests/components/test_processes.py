"""Processes and threads: children of a parent that has linked, threads on one pipeline, caps."""

import json

import pytest

from spacy_medlink.components.linker import opened
from tests.children import ROOT, in_threads, python
from tests.components.test_matrix import METHODS, run_once
from tests.pipelines import TEXTS, pipeline, values


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("policy", [None, "PASSIVE", "ACTIVE"])
@pytest.mark.parametrize("method", METHODS)
def test_no_child_hangs_however_often_it_is_run(tiny_assets, tmp_path, method, policy):
    """However the parent's threads wait, asleep or spinning: they are not there after a fork."""
    variables = {"OMP_WAIT_POLICY": policy} if policy else {}  # most programs run without it
    for _ in range(2 if policy else 20):
        run_once(tiny_assets.path, tmp_path / "run.py", method, **variables)


def test_eight_threads_on_one_pipeline(tiny_assets, monkeypatch):
    """Without a cache, so that all of them encode and search at the same time."""
    monkeypatch.setattr(opened, "CACHE_SIZE", 0)
    nlp = pipeline(tiny_assets)
    texts = [f"{text} Known type {number} diabetes." for number in range(6) for text in TEXTS]
    want = [values(nlp(text).ents) for text in texts]

    def linked(shift: int):
        turned = texts[shift:] + texts[:shift]
        found = [values(nlp(text).ents) for text in turned]
        return found[len(texts) - shift :] + found[: len(texts) - shift]

    for found in in_threads(linked, range(8)):
        assert found == want


# A process of its own: caps stay.
CAPPED = """
import json
import sys
import threading

import faiss
import torch
from threadpoolctl import threadpool_info

from spacy_medlink.assets import Assets
from tests.pipelines import pipeline

def threads():
    libraries = [one["num_threads"] for one in threadpool_info()]
    return [torch.get_num_threads(), faiss.omp_get_max_threads(), *libraries]

torch.set_num_threads(3)
found = []

def work(nlp):
    nlp("a heart attack")
    found.append(threads())

for cap in (5, 2, 1):
    nlp = pipeline(Assets(sys.argv[1]), n_threads=cap)
    work(nlp)
    thread = threading.Thread(target=work, args=(nlp,))
    thread.start()
    thread.join()
print(json.dumps(found))
"""


def test_caps_hold_in_every_thread(tiny_assets):
    threads = {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    own = {"PYTHONPATH": str(ROOT), "PATH": "", **threads}
    found = json.loads(python("-c", CAPPED, tiny_assets.path, env=own).stdout)
    assert all(len(counts) > 3 for counts in found)
    # Lowered to the cap, never raised to it: in the thread that made the pipeline, then in another.
    assert [max(counts) for counts in found] == [3, 3, 2, 2, 1, 1]
