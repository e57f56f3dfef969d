"""What fuzzing and reading the format closely found."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.types import BadLine, Concept, Name, Record
from tests.kb import samples
from tests.tiny import kb_of


def _read(path: Path, *lines: Any) -> list[Record]:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf8")
    return list(read("jsonl", path))


# More digits than Python turns into a number, and more lists than it nests.
@pytest.mark.parametrize("line", ["1" * 5000, "[" * 100_000])
def test_lines_that_json_cannot_take(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"concept_id": "B", "canonical_name": "b"}\n' + line)
    with pytest.raises(MedlinkError, match=r"E105.*x.jsonl, line 2: "):
        list(read("jsonl", path))
    bad: list[BadLine] = []
    assert [record.id for record in read("jsonl", path, bad)] == ["B"]
    assert [bad_line.line for bad_line in bad] == [2]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
NAME = TEXT.filter(lambda text: bool(text.strip()))
ID = NAME.filter(lambda text: text.isprintable() and text == text.strip())
CONCEPT = st.fixed_dictionaries(
    {"concept_id": ID, "canonical_name": NAME},
    optional={
        "aliases": st.lists(NAME, max_size=3),
        "types": st.lists(TEXT, max_size=2),
        "definition": TEXT,
        "codes": st.dictionaries(TEXT, st.lists(TEXT, min_size=1, max_size=2), max_size=2),
        "parents": st.lists(ID, max_size=2),
    },
)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(lines=st.lists(CONCEPT, min_size=1, max_size=4, unique_by=lambda line: line["concept_id"]))
def test_what_is_written_is_read_and_built(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    records = _read(tmp_path / "x.jsonl", *lines)
    assert [record.id for record in records] == [line["concept_id"] for line in lines]
    kb = kb_of(tmp_path / "x.kb", records)
    for line in lines:
        concept = kb[line["concept_id"]]
        assert concept.name == " ".join(line["canonical_name"].split())
        assert {name.text for name in concept.names} == {
            " ".join(name.split()) for name in [line["canonical_name"], *line.get("aliases", [])]
        }
        assert concept.definition == line.get("definition", "")
        assert concept.types == tuple(line.get("types", []))
        assert dict(concept.codes) == {
            vocabulary: tuple(codes) for vocabulary, codes in line.get("codes", {}).items()
        }


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
