"""`medlink kb build` killed at any moment leaves the old knowledge base or the new one, whole."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.umls import generate
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.util.files import sha256_of
from tests.children import SECONDS, killed

KILLS = 50
COMMAND = [sys.executable, "-c", "from spacy_medlink.cli import main; main()"]


@pytest.fixture
def releases(tmp_path: Path) -> tuple[Path, Path]:
    generate(tmp_path / "2025", 4000, 14_000, seed=1)
    generate(tmp_path / "2026", 4000, 14_000, seed=1, year=1, fraction=0.05)
    return tmp_path / "2025", tmp_path / "2026"


def build(path: Path, release: Path) -> str:
    return sha256_of(build_knowledge_base(out=path, sources=[("umls", release)]).kb.path)


def start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [*COMMAND, *map(str, arguments)]
    # A group of its own: a build reads in a second process, which is to die as well.
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_killed_at_random_moments(tmp_path: Path, releases: tuple[Path, Path]) -> None:
    path, (old, new) = tmp_path / "umls.kb", releases
    states = {"old": build(path, old), "new": build(tmp_path / "other.kb", new)}
    assert states["old"] != states["new"]
    began = time.perf_counter()
    first = start("kb", "build", "--output", tmp_path / "other.kb", new, "--from", "umls")
    with killed(first):
        assert first.wait(SECONDS) == 0
    seconds = time.perf_counter() - began
    assert sha256_of(tmp_path / "other.kb") == states["new"]
    chance, seen, dead = random.Random(0), set(), 0
    while dead < KILLS:
        if sha256_of(path) == states["new"]:
            build(path, old)
        process = start("kb", "build", "--output", path, new, "--from", "umls")
        try:
            time.sleep(chance.uniform(0.2, 1.1) * seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        if process.wait(SECONDS) == -signal.SIGKILL:
            dead += 1
        else:  # the machine has become faster
            seconds *= 0.9
        found = [state for state, digest in states.items() if digest == sha256_of(path)]
        assert found, "neither the old one nor the new one"
        seen.add(found[0])
        told = subprocess.run(
            [*COMMAND, "kb", "info", str(path), "--verify"],
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        assert told.returncode == 0 and "all is whole" in told.stdout, told.stderr
    assert "old" in seen
    build(path, new)
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"2025", "2026", "umls.kb", "other.kb"}, "what was killed left files behind"
