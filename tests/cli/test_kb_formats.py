"""From files of a format to links: `medlink kb build`, `build`, `link`."""

from spacy_medlink.kb import KnowledgeBase
from tests.kb.samples import FHIR_TEXT, write_omop


def test_omop(run, tmp_path):
    source = write_omop(tmp_path / "omop")
    run("kb", "build", source, "--from", "omop", "--output", tmp_path / "x.kb")
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert (kb.manifest["version"], kb.manifest["format"]) == ("v5.0 01-JAN-26", "omop")
    assert kb.descendants("100") == {"101": 1}
    assert kb.resolve("200") == "100"
    run("build", kb.path, "--output", tmp_path / "assets")
    assert "Sweet disease" in run("link", tmp_path / "assets", "Sugar sickness").stdout
    assert "0 errors" in run("kb", "build", source, "--from", "omop", "--dry-run").stdout


def test_fhir(run, tmp_path):
    source = tmp_path / "sweet.json"
    source.write_text(FHIR_TEXT)
    run("kb", "build", source, "--from", "fhir", "--output", tmp_path / "x.kb")
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert (kb.manifest["version"], kb.manifest["format"]) == ("2026", "fhir")
    assert kb.descendants("D") == {"D1": 1, "D2": 2}
    run("build", kb.path, "--output", tmp_path / "assets")
    assert "Sweet foot" in run("link", tmp_path / "assets", "sweet foot").stdout
    assert "0 errors" in run("kb", "build", source, "--from", "fhir", "--dry-run").stdout


def test_what_a_table_does_not_say_is_asked_for(run, fail, tmp_path):
    table, codes, out = tmp_path / "x.csv", tmp_path / "codes.txt", tmp_path / "x.kb"
    table.write_text('id,name,synonyms\n1,Fever,"Pyrexia, Heat"\n')
    codes.write_text("E8000   Railway accident\nV1251   History of thrombosis\n")
    fail("E132", "kb", "build", table, "--from", "csv", "--output", out)
    said = ("--separator", ", ", "--vocabulary", "LOCAL", "--lang", "de-AT", "--languages", "ger")
    run("kb", "build", table, "--from", "csv", *said, "--output", out)
    names = [(name.text, name.source, name.lang) for name in KnowledgeBase(out)["1"].names]
    assert names == [(text, "LOCAL", "de") for text in ("Fever", "Pyrexia", "Heat")]
    fail("E132", "kb", "build", codes, "--from", "icd", "--output", out)
    run("kb", "build", codes, "--from", "icd", "--vocabulary", "ICD9CM", "--output", out)
    assert [concept.id for concept in KnowledgeBase(out)] == ["E800.0", "V12.51"]


def test_mapping_sets(run, tmp_path):
    source, maps = tmp_path / "x.jsonl", tmp_path / "x.sssom.tsv"
    source.write_text('{"concept_id": "HP:1", "canonical_name": "Sweet disease"}')
    maps.write_text(
        "#mapping_set_id: https://example.org/sweet\nsubject_id\tpredicate_id\tobject_id\n"
        "HP:1\tskos:broadMatch\tMESH:D1\nHP:2\tskos:exactMatch\tMESH:D2\n"
    )
    kb = tmp_path / "x.kb"
    built = run("kb", "build", source, "--from", "jsonl", "--maps", maps, "--output", kb)
    assert "mappings used   x.sssom.tsv 1 of 2" in built.stdout
    assert "broader" in run("kb", "show", kb, "HP:1").stdout
    run("build", kb, "--output", tmp_path / "assets")
    linked = run("link", tmp_path / "assets", "sweet disease", "--json").stdout
    assert '"D1"' in linked
