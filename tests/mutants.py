"""One harness for what is damaged: how it gets so, and what may come of reading it.

Texts are damaged as files really get damaged, by `mutate`: cut off, glued, re-encoded, edited by
hand. Any file is damaged by one of `DAMAGES`, an array by one of `ARRAYS`, a database by SQL. What
reads it answers as before, or refuses with one of the codes that fit: `told` and `refused` judge
that, and `in_child`, where native code could end the process, too.
"""

import os
import random
import resource
import sqlite3
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from tests.children import end_after, status_of

T = TypeVar("T")

# What gets into files: other line ends, marks of encodings, separators where none belongs, escapes
# of half characters, what looks empty, and what only looks like something else.
SHARDS = [
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b"\xc3", b"\x85", b"\xc2\xa0", b"\xe2\x80\x8b",
    b"\xe2\x80\xa8", b"\x1b", b"\x0b", b"\x0c", "😀".encode(), b"\r\n", b"\r", b"\n", b"\n\n",
    b"\t", b"\t\t", b"|",
    b"||", b'"', b'""', b"'", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]",
    b",", b";", b":", b"!", b" ! ", b"#", b"+", b"null", b"true", b"NaN", b"-1", b"1" * 5000,
    b"1e999", b" " * 300, b"[Term]\n", b"\n[Term]\n", b"[Foo]\n", b"id:", b"is_a: HP:0000819\n",
    b"name: \n", b'synonym: "" EXACT []\n',
]  # fmt: skip


