import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.workbench.mapping.run import Mapped, map_terms

Map = Callable[..., Mapped]
# What begins a cell that some spreadsheet computes: Excel in Japanese takes full-width signs, too.
EXECUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@pytest.fixture
def linker(tiny_assets):
    return tiny_assets.engine(["exact", "ngram"])


@pytest.fixture
def mapped(linker, tmp_path):
    """Map a text, which is that of a CSV file, or a file; the output is tmp_path / "out.csv"."""

    def mapped(terms: str | Path, output: str = "out.csv", **settings: Any) -> Mapped:
        path = terms if isinstance(terms, Path) else tmp_path / "terms.csv"
        if isinstance(terms, str):
            path.write_text(terms, encoding="utf-8")
        return map_terms(path, linker, tmp_path / output, **settings)

    return mapped


def rows_of(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """Read the rows of a table that is written, by its header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
