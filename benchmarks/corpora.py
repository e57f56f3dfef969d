"""The corpora of the data directory (MEDLINK_DATA) that benchmarks measure on."""

import gzip
import json
from pathlib import Path

from benchmarks.measured import DATA

CORPORA = {"ncbi_disease": "the NCBI disease corpus", "bc5cdr": "BC5CDR (diseases)"}


def diseases(corpus: str, part: str, workplace: Path) -> Path:
    """Write the mentions of a part of a corpus, without chemicals: MEDIC has only diseases."""
    with gzip.open(DATA / f"{corpus}.{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    path = workplace / f"{corpus}.{part}.jsonl"
    for document in documents:
        document["mentions"] = [
            mention for mention in document["mentions"] if mention["type"] != "Chemical"
        ]
    path.write_text(
        "".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8"
    )
    return path
