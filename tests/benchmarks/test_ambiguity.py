"""The benchmark of rules for names that several concepts share."""

import json
from pathlib import Path

from benchmarks.ambiguity import measure
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name


def test_each_rule_is_right_where_it_should_be(tmp_path: Path) -> None:
    records = [
        Concept("C1", "Cold", (Name("Cold"), Name("chill"))),
        Concept("C2", "Common cold", (Name("Common cold"), Name("chill"), Name("catarrh"))),
        Concept("C3", "Fever", (Name("Fever"), Name("catarrh"))),
    ]
    build_kb(tmp_path / "kb", records)
    mentions = [("chill", "C2"), ("chills", "C2"), ("catarrh", "C3"), ("cold", "C1")]
    lines = [json.dumps({"mention": text, "ids": [id]}) for text, id in mentions]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert measure(KnowledgeBase(tmp_path / "kb"), tmp_path / "gold.jsonl") == {
        "ambiguous": 3, "the first id": 0, "the most names, then the first id": 2,
    }  # fmt: skip
