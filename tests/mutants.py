"""Damage files as files really get damaged: cut off, glued, re-encoded, edited by hand."""

import random
from collections.abc import Sequence

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
