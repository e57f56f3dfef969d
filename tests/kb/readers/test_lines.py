import gzip
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import lines
from spacy_medlink.kb.readers.lines import numbered_lines
from spacy_medlink.types import BadLine

PIECES = st.sampled_from(
    [b"a", "é".encode(), b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf"]
)


def _one_by_one(data: bytes) -> tuple[list[tuple[int, str]], list[int]]:
    """What the lines are, said as plainly as possible."""
    good, bad = [], []
    raw = data.split(b"\n")
    for number, line in enumerate(raw[:-1] if raw[-1] == b"" else raw, start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            assert b"\0" not in line
            good.append((number, line.decode().rstrip("\r")))
        except (AssertionError, UnicodeDecodeError):
            bad.append(number)
    return good, bad


@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(PIECES, max_size=40).map(b"".join), st.integers(1, 20), st.booleans())
def test_lines_in_blocks(tmp_path: Path, data: bytes, size: int, gz: bool) -> None:
    """However long the blocks are that are read at once, the lines are the same."""
    path = tmp_path / ("x.txt.gz" if gz else "x.txt")
    path.write_bytes(gzip.compress(data) if gz else data)
    bad: list[BadLine] = []
    with patch.object(lines, "_BLOCK", size):
        found = list(numbered_lines(path, bad))
    assert (found, [line.line for line in bad]) == _one_by_one(data)


def test_the_first_bad_line_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"good\nb\xffd\n\0\n")
    found = numbered_lines(path)
    assert next(found) == (1, "good")
    with pytest.raises(MedlinkError, match=r"E105.*x.txt, line 2: not UTF-8 at byte 1\."):
        next(found)


def test_a_file_that_may_not_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("x")
    path.chmod(0)
    try:
        path.open().close()
    except PermissionError:
        with pytest.raises(MedlinkError, match="E165"):
            list(numbered_lines(path))
    else:
        pytest.skip("this user may open everything")