def mutate(data: bytes, rng: random.Random, shards: Sequence[bytes] = ()) -> bytes:
    """Damage a file in one to four ways.

    shards (Sequence[bytes]): what gets into files of this format, besides.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if rng.random() < 0.25:
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice((*SHARDS, *shards)) + data[at:]
        else:
            data = rng.choice(MUTATIONS)(rng, data)
    return data


def rounds(few: int, many: int) -> pytest.MarkDecorator:
    """Run a test with so many mutants, and a slow one with many, or `MEDLINK_FUZZ` of them."""
    many = int(os.environ.get("MEDLINK_FUZZ", many))
    slow = pytest.param(many, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])
    return pytest.mark.parametrize("rounds", [few, slow])


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _slice(rng: random.Random, data: bytes) -> bytes:
    """Take a slice out, or repeat it."""
    start = rng.randrange(len(data) + 1)
    end = start + rng.choice((1, 2, 5, 20, 40, 500))
    return data[:start] + data[start:end] * rng.choice((0, 0, 2)) + data[end:]


def _other_byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(5)
    if what == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif what == 1:
        lines.insert(one, lines[other])
    elif what == 2:
        del lines[one]
    elif what == 3:
        rng.shuffle(lines)
    else:
        lines[one] = lines[one].rstrip(b"\r\n") + lines[other]
    return b"".join(lines)


def _cells(rng: random.Random, data: bytes) -> bytes:
    """Empty, double or remove one cell."""
    separator = rng.choice((b"\t", b"||", b"|", b";", b",", b'"'))
    cells = data.split(separator)
    at = rng.randrange(len(cells))
    cells[at : at + 1] = rng.choice(([], [b""], [b" "], [cells[at], cells[at]]))
    return separator.join(cells)


def _crlf(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


MUTATIONS = [
    _cut, _slice, _slice, _other_byte, _lines, _lines, _cells, _cells, _crlf,
]  # fmt: skip


# Any file, and arrays of other types, shapes and values


def flipped(data: bytes, luck: random.Random, bits: int, end: int) -> bytes:
    changed = bytearray(data)
    for _ in range(bits if data else 0):
        changed[luck.randrange(min(end, len(data)))] ^= 1 << luck.randrange(8)
    return bytes(changed)


def _turned(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 0xFF
    return bytes(changed)


def _page_of_noise(data: bytes, luck: random.Random) -> bytes:
    start = 4096 * luck.randrange(1, len(data) // 4096)
    return data[:start] + luck.randbytes(4096) + data[start + 4096 :]


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes | None]] = {
    "gone": lambda data, _: None,
    "empty": lambda data, _: b"",
    "half": lambda data, _: data[: len(data) // 2],
    "cut": lambda data, _: data[:100],
    "cut at its end": lambda data, _: data[:-8],
    "a byte less": lambda data, _: data[:-1],
    "a byte more": lambda data, _: data + b"x",
    "zeros": lambda data, _: bytes(len(data)),
    "ones": lambda data, _: b"\xff" * len(data),
    "noise": lambda data, luck: luck.randbytes(len(data)),
    "longer": lambda data, luck: data + luck.randbytes(999),
    "flipped anywhere": lambda data, luck: flipped(data, luck, 20, len(data)),
    "flipped in front": lambda data, luck: flipped(data, luck, 3, 160),
    "a byte of its middle": lambda data, _: _turned(data, len(data) // 2),
    "a byte of its end": lambda data, _: _turned(data, -9),
    "a page of noise": _page_of_noise,
    "garbage": lambda data, _: b"\xff\xfe{",
    "long garbage": lambda data, _: b"x" * 5000,
    "of its size": lambda data, _: b"x" * len(data),
    "an object": lambda data, _: b"{}",
    "a list": lambda data, _: b"[]",
}


def _extreme(array: Any, largest: bool) -> Any:
    if array.dtype.kind == "f":
        return np.full_like(array, np.inf if largest else -np.inf)
    info = np.iinfo(array.dtype)
    return np.full_like(array, info.max if largest else info.min)


def _with_one(array: Any, value: Any) -> Any:
    array = array.copy()
    array[len(array) // 2] = value
    return array


def _huge(array: Any) -> Any:
    array = _with_one(array, 2**31 - 1)
    if array.dtype == np.float32:
        array[0] = np.inf
    return array


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "largest": lambda array: _extreme(array, True),
    "smallest": lambda array: _extreme(array, False),
    "nan": lambda array: np.full(array.shape, np.nan, np.float32),
    "reversed": lambda array: array[::-1],
    "shuffled": lambda array: np.random.default_rng(1).permutation(array),
    "double": lambda array: array.astype(np.float64),
    "two dimensions": lambda array: array.reshape(1, -1),
    "scalar": lambda array: np.asarray(array[0]),
    "short": lambda array: array[: len(array) // 3],
    "one less": lambda array: array[:-1],
    "long": lambda array: np.concatenate([array] * 3),
    "one too large": lambda array: _with_one(
        array, np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max
    ),
    "one negative": lambda array: _with_one(array, -1),
    "one huge": _huge,
    "strings": lambda array: array.astype("U20"),
    "bool": lambda array: array.astype(bool),
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "objects": lambda array: np.array([os.system, 1], dtype=object),
}

How = str | bytes | np.ndarray  # the name of a damage, or what stands in the file instead


def damage(path: Path, how: How, luck: random.Random | None = None) -> None:
    """Damage a file in place; what it is a hard link to stays as it is."""
    data = path.read_bytes()
    array = ARRAYS[how](np.load(path)) if isinstance(how, str) and how in ARRAYS else how
    path.unlink()
    if isinstance(array, np.ndarray):
        np.save(path, array, allow_pickle=True)
        return
    content = DAMAGES[array](data, luck or random.Random(1)) if isinstance(array, str) else array
    if content is not None:
        path.write_bytes(content)


def damages(*rows: tuple[str, Iterable[How]]) -> pytest.MarkDecorator:
    """Run a test for each file of each row, named in one text, with each damage of the row."""
    cases = [(file, how) for files, ways in rows for file in files.split() for how in ways]
    return pytest.mark.parametrize(("file", "how"), cases)


def alter(path: Path, *statements: str, source: Path | None = None) -> Path:
    """Change a database by SQL, or a copy of another file. RETURNS: its path."""
    if source is not None:
        path.unlink(missing_ok=True)
        path.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


# What may come of it


def told(
    read: Callable[[], T], codes: Collection[str], said: str = ""
) -> tuple[T, None] | tuple[None, MedlinkError]:
    """Read what may be damaged: what comes, or the error, of one of these codes, with a text."""
    try:
        return read(), None
    except MedlinkError as error:
        assert error.code in codes, error
        assert said in error.message, error
        return None, error


def refused(
    path: Path, how: How, read: Callable[..., Any], *given: Any, match: str = "E202", **named: Any
) -> None:
    """Damage a file, and see that reading, given the rest, refuses it; then put the file back."""
    data = path.read_bytes()
    damage(path, how)
    with pytest.raises(MedlinkError, match=match):
        read(*given, **named)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


SECONDS = 60
MEMORY = 8 << 30  # bytes


def in_child(work: Callable[[], str]) -> str:
    """Do something in a child process, which may not come back.

    RETURNS: what it says, a code, "uncoded" with the error, or "signal" with its number.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os._exit(_report(work, writing))
        finally:
            os._exit(2)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read().decode()  # to its end at the latest: it has an alarm
    status = status_of(pid)
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


def _report(work: Callable[[], str], writing: int) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end_after(4 * SECONDS)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = work()
    except MedlinkError as error:
        said = error.code
    except BaseException as error:
        said = f"uncoded {type(error).__name__}: {error}"[:300]
    os.write(writing, said.encode())
    return 0
