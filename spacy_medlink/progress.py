"""How far long work has come: a bar on a terminal, nothing in a log."""

import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm


def no_progress(items: Iterable[Any], total: int | None, what: str) -> Iterable[Any]:
    """Show nothing: the default of functions, so that libraries stay silent."""
    return items


def show_progress(items: Iterable[Any], total: int | None, what: str) -> Iterable[Any]:
    """Show a bar on standard error when it is a terminal."""
    bar: Iterable[Any] = tqdm(
        items, total=total, desc=what, disable=not sys.stderr.isatty(), leave=False, smoothing=0.1
    )
    return bar
