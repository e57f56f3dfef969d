"""Processes and threads: children of a parent that has linked, threads on one pipeline, caps."""

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_medlink.components.linker import opened
from tests.children import in_threads
from tests.pipelines import TEXTS, pipeline, values

ROOT = Path(__file__).parents[2]
# Threads that wait should sleep: on a busy machine spinning takes minutes.
PLAIN = {"PYTHONPATH": str(ROOT), "OMP_WAIT_POLICY": "PASSIVE", "PATH": ""}
METHODS = [
    method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()
]

# A process of its own for each run: a child that hangs must not take the tests with it. Two threads
# in the parent, since with one there is nothing for a child to wait for.
RUN = """
import json
import multiprocessing
import sys
import warnings

# Python warns that a fork beside threads may hang, which is what is tried here.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)

import torch

from spacy_medlink.components.linker import opened
from spacy_medlink.assets import Assets
from tests.pipelines import TEXTS, pipeline

def links(docs):
    return [[(ent.text, ent.kb_id_, ent._.cui, ent._.candidates[0]["name"]) for ent in doc.ents]
            for doc in docs]

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    torch.set_num_threads(2)
    nlp = pipeline(Assets(sys.argv[1]), cui_scheme="UMLS", top_k=2)
    texts = TEXTS * 8
    before = links(nlp.pipe(texts))
    assert nlp.get_pipe("medical_linker").engine.parts.encoder is not None
    after = links(nlp.pipe(texts, n_process=2, batch_size=6))
    again = links(nlp.pipe(texts))
    print(json.dumps([before, after, again]))
"""


def run_once(path: Path, script: Path, method: str, **variables: str) -> None:
    script.write_text(RUN, encoding="utf8")
    command = [sys.executable, str(script), str(path), method]
    # Without OMP_WAIT_POLICY, unless it is given: as most programs run.
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", "PATH": "", **variables}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=450
    )
    assert ended.returncode == 0, ended.stderr[-6000:]
    before, after, again = json.loads(ended.stdout)
    assert before == after == again
    assert sum(map(len, before)) == 72


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("method", METHODS)
def test_no_child_hangs_in_twenty_runs(tiny_assets, tmp_path, method):
    for _ in range(20):
        run_once(tiny_assets.path, tmp_path / "run.py", method)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
@pytest.mark.parametrize("policy", ["PASSIVE", "ACTIVE"])
def test_children_however_the_parents_threads_wait(tiny_assets, tmp_path, policy):
    """Asleep or spinning, OpenMP's threads of the parent are not there after a fork."""
    for _ in range(2):
        run_once(tiny_assets.path, tmp_path / "run.py", "fork", OMP_WAIT_POLICY=policy)


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
    command = [sys.executable, "-c", CAPPED, str(tiny_assets.path)]
    environment = {**PLAIN, "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert all(len(counts) > 3 for counts in found)
    # Lowered to the cap, never raised to it: in the thread that made the pipeline, then in another.
    assert [max(counts) for counts in found] == [3, 3, 2, 2, 1, 1]
