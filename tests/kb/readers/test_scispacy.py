"""scispaCy's knowledge bases, as a JSON list and as JSON Lines."""

import gzip
import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.types import BadLine, Concept, Name
from tests.kb import samples

CONCEPTS = json.loads(samples.SCISPACY)


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    lines = "".join(json.dumps(concept) + "\n" for concept in CONCEPTS)
    (tmp_path / "kb.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "kb.json").write_text(samples.SCISPACY, encoding="utf-8")
    (tmp_path / "kb.json.gz").write_bytes(gzip.compress(json.dumps(CONCEPTS).encode()))
    first, *others = (list(read("scispacy", path)) for path in sorted(tmp_path.iterdir()))
    assert all(other == first for other in others)
    assert first[0] == Concept(
        id="C0011860",
        name="Diabetes Mellitus, Non-Insulin-Dependent",
        names=(Name("Type 2 diabetes"), Name("NIDDM")),
        types=("T047",),
        definition="A subclass of diabetes.",
    )
    assert [concept.id for concept in first] == [concept["concept_id"] for concept in CONCEPTS]


def test_bad_concepts(tmp_path: Path) -> None:
    path = tmp_path / "kb.json"
    path.write_text('[\n{"concept_id": "A", "canonical_name": "a"},\n{"no": 1}, 5]')
    with pytest.raises(MedlinkError, match=r"E105.*line 3"):
        list(read("scispacy", path))
    bad: list[BadLine] = []
    assert len(list(read("scispacy", path, bad))) == 1
    assert [line.line for line in bad] == [3, 3]
    path.write_text('[{"concept_id": "A", "canonical_name": "a"}')
    with pytest.raises(MedlinkError, match="E105"):
        list(read("scispacy", path, bad))
