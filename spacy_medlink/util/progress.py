"""Progress of long work: a bar on a terminal, a line a minute in a log."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tqdm import tqdm

from ..types import Item

EVERY = 60.0  # seconds between two lines of a log


def no_progress(items: Iterable[Item], total: int | None, what: str) -> Iterable[Item]:
    """Show nothing: the default of functions, so that libraries stay silent."""
    return items


def show_progress(items: Iterable[Item], total: int | None, what: str) -> Iterable[Item]:
    """Show progress on standard error: the share done, the speed and the time left."""
    if not sys.stderr.isatty():
        return in_lines(items, total, what)
    bar: Iterable[Item] = tqdm(items, total=total, desc=what, leave=False, smoothing=0.1)
    return bar


class Log:
    """Writes a line every minute, the first one after a minute.

    clock (Callable): gives seconds. write (Optional[Callable]): takes a line; default: standard
        error.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        write: Callable[[str], object] | None = None,
    ) -> None:
        self._clock = clock
        self._write = write or partial(print, file=sys.stderr, flush=True)
        self._began = self._told = clock()

    def tell(self, text: Callable[[float], str]) -> None:
        """Write a line if it is time. text (Callable): seconds since the start to the line."""
        now = self._clock()
        if now - self._told >= EVERY:
            self._told = now
            self._write(text(now - self._began))


def in_lines(
    items: Iterable[Item], total: int | None, what: str, log: Log | None = None
) -> Iterator[Item]:
    """Pass items on, and write to a log how many have gone by."""
    log = log or Log()
    for count, item in enumerate(items, 1):
        yield item
        log.tell(partial(line, what, count, total))


def line(what: str, count: int, total: int | None, seconds: float) -> str:
    """Write a progress line: "encoding names: 120,000 of 400,000 (30 %), 950/s, 4:55 left"."""
    rate = count / max(seconds, 1e-9)
    parts = [f"{count:,} of {total:,} ({count / total:.0%})" if total else f"{count:,}"]
    parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{60 * rate:,.1f} a minute")
    if total:
        left = tqdm.format_interval(max(0, total - count) / max(rate, 1e-9))
        parts.append(f"{left} left")
    return f"{what}: {', '.join(parts)}"
