"""A file of a format, written and read in one step: what the tests of readers share."""

import gzip
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import get_reader
from spacy_medlink.types import BadLine, Concept, Record


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, packed where its name ends with `.gz`."""
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


class FormatFile:
    """A file of a terminology format.

    format (str): one of `formats()`. path (Path): where each content is written.
    """

    def __init__(self, format: str, path: Path) -> None:
        self.read, self.path = get_reader(format), path

    def records(self, content: str | bytes, **options: object) -> list[Record]:
        """Write the file and read it; the first bad line is an error."""
        return list(self.read(write(self.path, content), None, **options))

    def concepts(self, content: str | bytes, **options: object) -> list[Concept]:
        """Read the file, and leave out retired ids."""
        records = self.records(content, **options)
        return [record for record in records if isinstance(record, Concept)]

    def concept(self, content: str | bytes, **options: object) -> Concept:
        """Read a file of one record, which is a concept."""
        (record,) = self.records(content, **options)
        assert isinstance(record, Concept)
        return record

    def bad(
        self, content: str | bytes, **options: object
    ) -> tuple[list[Record], list[tuple[int, str]]]:
        """Read a file with bad lines: the first is an error, or all are collected.

        RETURNS: the records that are left, and line and problem of each bad line.
        """
        with pytest.raises(MedlinkError, match="E105") as first:
            self.records(content, **options)
        bad: list[BadLine] = []
        records = list(self.read(self.path, bad, **options))
        assert f"{self.path}, line {bad[0].line}: " in first.value.message
        return records, [(line.line, line.problem) for line in bad]
