"""Chunks of names on a GPU: some are under way at a time, and they come out in order."""

import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from spacy_medlink.assets.vectors import _AHEAD, _ahead, name_chunks
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d
from spacy_medlink.util.devices import CPU


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


def test_chunks_hold_every_name_once(tiny_kb: KnowledgeBase) -> None:
    chunks = list(name_chunks(tiny_kb, CPU))
    assert [text for chunk in chunks for text in chunk] == list(tiny_kb.iter_texts())
