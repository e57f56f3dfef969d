"""Progress of long work: a bar on a terminal; in a log, lines that become rarer."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tqdm import tqdm

from ..types import Item

# Seconds until the first line of a log; it takes as long again until the next, up to a minute.
FIRST, MOST = 1.0, 60.0


def _write(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


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
    """Writes a line after one second, then whenever the time has doubled, or after a minute.

    clock (Callable): gives seconds. write (Callable): takes a line; default: standard error.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, write: Callable[[str], object] = _write
    ) -> None:
        self._clock, self._write = clock, write
        self._began, self._next = math.inf, clock() + FIRST

    def tell(self, text: Callable[[float], str]) -> None:
        """Write a line if it is time. text (Callable): seconds since the first call to the line."""
        now = self._clock()
        self._began = min(self._began, now)
        if now >= self._next:
            self._next = now + min(max(FIRST, now - self._began), MOST)
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
    """Write a progress line: "encoding names: 120,000 of 400,000 (30 %), 950/s, 4:55 left".

    seconds (float): since the first one; a line about that one alone has no rate.
    """
    rate = (count - 1) / max(seconds, 1e-9)
    parts = [f"{count:,} of {total:,} ({count / total:.0%})" if total else f"{count:,}"]
    if rate:
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{60 * rate:,.1f} a minute")
    if rate and total:
        left = tqdm.format_interval(max(0, total - count) / max(rate, 1e-9))
        parts.append(f"{left} left")
    return f"{what}: {', '.join(parts)}"
