"""Tables in the form of their publishers; `excerpts.toml` has an excerpt of each."""

import csv
import gzip
import io
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.layouts import LAYOUTS
from spacy_medlink.types import Concept, Record, Retired

EXCERPTS = tomllib.loads(Path(__file__).with_name("excerpts.toml").read_text("utf-8"))["excerpt"]


def _cells(text: str) -> tuple[list[list[str]], str]:
    delimiter = max("\t,;|", key=text.partition("\n")[0].count)
    rows = (line.split("\t") for line in text.splitlines())
    if delimiter != "\t":
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    return list(rows), delimiter


def _reordered(text: str) -> str:
    """Turn the order of the columns round."""
    rows, delimiter = _cells(text)
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(row[::-1] for row in rows)
    return out.getvalue()


def _wider(text: str) -> str:
    _, delimiter = _cells(text)
    return "".join(f"{line}{delimiter}\n" for line in text.splitlines())


def _shorter(text: str) -> str:
    """Leave out the last empty cells of all rows but the first."""
    _, delimiter = _cells(text)
    first, *rest = text.splitlines()
    return "\n".join([first, *(line.rstrip(delimiter) for line in rest), ""])


WAYS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "BOM": lambda text: text.encode("utf-8-sig"),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "UTF-16": lambda text: text.encode("utf-16"),
    "Windows-1252": lambda text: text.encode("cp1252"),
    "other order": lambda text: _reordered(text).encode(),
    "empty cells more": lambda text: _wider(text).encode(),
    "empty cells less": lambda text: _shorter(text).encode(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("excerpt", EXCERPTS, ids=lambda excerpt: excerpt["file"])
def test_excerpts(tmp_path: Path, excerpt: dict[str, Any], way: str) -> None:
    if way == "other order" and excerpt.get("fixed"):
        pytest.skip("its columns have no names")
    path = tmp_path / excerpt["file"]
    path.write_bytes(WAYS[way](excerpt["text"].lstrip("\n")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\[W110\].*Windows-1252")
        records = list(read("csv", path))
    lines = excerpt["read"].split("\n")
    wanted = [" ".join(line.split()) for line in lines if line.strip()]
    assert _described(records) == wanted
    said = {
        record.id: [f"{one.relation} {one.id}" for one in record.relations]
        for record in records if isinstance(record, Concept)
    }  # fmt: skip
    for id, relations in excerpt.get("relations", {}).items():
        assert sorted(said[id]) == sorted(relations)


def _described(records: list[Record]) -> list[str]:
    """Describe the records, those of one id together, as `read` of an excerpt has them."""
    by_id: dict[str, list[Record]] = {}
    for record in records:
        by_id.setdefault(record.id, []).append(record)
    return [_line(id, together) for id, together in by_id.items()]


def _line(id: str, records: list[Record]) -> str:
    if isinstance(records[0], Retired):
        return f"{id} -> {records[0].replaced_by}".strip()
    concepts = [record for record in records if isinstance(record, Concept)]
    names = [name for concept in concepts for name in concept.names]
    codes = {name: values for concept in concepts for name, values in concept.codes.items()}
    parts = [
        "; ".join(dict.fromkeys(name.text for name in names)),
        " ".join(dict.fromkeys(name.lang for name in names)),
        " ".join(dict.fromkeys(value for concept in concepts for value in concept.types)),
        " ".join(f"{vocabulary}={','.join(values)}" for vocabulary, values in codes.items()),
        " ".join(dict.fromkeys(value for concept in concepts for value in concept.parents)),
    ]
    return " ".join(f"{id}: {' | '.join(parts)}".split())


def test_every_layout_has_an_excerpt() -> None:
    """Layouts that differ from another only in the name of a file or its language have none."""
    assert len(LAYOUTS) <= len(EXCERPTS) + 9
