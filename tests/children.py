"""Threads and child processes that end with the test that started them, however it ends.

A worker that waits for ever fails the test. It must not hang the run: `ThreadPoolExecutor` and
`multiprocessing` wait for their workers even after an error, so nothing here does.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[1]
SECONDS = 240  # less than pytest-timeout has; for work that takes a moment on a quiet machine

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def in_threads(
    work: Callable[[_In], _Out], items: Iterable[_In], threads: int = 8, seconds: float = SECONDS
) -> list[_Out]:
    """Do something with every item, in several threads at once, and return what it gave."""
    jobs = [(item, Future[_Out]()) for item in items]
    left = deque(jobs)

    def work_on() -> None:
        while left:
            try:
                item, future = left.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                future.set_result(work(item))
            except BaseException as error:
                future.set_exception(error)

    with started(*(threading.Thread(target=work_on) for _ in range(threads)), seconds=seconds):
        try:
            return [future.result(seconds) for _, future in jobs]
        finally:
            left.clear()


def in_thread(work: Callable[[], _Out]) -> _Out:
    """Do something in another thread."""
    return in_threads(lambda _: work(), [None], 1)[0]


@contextmanager
def started(*threads: threading.Thread, seconds: float = SECONDS) -> Iterator[None]:
    """Run threads beside the block; they end soon after it, or the test fails.

    After an error nothing waits for them: as daemons they end with the process at the latest.
    """
    for thread in threads:
        thread.daemon = True
        thread.start()
    yield
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive(), f"{thread} did not end in {seconds} s"


@contextmanager
def killed(*processes: "subprocess.Popen[Any] | BaseProcess") -> Iterator[None]:
    """Kill, at the end of the block, what has not ended by itself."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            if isinstance(process, subprocess.Popen):
                process.wait(SECONDS)
            else:
                process.join(SECONDS)


def kill_at_work(work: Callable[..., None], *arguments: Any, after: float) -> None:
    """Do something in a forked child, and kill it some seconds after it first tells of itself.

    work (Callable): takes the arguments, and a connection into which it sends 0 first.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()  # or the end of a child that says nothing is not seen
    with killed(process), ours:
        assert ours.poll(SECONDS) and ours.recv() == 0
        time.sleep(after)
    assert process.exitcode == -signal.SIGKILL


def python(*arguments: Any, code: int | None = 0, **settings: Any) -> Any:
    """Run Python in a process of its own, in the checkout, to its end with an exit code.

    RETURNS (CompletedProcess[str]): with what it wrote.
    """
    own = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": SECONDS, **settings}
    done = subprocess.run([sys.executable, *map(str, arguments)], check=False, **own)
    assert code is None or done.returncode == code, done.stdout[-4000:] + done.stderr[-4000:]
    return done


_FORK = """
child = os.fork()
if child == 0:
    signal.alarm(60)  # a hanging child must not outlive the test
    os._exit(0 if ask() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def python_forks(code: str, *arguments: Any) -> None:
    """Run code that defines `ask`, which must be true in a forked child after its parent's."""
    own = f"import os, signal, sys\n{code}\nassert ask()\n{_FORK}"
    python("-c", own, *arguments, env={**os.environ, "OMP_NUM_THREADS": "2"})


def in_child(work: Callable[[], bool]) -> bool:
    """Tell whether a forked child finds something true; one that waits for ever does not."""
    child = os.fork()
    if child:
        return status_of(child) == 0
    try:
        end_after(SECONDS // 4)
        os._exit(0 if work() else 1)
    finally:
        os._exit(2)


def end_after(seconds: int) -> None:
    """Let a forked child die after some time, whatever it does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest's own handler would go on with tests
    signal.alarm(seconds)


def status_of(child: int) -> int:
    """Wait for a forked child, or kill it when the test has to end before."""
    try:
        return os.waitpid(child, 0)[1]
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def in_fork(work: Callable[[], Any]) -> Any:
    """Do something in a forked child, and return what it gave, or the text of its error."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, work), daemon=True)
    process.start()
    theirs.close()  # or the end of a child that says nothing is not seen
    with killed(process):
        assert ours.poll(SECONDS), f"the child gave nothing in {SECONDS} s"
        return ours.recv()


def _send(pipe: "Connection[Any, Any]", work: Callable[[], Any]) -> None:
    end_after(SECONDS)
    try:
        pipe.send(work())
    except BaseException as error:
        pipe.send(repr(error))
