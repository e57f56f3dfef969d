"""Real documents, put into the shape of a published format and read back: nothing may change."""

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.training.corpora.samples import Run, write_files
from tests.training.corpora.test_samples import converted

MOST = 60  # documents of each corpus


def _gold(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in islice(file, MOST)]


def _pubtator(document: dict[str, Any]) -> str:
    title, _, abstract = document["text"].partition(" ")
    id = document["doc_id"]
    lines = [f"{id}|t|{title}", f"{id}|a|{abstract}"]
    for mention in document["mentions"]:
        cells = (id, mention["start"], mention["end"], mention["mention"], mention["type"])
        lines.append("\t".join(map(str, (*cells, "|".join(mention["ids"]) or "-1"))))
    return "\n".join(lines) + "\n\n"


def _brat(document: dict[str, Any]) -> str:
    """Write as brat does: a mention over the end of a line is in pieces."""
    lines = []
    for number, mention in enumerate(document["mentions"], 1):
        place, pieces = mention["start"], []
        for piece in mention["mention"].split("\n"):
            pieces.append(f"{place} {place + len(piece)}")
            place += len(piece) + 1
        said = mention["mention"].replace("\n", " ")
        lines.append(f"T{number}\t{mention['type']} {';'.join(pieces)}\t{said}")
        lines.append(f"#{number}\tAnnotatorNotes T{number}\t{'|'.join(mention['ids'])}")
    return "\n".join(lines) + "\n"


def _plain(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = ("start", "end", "mention", "ids", "type")
    return sorted(
        (
            {
                "doc_id": document["doc_id"],
                "lang": document["lang"],
                "text": document["text"],
                "mentions": [
                    {key: mention[key] for key in keys} for mention in document["mentions"]
                ],
            }
            for document in documents
        ),
        key=lambda document: document["doc_id"],
    )


def _read_back(folder, corpus, files):
    write_files(folder / "source", files)
    return [*map(json.loads, converted(folder, Run(corpus, ("dev",), "", True, ""))[0])]


@pytest.mark.parametrize(
    ("name", "data", "file"),
    [
        ("ncbi-disease", "ncbi_disease.dev.jsonl.gz", "NCBIdevelopset_corpus.txt"),
        ("bc5cdr", "bc5cdr.dev.jsonl.gz", "CDR_DevelopmentSet.PubTator.txt"),
    ],
)
def test_abstracts(tmp_path, data_dir, name, data, file):
    documents = _gold(data_dir / data)
    found = _read_back(tmp_path, name, {file: "".join(map(_pubtator, documents))})
    assert _plain(found) == _plain(documents)


def test_spanish_cases(tmp_path, data_dir):
    documents = _gold(data_dir / "cantemist.dev.jsonl.gz")
    files: dict[str, str] = {}
    for document in documents:
        place = f"dev-set1/cantemist-norm/{document['doc_id']}"
        files |= {f"{place}.txt": document["text"], f"{place}.ann": _brat(document)}
    assert _plain(_read_back(tmp_path, "cantemist", files)) == _plain(documents)
