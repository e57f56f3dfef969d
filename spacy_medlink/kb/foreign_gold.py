"""Annotated text in formats of corpora, which are converted before they are gold."""

import gzip
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_SHOWN, _FILES = 4096, 20  # bytes of a file that are looked at, and files of a directory


class Foreign(NamedTuple):
    """A format: how a file of it begins, and a corpus whose converter reads it."""

    begins: re.Pattern[str]
    corpus: str


FOREIGN = {
    "PubTator": Foreign(re.compile(r"\s*[^|\t\n{]+\|[ta]\|"), "ncbi-disease"),
    "BioC": Foreign(re.compile(r"\s*<(?s:.*)<collection\b|\s*<collection\b"), "bc5cdr"),
    "BioC in JSON": Foreign(re.compile(r'\s*[\[{](?s:.*?)"(?:passages|bioctype)"'), "bc5cdr"),
    "brat standoff": Foreign(re.compile(r"\s*(?:[TREAMN]\d+|\*|#\d+)\t\w+ "), "cantemist"),
}


def foreign_kind(path: Path) -> str:
    """Name the format of a file, or of the first known file in a directory; "" for none."""
    files = islice(sorted(path.glob("*")), _FILES) if path.is_dir() else [path]
    return next(filter(None, map(_kind, files)), "")


def _kind(path: Path) -> str:
    start = b""
    with (
        suppress(OSError, EOFError),
        (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file,
    ):
        start = file.read(_SHOWN)
    text = start.decode("utf-8-sig", "replace")
    return next((name for name, one in FOREIGN.items() if one.begins.match(text)), "")
