"""Chunks of names on a GPU: some are under way at a time, and they come out in order."""

import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.assets.vector_store import DIRECTORY, VectorStore
from spacy_medlink.assets.vectors import _AHEAD, _ahead
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Floats2d


def test_chunks_come_in_order_whichever_is_done_first() -> None:
    under_way: list[int] = []
    most, lock = 0, threading.Lock()

    def make(texts: Sequence[str]) -> Floats2d:
        nonlocal most
        with lock:
            under_way.append(1)
            most = max(most, len(under_way))
        time.sleep(0.002 * (int(texts[0]) % 3))
        with lock:
            under_way.pop()
        return np.full((1, 1), float(texts[0]), dtype=np.float32)

    found = [float(own[0, 0]) for own in _ahead(make, [[str(n)] for n in range(30)])]
    assert found == list(range(30))
    assert most <= _AHEAD


def test_no_more_chunks_are_read_than_are_needed() -> None:
    read: list[int] = []

    def chunks():
        for number in range(100):
            read.append(number)
            yield [str(number)]

    stream = _ahead(lambda texts: np.zeros((1, 1), dtype=np.float32), chunks())
    next(stream)
    assert len(read) <= _AHEAD + 1
    stream.close()
    assert len(read) <= _AHEAD + 1


def test_an_error_ends_it() -> None:
    def make(texts: Sequence[str]) -> Floats2d:
        if texts[0] == "3":
            raise MemoryError("at the fourth")
        return np.zeros((1, 1), dtype=np.float32)

    made = []
    with pytest.raises(MemoryError, match="fourth"):
        for own in _ahead(make, [[str(n)] for n in range(50)]):
            made.append(own)
    assert len(made) == 3


@pytest.mark.parametrize("processes", [1, 2])
def test_a_build_encodes_only_what_is_not_stored(
    tiny_kb, tiny_encoder, tmp_path, encoded, monkeypatch, processes
):
    """Where several processes encode, each makes its share, and nothing is looked up."""
    whole = build_assets(tmp_path / "whole", tiny_kb.path, tiny_encoder, calibrate=False)
    encoder, texts = BiEncoder.load(tiny_encoder), [*tiny_kb.iter_texts()]
    encoder.save(tmp_path / "encoder")
    store = VectorStore(tmp_path / "encoder" / DIRECTORY, encoder.fingerprint(), encoder.dim)
    stored = texts[: len(texts) // 3]
    store.add(stored, encoder.encode(stored))
    encoded.clear()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", str(processes))
    made = build_assets(tmp_path / "made", tiny_kb.path, tmp_path / "encoder", calibrate=False)
    assert set(encoded) == set(texts) - (set(stored) if processes == 1 else set())
    rows = np.arange(len(texts))
    np.testing.assert_allclose(made.dense.vectors(rows), whole.dense.vectors(rows), atol=1e-5)
