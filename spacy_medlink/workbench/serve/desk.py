"""Desk: the requests that wait for one terminology, and the processes that answer them."""

import asyncio
import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from heapq import heapify, heappop, heappush
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Request

from ...components.pipelines import STARTER
from ...components.sources import open_assets
from ...errors import Errors, MedlinkError
from ...types import Data
from ...util.file_thread import FileThread
from .correction_file import CorrectionFile
from .process import LinkProcess
from .terminology import Opening

_TOGETHER = 20_000  # characters of texts that are linked at once; a longer text is a long one
_SPEED = 2_000  # characters for which a request waits a second longer than a short one
_MOST_WAITING = 32_000_000  # characters


class Limits(NamedTuple):
    """The limits of requests.

    length (int): characters of a text. texts (int): texts of a request. seconds (float): time for
        a request. receiving (float): seconds in which a request must have come, and its answer
        must have been taken.
    """

    length: int = 100_000
    texts: int = 64
    seconds: float = 60.0
    receiving: float = 60.0


LIMITS = Limits()


class _Job(NamedTuple):
    """What is asked of a terminology. size (int): characters of its texts."""

    done: "Future[Any]"
    method: str
    args: tuple[Any, ...]
    size: int


class _Queue:
    """The requests that wait for a process, and the thread that hands it one after another.

    A request is due when it came, and the later the more text it has. So a short note does not wait
    behind a hundred long ones, and none waits for ever.
    """

    def __init__(self, process: LinkProcess, seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._jobs: list[tuple[float, int, _Job]] = []  # a heap
        self._change = threading.Condition()  # of the jobs, or the end
        self._count, self._is_closed = itertools.count(), False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, due: float, job: _Job) -> None:
        """Let a request wait until it is due."""
        with self._change:
            heappush(self._jobs, (due, next(self._count), job))
            self._change.notify()

    def sizes(self) -> list[int]:
        """List the sizes of the jobs that wait, and forget those that nobody waits for any more."""
        with self._change:
            self._jobs = [entry for entry in self._jobs if not entry[-1].done.cancelled()]
            heapify(self._jobs)
            return [job.size for *_, job in self._jobs]

    def close(self) -> None:
        """Stop; what waits or is under way is not answered."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        self._process.close()
        self._thread.join()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            if job.done.set_running_or_notify_cancel():
                self._answer(job)
        for *_, job in self._jobs:
            job.done.cancel()

    def _next(self) -> _Job | None:
        """Wait for the job that is due first; None at the end."""
        with self._change:
            self._change.wait_for(lambda: self._jobs or self._is_closed)
            return None if self._is_closed else heappop(self._jobs)[-1]

    def _answer(self, job: _Job) -> None:
        try:
            job.done.set_result(self._process.ask(job.method, job.args, self._seconds))
        except Exception as error:  # the thread must live on, and the caller must know
            job.done.set_exception(error)
            if not self._is_closed:
                self._process.start_again()


class Desk:
    """A terminology: its process, and one for long texts, which starts with the first of them.

    name (str): of the terminology. source (str): assets, a pipeline, a package or "starter".
    waiting (int): most requests that may wait; further ones are refused (E622).
    corrections (Optional[CorrectionFile]): corrections, which apply as soon as they are made.
    notes (Sequence[str]): texts whose links are to be reviewed.
    seconds (float): after so many, the process is ended with what it works on.
    RAISES (MedlinkError): what `open_pipeline` raises, E652 for a pipeline with another overlay.
    """

    def __init__(
        self, name: str, source: str, lang: str = "en", device: str = "auto", waiting: int = 256,
        corrections: CorrectionFile | None = None, notes: Sequence[str] = (),
        seconds: float = LIMITS.seconds,
    ) -> None:  # fmt: skip
        self.name, self.notes, self.corrections = name, notes, corrections
        self._waiting, self._lock = waiting, threading.Lock()
        if source == STARTER and not Path(source).exists():
            self._starter = open_assets(None)  # its files stay when the process ends
            source = str(self._starter.path)
        overlay = "" if corrections is None else str(corrections.path)
        opening = Opening(source, lang, device, overlay)
        process = LinkProcess(opening)
        self._facts = process.start()
        self.paths = [*self._facts.pop("paths"), *filter(None, [overlay])]
        self._short, self._long = _Queue(process, seconds), _Queue(LinkProcess(opening), seconds)
        self.file_thread = FileThread()

    @property
    def facts(self) -> Data:
        """The description of the terminology: names and numbers."""
        corrected = {"corrections": self.corrections is not None, "notes": len(self.notes)}
        return {"name": self.name, **self._facts, **corrected}

    def ask(self, method: str, *args: Any, size: int = 0) -> "Future[Any]":
        """Ask a method of `Terminology`. size (int): characters of its texts.

        RETURNS (Future): of what the method returns. RAISES (MedlinkError): E622 where too many
            wait, or too much text.
        """
        return self._put([_Job(Future(), method, args, size)])[0]

    def ask_of_texts(self, method: str, texts: Sequence[str], *args: Any) -> "list[Future[Any]]":
        """Ask a method of `Terminology` that takes texts, some texts at a time; as `ask`.

        RETURNS (List[Future]): of lists with an answer for each text.
        """
        jobs = [
            _Job(Future(), method, (piece, *args), sum(map(len, piece))) for piece in _pieces(texts)
        ]
        return self._put(jobs)

    def close(self) -> None:
        """Stop; what waits or is under way is not answered."""
        self.file_thread.close()
        self._short.close()
        self._long.close()

    def _put(self, jobs: list[_Job]) -> "list[Future[Any]]":
        size = sum(job.size for job in jobs)
        with self._lock:
            sizes = self._short.sizes() + self._long.sizes()
            is_full = len(sizes) + len(jobs) > max(self._waiting, len(jobs))
            if is_full or (sizes and sum(sizes) + size > _MOST_WAITING):
                raise Errors.busy(count=len(sizes))
            due = monotonic()
            for job in jobs:
                due += job.size / _SPEED
                (self._long if job.size > _TOGETHER else self._short).put(due, job)
        return [job.done for job in jobs]


class Desks:
    """The desks of a service by name, and what a request needs, whose time begins now.

    RAISES (MedlinkError): E108 for an unknown name, E624 for too much text, E626 for no answer in
        time.
    """

    def __init__(self, desks: Sequence[Desk], limits: Limits) -> None:
        self.every, self.limits = list(desks), limits
        self._by_name = {desk.name: desk for desk in desks}
        self.begin()

    def begin(self) -> None:
        """Let the time of a request, or of a part of one, begin now."""
        self._end = monotonic() + self.limits.seconds

    def named(self, name: str) -> Desk:
        """Get the desk of a terminology; of "" the first."""
        if name and name not in self._by_name:
            names = ", ".join(self._by_name)
            raise Errors.unknown_choice(what="terminology", value=name, known=names)
        return self._by_name[name] if name else self.every[0]

    def check(self, *texts: str) -> None:
        """Refuse texts that are too many or too long."""
        limits = self.limits
        if len(texts) > limits.texts or any(len(text) > limits.length for text in texts):
            raise self.too_much()

    def too_much(self) -> MedlinkError:
        """Make the error of too much text (E624)."""
        return Errors.too_much_text(texts=self.limits.texts, length=self.limits.length)

    async def ask(self, desk: Desk, method: str, *args: Any, size: int = 0) -> Any:
        """Ask a method of `Terminology`, as `Desk.ask`, and wait for the answer."""
        return (await self.wait(desk.ask(method, *args, size=size)))[0]

    async def wait(self, *futures: "Future[Any]") -> list[Any]:
        """Wait for what was asked; what still waits is taken back when the time is over."""
        tasks = [asyncio.wrap_future(future) for future in futures]
        try:
            async with asyncio.timeout(self._end - monotonic()):
                return list(await asyncio.gather(*tasks))
        except TimeoutError:
            raise Errors.too_slow(seconds=self.limits.seconds) from None
        finally:
            for future in futures:
                future.cancel()

    def without_paths(self, error: MedlinkError) -> str:
        """Get the message of an error without paths of this machine."""
        message = str(error)
        for desk in self.every:
            for path in desk.paths:
                message = message.replace(path, desk.name)
        return message


async def _desks(request: Request) -> Desks:
    served: Desks = request.app.state.desks
    return Desks(served.every, served.limits)


AllDesks = Annotated[Desks, Depends(_desks)]


async def _asked(desks: AllDesks, terminology: str = "") -> Desk:
    return desks.named(terminology)


AskedDesk = Annotated[Desk, Depends(_asked)]
"""The desk of the terminology that the query of a request names, or of the first one."""


def _pieces(texts: Sequence[str]) -> Iterator[list[str]]:
    """Put texts together that are linked at once; a long one stands alone."""
    piece: list[str] = []
    for text in texts:
        if piece and sum(map(len, piece)) + len(text) > _TOGETHER:
            yield piece
            piece = []
        piece.append(text)
    yield piece
