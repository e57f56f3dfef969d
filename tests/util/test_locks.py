"""Locks, and children that are forked while another thread holds them."""

import os
import threading
from collections.abc import Callable

import pytest

from spacy_medlink.util.locks import ForkSafeLock, Lru
from tests.children import SECONDS, in_child, started

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def held_by_a_thread(lock: ForkSafeLock, work: Callable[[], bool]) -> bool:
    """Do something while another thread holds a lock."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            done.wait()

    with started(threading.Thread(target=hold)):
        try:
            assert taken.wait(SECONDS)
            return work()
        finally:
            done.set()


def take(lock: ForkSafeLock) -> bool:
    with lock, lock:
        return True


def test_a_child_gets_a_free_lock() -> None:
    lock = ForkSafeLock()
    assert held_by_a_thread(lock, lambda: in_child(lambda: take(lock)))
    assert take(lock)


def test_a_child_keeps_the_lock_of_the_thread_that_forked() -> None:
    lock = ForkSafeLock()

    def is_kept() -> bool:
        """Another thread of the child waits for it."""
        waiting = threading.Thread(target=take, args=(lock,), daemon=True)
        waiting.start()
        waiting.join(0.2)
        return waiting.is_alive()

    with lock:
        assert in_child(is_kept)


def test_it_keeps_other_threads_out() -> None:
    lock, seen = ForkSafeLock(), []
    other = threading.Thread(target=lambda: (take(lock), seen.append("other")), daemon=True)
    with lock:
        other.start()
        other.join(0.1)
        seen.append("own")
    other.join(SECONDS)
    assert seen == ["own", "other"]


def test_a_child_uses_what_another_thread_was_using() -> None:
    kept: Lru[str, int] = Lru(2)
    kept.put("a", 1)
    assert held_by_a_thread(kept._lock, lambda: in_child(lambda: kept.get("a") == 1))
