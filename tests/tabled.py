"""Cases of a test in a table beside its file: `test_x.py` has them in `test_x.tsv`.

A part of the table begins with "@@ test_name", then the arguments; a case is a line, its cells are
parted by tabs. A cell is JSON where it looks so, else text; lists within a list are tuples. A line
that begins with "# " says something of the cases below it.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_JSON = re.compile(r'["\[{].*|true|false|null|-?\d+(\.\d+)?')


def _value(cell: str) -> Any:
    if not _JSON.fullmatch(cell):
        return cell
    value = json.loads(cell)
    if isinstance(value, list):
        return [tuple(one) if isinstance(one, list) else one for one in value]
    return value


@cache
def read_tables(path: Path) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """Read the arguments and the cases of each test of a table."""
    found = {}
    for part in re.split(r"^@@ ", path.read_text(encoding="utf8"), flags=re.MULTILINE)[1:]:
        head, *lines = filter(None, part.split("\n"))
        name, *arguments = head.split("\t")
        cells = [line.split("\t") for line in lines if not line.startswith("# ")]
        found[name] = arguments, [[*map(_value, own)] for own in cells]
    return found


def tabled(test: Callable[..., None]) -> Callable[..., None]:
    """Parametrise a test by the table beside its file."""
    tables = read_tables(Path(test.__code__.co_filename).with_suffix(".tsv"))
    arguments, cases = tables[test.__name__]
    if len(arguments) == 1:
        return pytest.mark.parametrize(arguments[0], [one for (one,) in cases])(test)
    return pytest.mark.parametrize(arguments, cases)(test)
