"""Cases of readers: files of text that say what a reader must make of what.

A file starts with what stands before each of its texts. "=== " begins what several cases show,
"---" the next of them. A case is a text of the format, and in lines behind "=> " all that comes of
it: records as JSON (`name` only where it is not the first of `names`), "line 4: problem" for a bad
line, "warning: text", "error E161: text" where nothing can be read, and "release: 2026" where it
matters; "..." stands for any text. "@ " has the name of the file and options of the reader, of one
case or at the start of all.
Marks: "⇥" is a tab, "⟨U+200B⟩" that character, "⟨no line end⟩" at the end of a text.
"""

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import module_of, read, read_numbered
from spacy_medlink.types import BadLine, Record
from tests.golden import described
from tests.kb.reading import write

_NO_END = "⟨no line end⟩"


class Case(NamedTuple):
    """A text, the options of its reader with the `file` it stands in, and what comes of it."""

    format: str
    text: str
    options: dict[str, Any]
    expected: list[str]


def cases(directory: Path) -> list[Any]:
    """Read the cases of a directory; a file is called after its format, "icd.claml.txt" too."""
    files = sorted(directory.glob("*.txt"))
    return [param for file in files for param in _cases(file)]


def _cases(file: Path) -> Iterator[Any]:
    start, *sections = re.split(r"^=== ", file.read_text("utf-8"), flags=re.MULTILINE)
    format = file.name.split(".")[0]
    common, start = _options(start, {"file": f"x.{format}"})
    for section in sections:
        title, _, rest = section.partition("\n")
        for number, one in enumerate(re.split(r"^---\n", rest, flags=re.MULTILINE), 1):
            options, one = _options(one, common)
            text, _, expected = one.partition("=> ")
            lines = expected.rstrip("\n").split("\n=> ")
            case = Case(format, _unmarked(start + text), options, [*filter(None, lines)])
            yield pytest.param(case, id=f"{file.stem}: {title.strip()} {number}")


def _options(text: str, common: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Part the options at the start of a text from what is behind them."""
    if not text.startswith("@ "):
        return common, text
    said, _, rest = text.partition("\n")
    return common | json.loads(said[2:]), rest


def _unmarked(text: str) -> str:
    text = text.replace("⇥", "\t").replace(f"{_NO_END}\n", "")
    return re.sub(r"⟨U\+(\w+)⟩", lambda found: chr(int(found[1], 16)), text)


def check(case: Case, directory: Path) -> None:
    """Read the text of a case both ways: the first bad line is an error, or all are collected."""
    options = dict(case.options)
    path = write(directory / options.pop("file"), case.text)
    bad: list[BadLine] = []
    found = _outcome(case.format, path, bad, options)
    if any(line.startswith("release: ") for line in case.expected):
        found.append(f"release: {module_of(case.format).release_of(path)}")
    assert len(found) == len(case.expected), found
    for said, line in zip(found, case.expected, strict=True):
        if line.startswith("{"):
            assert json.loads(said) == json.loads(line)
        else:
            pattern = ".*".join(re.escape(part.strip()) for part in line.split("..."))
            assert re.match(pattern, said, re.DOTALL), f"{said} is not {line}"
    strictly = _outcome(case.format, path, None, options)
    if not bad:
        assert strictly == [line for line in found if not line.startswith("release: ")]
        return
    assert strictly[-1].startswith("error E105: ")
    assert f"{path.name}, line {bad[0].line}: {bad[0].problem}" in strictly[-1]


def _outcome(
    format: str, path: Path, bad: list[BadLine] | None, options: dict[str, Any]
) -> list[str]:
    """Describe all that comes of a file, as the lines of a case do."""
    records: list[Record] = []
    error = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            if options:
                records = [record for _, record in read_numbered(format, path, bad, **options)]
            else:
                records = list(read(format, path, bad))
        except MedlinkError as refused:
            error = [f"error {refused.code}: {refused.message.replace(str(path), path.name)}"]
    return [
        *map(described, records),
        *(f"line {one.line}: {one.problem}" for one in bad or ()),
        *(f"warning: {str(one.message).replace(str(path), path.name)}" for one in told),
        *error,
    ]
