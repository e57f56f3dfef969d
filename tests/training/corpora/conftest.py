"""Convert hand-made files of a corpus' shape, and hold what comes out against the gold reader."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spacy_medlink.kb.gold import read_gold
from training.corpora.convert import convert
from training.corpora.registry import find_corpus
from training.corpora.tally import Tally

Files = Mapping[str, str | bytes]


class Converted(NamedTuple):
    """What came out: the records, the counts, and the lines of the report."""

    records: list[dict[str, Any]]
    tally: Tally

    @property
    def mentions(self) -> list[dict[str, Any]]:
        return [mention for record in self.records for mention in record.get("mentions", [record])]

    def brief(self) -> list[tuple[Any, ...]]:
        """List (mention, ids) of all mentions."""
        return [(mention["mention"], mention["ids"]) for mention in self.mentions]


Convert = Callable[..., Converted]


def write_files(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.fixture
def converted(tmp_path: Path) -> Convert:
    """Convert files and check that every offset is exact and the gold reader takes all lines."""

    def run(
        name: str, files: Files, *splits: str, file: str = "", strict: bool = False
    ) -> Converted:
        source = write_files(tmp_path / "source", files) / file
        output, tally = tmp_path / "gold.jsonl", Tally(strict)
        convert(find_corpus(name), source, output, tally, splits, overwrite=True)
        lines = output.read_text(encoding="utf8").splitlines()
        records = [json.loads(line) for line in lines]
        gold = list(read_gold(output, strict=True))
        for record, document in zip(records, gold, strict=True):
            mentions = record.get("mentions", [record])
            assert len(mentions) == len(document.mentions)
            for mention in mentions:
                if "start" in mention and "text" in record:
                    there = record["text"][mention["start"] : mention["end"]]
                    assert there == mention["mention"]
        assert tally.documents == len(records)
        assert tally.mentions == sum(len(document.mentions) for document in gold)
        return Converted(records, tally)

    return run
