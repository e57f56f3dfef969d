"""`medlink import scispacy-kb`: from scispaCy's file to linked text."""

import json
from pathlib import Path

import pytest

from spacy_medlink.kb import KnowledgeBase
from tests.kb import samples


@pytest.mark.parametrize("name", ["concepts.json", "concepts.jsonl"])
def test_from_file_to_links(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    concepts = json.loads(samples.SCISPACY)
    lines = "\n".join(map(json.dumps, concepts))
    Path(name).write_text(samples.SCISPACY if name.endswith("json") else lines)
    result = run("import", "scispacy-kb", name)
    assert "concepts.kb" in result.stdout
    kb = KnowledgeBase("concepts.kb")
    for concept in concepts:
        entity = kb.cui_to_entity[concept["concept_id"]]
        assert {**concept, "aliases": sorted(concept["aliases"])} == {
            **entity._asdict(),
            "aliases": sorted(entity.aliases),
        }
    run("build", "concepts.kb", "--output", "my.assets")
    links = json.loads(run("link", "my.assets", "He has NIDDM.", "--json").stdout)
    assert [id for link in links for id in link["ids"]] == ["C0011860"]


def test_bad_files(run, fail, tmp_path):
    path = tmp_path / "kb.json"
    fail("E107", "import", "scispacy-kb", path)
    path.write_text('[{"concept_id": "A", "canonical_name": "a"}, {}]')
    fail("E105", "import", "scispacy-kb", path, "--output", tmp_path / "x.kb")
    assert not (tmp_path / "x.kb").exists()
    skipping = ("--from", "scispacy", "--output", tmp_path / "x.kb", "--skip-bad-lines")
    assert "line 1" in run("kb", "build", path, *skipping).stderr
