"""How many threads a call may use."""

import multiprocessing
import os
import threading

import pytest
import torch

from spacy_medlink.util.threads import cap_threads, side_by_side, threads
from tests.children import SECONDS, end_after, in_thread, killed, status_of


def in_a_new_thread(cap: int | None) -> list[int]:
    """Cap the threads of a new thread, more than once, and tell what it may then use."""
    found = []

    def work() -> None:
        for number in [] if cap is None else [cap, cap + 5]:
            cap_threads(number)
        found.append(threads())

    in_thread(work)
    return found


def test_as_many_as_openmp_would_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert in_a_new_thread(None) == [3]
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert 1 <= in_a_new_thread(None)[0] <= (os.cpu_count() or 1)


def test_a_cap_is_lowered_never_raised_and_is_the_thread_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert in_a_new_thread(2) == [2]
    assert in_a_new_thread(None) == [8]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_uses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    child = os.fork()
    if not child:
        end_after(30)
        os._exit(threads())
    assert os.waitstatus_to_exitcode(status_of(child)) == 1


def _tell(queue: "multiprocessing.Queue[int]") -> None:
    queue.put(threads())


def test_a_spawned_child_uses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[int] = context.Queue()
    child = context.Process(target=_tell, args=(queue,), daemon=True)
    child.start()
    with killed(child):
        assert queue.get(timeout=SECONDS) == 1
        child.join(SECONDS)


@pytest.mark.parametrize("each", [1, 2])
def test_parts_side_by_side_have_threads_of_their_own(each: int) -> None:
    before, found = torch.get_num_threads(), []
    torch.set_num_threads(3)
    try:
        side_by_side(lambda part: found.append((part, torch.get_num_threads())), range(9), 2, each)
        after = [torch.get_num_threads()]
        in_thread(lambda: after.append(torch.get_num_threads()))
    finally:
        torch.set_num_threads(before)
    assert sorted(found) == [(part, each) for part in range(9)]
    assert after == [3, 3]  # here, and in threads that start later


@pytest.mark.parametrize(("parts", "workers"), [([1], 4), ([1, 2], 1), ([], 4)])
def test_one_part_or_one_worker_needs_no_thread(parts: list[int], workers: int) -> None:
    found = []
    side_by_side(lambda part: found.append((part, threading.get_ident())), parts, workers)
    assert found == [(part, threading.get_ident()) for part in parts]


def test_what_a_part_raises_is_raised() -> None:
    def run(part: int) -> None:
        raise ValueError(part)

    with pytest.raises(ValueError, match="0"):
        side_by_side(run, range(3), 2)
