"""Tables of tests: files of tab-separated rows in `tables/`, beside the test that they are for.

The first line names the arguments. A column `NAME:json` holds JSON, `NAME:tuple` JSON whose lists
are tuples, `NAME:pairs` a list of tuples. All others hold texts, where `\\n`, `\\t`, `\\\\` and
`\\u200b` are as in Python. A line that begins with "## " says something of the rows below it.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest


def table(test_file: str, name: str) -> pytest.MarkDecorator:
    """Run a test once for each row of `tables/NAME.tsv`."""
    names, rows = rows_of_table(test_file, name)
    return pytest.mark.parametrize(
        ",".join(names), rows if len(names) > 1 else [row[0] for row in rows]
    )


def rows_of_table(test_file: str, name: str) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    """Read the names of the arguments and the rows of `tables/NAME.tsv`."""
    path = Path(test_file).parent / "tables" / f"{name}.tsv"
    header, *lines = (
        line.split("\t") for line in path.read_text("utf-8").split("\n") if line[:3] != "## "
    )
    names, kinds = zip(*(f"{column}:".split(":")[:2] for column in header), strict=True)
    rows = [tuple(map(_value, kinds, cells)) for cells in lines[:-1]]  # a line end ends the last
    assert all(len(row) == len(names) for row in rows), path
    return names, rows


def _value(kind: str, cell: str) -> Any:
    if kind:
        value = json.loads(cell)
        if kind == "pairs":
            return [_frozen(one) for one in value]
        return _frozen(value) if kind == "tuple" else value
    return re.sub(r"\\(n|t|\\|u[0-9a-f]{4})", _character, cell)


def _character(found: re.Match[str]) -> str:
    mark = found[1]
    return chr(int(mark[1:], 16)) if mark[0] == "u" else {"n": "\n", "t": "\t", "\\": "\\"}[mark]


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _frozen(one) for name, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
