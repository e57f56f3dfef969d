"""The diseases of a corpus in the data directory, for benchmarks against MEDIC."""

import gzip
import json
import os
from pathlib import Path

DATA = Path(os.environ.get("MEDLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
CORPORA = {"ncbi_disease": "the NCBI disease corpus", "bc5cdr": "BC5CDR (diseases)"}


def diseases(corpus: str, part: str, workplace: Path) -> Path:
    """Write the disease mentions of a part of a corpus: MEDIC has only diseases."""
    with gzip.open(DATA / f"{corpus}.{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    path = workplace / f"{corpus}.{part}.jsonl"
    for document in documents:
        document["mentions"] = [own for own in document["mentions"] if own["type"] != "Chemical"]
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path
