"""A build that is interrupted goes on where it was: with errors, Ctrl-C and kills at any moment."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from spacy_medlink.assets import Assets, build, vector_store, vectors
from spacy_medlink.assets import build_assets as build_whole
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Floats2d, Name
from spacy_medlink.util.files import sha256_of
from tests.assets.conftest import CHUNK, all_vectors
from tests.children import SECONDS, killed
from tests.mutants import damage
from tests.tiny import write_tiny_encoder

NAMES = 60
build_assets = partial(build_whole, calibrate=False)  # which takes most of a small build


def write_kb(path: Path, names: range = range(NAMES)) -> Path:
    texts = [f"disease {number}" for number in names]
    build_kb(path, [Concept(text, text, (Name(text),)) for text in texts])
    return path


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kb(tmp_path_factory.mktemp("kb") / "kb")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, kb: Path, tiny_encoder: Path) -> Floats2d:
    """The vectors of a build that nothing interrupts."""
    assets = build_assets(tmp_path_factory.mktemp("whole") / "whole", kb, tiny_encoder)
    return all_vectors(assets)


class Encoding:
    """Counts what is encoded for an index, and stops after some chunks."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.stop_after, self.error, self.done = 10**9, BaseException(), 0

    def stop(self, chunks: int, error: BaseException) -> None:
        self.texts, self.stop_after, self.error = [], chunks, error

    def go_on(self) -> None:
        self.stop(10**9, BaseException())

    def interrupt(self, *build: object, chunks: int = 4, **settings: object) -> None:
        """Interrupt a build after some chunks, and let others go on."""
        self.stop(chunks, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            build_assets(*build, **settings)
        self.done = len(self.texts)
        self.go_on()


@pytest.fixture(autouse=True)
def encoding(monkeypatch: pytest.MonkeyPatch, small_chunks: None) -> Iterator[Encoding]:
    own, original = Encoding(), vectors._encoded

    def encoded(encoder: BiEncoder, texts: Sequence[str]) -> Floats2d:
        if len(own.texts) >= own.stop_after * CHUNK:
            raise own.error
        own.texts.extend(texts)
        return original(encoder, texts)

    monkeypatch.setattr(vectors, "_encoded", encoded)
    yield own


@pytest.mark.parametrize(
    ("chunks", "error"), [(1, KeyboardInterrupt()), (4, MemoryError()), (7, SystemExit(1))]
)
def test_every_chunk_is_encoded_once(tmp_path, kb, tiny_encoder, whole, encoding, chunks, error):
    out = tmp_path / "out"
    encoding.stop(chunks, error)
    with (
        pytest.warns(UserWarning, match=rf"W120.*of {chunks * CHUNK} of {NAMES} names.*same comm"),
        pytest.raises(type(error)),
    ):
        build_assets(out, kb, tiny_encoder)
    assert not out.exists() and len(encoding.texts) == chunks * CHUNK
    encoding.go_on()
    with pytest.warns(UserWarning, match=rf"W120.*vectors of {chunks * CHUNK} names"):
        assets = build_assets(out, kb, tiny_encoder)
    assert len(encoding.texts) == NAMES - chunks * CHUNK
    assert np.array_equal(all_vectors(assets), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_interrupted_again_and_again(tmp_path, kb, tiny_encoder, whole, encoding, recwarn):
    for _ in range(3):
        encoding.interrupt(tmp_path / "out", kb, tiny_encoder, chunks=2)
    assets = build_assets(tmp_path / "out", kb, tiny_encoder)
    assert len(encoding.texts) == NAMES - 3 * 2 * CHUNK
    assert np.array_equal(all_vectors(assets), whole)
    assert "48 of 60" in str(recwarn.list[-2].message)


def test_what_fails_after_the_encoding_is_not_encoded_again(
    tmp_path, kb, tiny_encoder, whole, encoding, monkeypatch
):
    def no_room(path, facts):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(build, "write_manifest", no_room)
        with (
            pytest.warns(UserWarning, match="W120.*60 of 60"),
            pytest.raises(MedlinkError, match="E109"),
        ):
            build_assets(tmp_path / "out", kb, tiny_encoder)
    encoding.go_on()
    with pytest.warns(UserWarning, match="W120"):
        assets = build_assets(tmp_path / "out", kb, tiny_encoder)
    assert encoding.texts == [] and np.array_equal(all_vectors(assets), whole)


def test_vectors_of_many_names_take_half(tmp_path, kb, tiny_encoder, whole, encoding, monkeypatch):
    monkeypatch.setattr(vectors, "HALVED", 1)
    with pytest.warns(UserWarning, match="W120"):
        encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    shards = list((tmp_path / ".out.vectors").iterdir())
    assert {load_file(shard)["vectors"].dtype for shard in shards} == {np.dtype(np.float16)}
    with pytest.warns(UserWarning, match="W120"):
        found = all_vectors(build_assets(tmp_path / "out", kb, tiny_encoder))
    assert len(encoding.texts) == NAMES - 4 * CHUNK
    # Vectors that were kept and vectors that were used at once are rounded alike.
    assert np.array_equal(found, whole.astype(np.float16).astype(np.float32))


def test_another_encoder_takes_nothing(tmp_path, kb, tiny_encoder, encoding, recwarn):
    (tmp_path / "encoder").mkdir()
    other = write_tiny_encoder(tmp_path / "encoder", seed=1)
    encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    recwarn.clear()
    build_assets(tmp_path / "out", kb, other)
    assert len(encoding.texts) == NAMES and not recwarn.list


def test_other_names_take_what_they_share(tmp_path, kb, tiny_encoder, encoding, recwarn):
    encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    more = write_kb(tmp_path / "more", range(CHUNK, NAMES + 5))
    assets = build_assets(tmp_path / "out", more, tiny_encoder)
    assert len(encoding.texts) == NAMES + 5 - CHUNK - 3 * CHUNK
    fresh = build_assets(tmp_path / "fresh", more, tiny_encoder)
    assert np.array_equal(all_vectors(assets), all_vectors(fresh))
    assert {path.name for path in tmp_path.iterdir()} == {"more", "out", "fresh"}


def test_an_update_goes_on_too(tmp_path, kb, tiny_encoder, encoding, recwarn):
    old = build_assets(tmp_path / "old", write_kb(tmp_path / "less", range(20)), tiny_encoder)
    encoding.interrupt(tmp_path / "out", kb, update=old.path, chunks=2)
    assets = build_assets(tmp_path / "out", kb, update=old.path)
    assert encoding.done and len(encoding.texts) == NAMES - 20 - encoding.done
    fresh = build_assets(tmp_path / "fresh", kb, update=old.path)
    assert np.array_equal(all_vectors(assets), all_vectors(fresh))


@pytest.mark.parametrize("how", [b"", b"nothing like it", "cut", "half", None])
def test_what_is_damaged_is_encoded_again(tmp_path, kb, tiny_encoder, whole, encoding, how):
    with pytest.warns(UserWarning, match="W120"):
        encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    shard = sorted((tmp_path / ".out.vectors").iterdir())[0]
    if how is None:
        nothing = np.full((CHUNK, 32), np.nan, dtype=np.float32)
        save_file({**load_file(shard), "vectors": nothing}, shard)
    else:  # also cut off in the header, or among the vectors
        damage(shard, how)
    with pytest.warns(UserWarning, match="W120"):
        assets = build_assets(tmp_path / "out", kb, tiny_encoder)
    assert len(encoding.texts) == NAMES - 3 * CHUNK
    assert np.array_equal(all_vectors(assets), whole)


def test_a_directory_of_the_user_is_left_alone(tmp_path, kb, tiny_encoder, whole, encoding):
    (tmp_path / ".out.vectors").mkdir()
    (tmp_path / ".out.vectors" / "thesis.safetensors").write_text("years of work")
    with pytest.warns(UserWarning, match="W120"):
        encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    with pytest.warns(UserWarning, match="W120"):
        made = build_assets(tmp_path / "out", kb, tiny_encoder)
    assert np.array_equal(all_vectors(made), whole)
    assert len(encoding.texts) == NAMES - 4 * CHUNK
    (left,) = (tmp_path / ".out.vectors").iterdir()
    assert left.read_text() == "years of work"


def test_where_nothing_can_be_kept_the_build_ends_all_the_same(
    tmp_path, kb, tiny_encoder, whole, encoding, monkeypatch
):
    (tmp_path / ".out.vectors").write_text("a file")
    assert np.array_equal(all_vectors(build_assets(tmp_path / "out", kb, tiny_encoder)), whole)
    (tmp_path / ".out.vectors").unlink()

    def full(*_: object) -> None:
        raise Errors.write_failed(path="x", reason="No space left on device")

    monkeypatch.setattr(vector_store, "replacing_file", full)
    assert np.array_equal(all_vectors(build_assets(tmp_path / "out", kb, tiny_encoder)), whole)
    with pytest.warns(UserWarning, match="W120.*No space"):
        encoding.interrupt(tmp_path / "out", kb, tiny_encoder)


def test_small_builds_and_those_without_vectors_keep_nothing(
    tmp_path, kb, tiny_encoder, encoding, monkeypatch
):
    build_assets(tmp_path / "without", kb)
    monkeypatch.setattr(vectors, "WORTH_KEEPING", NAMES + 1)
    encoding.interrupt(tmp_path / "out", kb, tiny_encoder)
    assert [path.name for path in tmp_path.iterdir()] == ["without"]


COMMAND = """
import signal, sys, time
# A parent in the background of a shell has Ctrl-C ignored, and so would its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
from spacy_medlink.assets import vectors
from spacy_medlink.cli import main
vectors._CHUNK, vectors.WORTH_KEEPING = 8, 1
original, seconds = vectors._encoded, float(sys.argv.pop())
def encoded(encoder, texts):
    print("encoded", len(texts), flush=True)
    found = original(encoder, texts)
    time.sleep(seconds)
    return found
vectors._encoded = encoded
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_build_goes_on_after_a_signal(tmp_path, kb, tiny_encoder, whole, encoding, number):
    out = tmp_path / "out"
    arguments = ["build", str(kb), "--output", str(out), "--encoder", str(tiny_encoder)]
    process = start(arguments, seconds=0.2)
    with killed(process):
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline() == "encoded 8\n"
        time.sleep(0.05)
        process.send_signal(number)
        rest, said = process.communicate(timeout=SECONDS)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    encoded = 24 + 8 * rest.count("encoded 8")
    if number == signal.SIGINT:
        assert f"[W120] {out} was not finished" in said and "Stopped." in said
        assert "Traceback" not in said
    with pytest.warns(UserWarning, match="W120"):
        assets = build_assets(out, kb, tiny_encoder)
    # A kill may have come before the last chunk was kept.
    assert NAMES <= encoded + len(encoding.texts) <= NAMES + CHUNK
    assert len(encoding.texts) <= NAMES - 2 * CHUNK
    assert np.array_equal(all_vectors(assets), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def start(arguments: Sequence[str], seconds: float) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments, str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.mark.slow
def test_kills_at_random_moments_lose_at_most_a_chunk(tmp_path, kb, tiny_encoder, whole):
    """Until one comes through: whatever was kept by then is whole."""
    out, generator = tmp_path / "out", np.random.default_rng(0)
    arguments = ["build", str(kb), "--output", str(out), "--encoder", str(tiny_encoder)]
    for _ in range(3):
        process = start(arguments, seconds=0.2)
        with killed(process):
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(generator.uniform(0, 0.6))
        process.communicate()
    shards = {path: sha256_of(path) for path in (tmp_path / ".out.vectors").glob("*.safetensors")}
    assert all(load_file(path)["vectors"].shape[1] == 32 for path in shards)
    again = start(arguments, seconds=0)
    with killed(again):
        again.communicate(timeout=SECONDS)
    assert again.returncode == 0
    assert np.array_equal(all_vectors(Assets(out, verify=True)), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
