"""Corpora as their publishers pack them, and what comes out: the files of `samples`.

A sample begins with "@@ what it shows". Files follow, each after "-- name --", or
"-- name (how it is packed) --", then runs: "== corpus splits in part, strict" and below it the
lines that are written and the report, or the beginning of an error.
"""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.training.corpora.workbook import write_workbook

_MARK = re.compile(r"^(?:-- (.+?)(?: \(([a-z, 0-9-]+)\))? --|== (.+))\n", re.MULTILINE)
_RUN = re.compile(r"([^\s,]+)((?: (?!in )[^\s,]+)*)(?: in ([^\s,]+))?(, strict)?")


class Run(NamedTuple):
    """A conversion; `said` is what comes out, with "source" for the place of the files."""

    corpus: str
    splits: tuple[str, ...]
    part: str
    is_strict: bool
    said: str


class Sample(NamedTuple):
    """Files of a corpus by name, as bytes, and the runs over them."""

    shows: str
    files: dict[str, bytes]
    runs: list[Run]


def _workbook(data: bytes) -> bytes:
    """Make a workbook of "[sheet]" lines and cells between tabs."""
    sheets: dict[str, list[list[str | float]]] = {}
    for line in data.decode().splitlines():
        if line.startswith("["):
            sheets[line[1:-1]] = []
        else:
            cells = (
                float(one) if re.fullmatch(r"[\d.]+", one) else one for one in line.split("\t")
            )
            sheets[[*sheets][-1]].append([*cells])
    with TemporaryDirectory() as folder:
        write_workbook(Path(folder) / "book.xlsx", sheets)
        return (Path(folder) / "book.xlsx").read_bytes()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "no line end": lambda data: data.removesuffix(b"\n"),
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "latin-1": lambda data: data.decode().encode("latin-1"),
    "gzip": gzip.compress,
    "half": lambda data: data[: len(data) // 2],
    "workbook": _workbook,
}


def _sample(text: str) -> Sample:
    shows, _, rest = text.partition("\n")
    sample = Sample(shows, {}, [])
    _, *parts = _MARK.split(rest)
    for name, packed, run, content in zip(*(parts[place::4] for place in range(4)), strict=True):
        if run:
            corpus, splits, part, strict = _RUN.fullmatch(run).groups()
            own = Run(corpus, tuple(splits.split()), part or "", bool(strict), content.rstrip("\n"))
            sample.runs.append(own)
            continue
        data = content.encode()
        for how in (packed or "").split(", ") if packed else ():
            data = PACKED[how](data)
        sample.files[name] = data
    return sample


def write_files(folder: Path, files: dict[str, bytes] | dict[str, str]) -> Path:
    """Write the files of a sample."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


SAMPLES = [
    _sample(text)
    for path in sorted(Path(__file__).with_name("samples").glob("*.txt"))
    for text in re.split(r"^@@ ", path.read_text(encoding="utf8"), flags=re.MULTILINE)[1:]
]
# The first run of each sample without a fault.
SOUND = [
    (sample, run)
    for sample in SAMPLES
    if (run := sample.runs[0]).is_strict and not run.said.startswith("[E")
]


def files_of(corpus: str, shows: str = "") -> dict[str, bytes]:
    """Get the files of the first sample of a corpus that shows something."""
    return next(one.files for one, run in SOUND if run.corpus == corpus and shows in one.shows)
