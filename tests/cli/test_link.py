"""`medlink link`: lines, JSON, pages, and every kind of source."""

import json
import re
import shutil

import pytest
import spacy

from spacy_medlink.annotate.formats import formats
from spacy_medlink.annotate.records import record_of_link
from spacy_medlink.components.extensions import SPAN_ATTRIBUTES
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.evaluation import load_gold

TEXT = "Heart attack in 2020, now Type 2 diabetes."


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory, tiny_assets):
    """A saved pipeline with both components."""
    nlp = spacy.blank("en")
    for name in ("medical_mentions", "medical_linker"):
        nlp.add_pipe(name, config={"assets": str(tiny_assets.path)})
    path = tmp_path_factory.mktemp("pipeline") / "pipeline"
    nlp.to_disk(path)
    return path


def _rows(stdout: str) -> list[list[str]]:
    return [re.split(r"  +", line.strip()) for line in stdout.splitlines()]


def test_one_line_a_mention(run, tiny_assets):
    stdout = run("link", tiny_assets.path, TEXT).stdout
    header, *rows = _rows(stdout)
    names = ["mention", "id", "CUI", "preferred name", "matched name", "score", "context"]
    assert header == names
    assert [row[6:] for row in rows] == [["historical"], []]
    assert [row[:5] for row in rows] == [
        ["Heart attack", "HP:0001658", "C0027051", "Myocardial infarction", "Heart attack"],
        ["Type 2 diabetes", "HP:0005978", "C0011860", "Type II diabetes mellitus",
         "Type 2 diabetes"],
    ]  # fmt: skip
    assert all(float(row[5]) > 0.9 for row in rows)
    starts = {line.index(row[1]) for line, row in zip(stdout.splitlines()[1:], rows, strict=True)}
    assert len(starts) == 1, "columns are aligned"


def test_no_column_for_context_where_nothing_is_said(run, tiny_assets):
    (header, _) = _rows(run("link", tiny_assets.path, "Now type 2 diabetes.").stdout)
    assert header[-1] == "score"


def test_json(run, tiny_assets):
    links = json.loads(run("link", tiny_assets.path, TEXT, "--json").stdout)
    assert [TEXT[link["start"] : link["end"]] for link in links] == [
        link["mention"] for link in links
    ]
    first = links[0]
    assert (first["ids"][0], first["cui"], first["matched"]) == (
        "HP:0001658", "C0027051", "Heart attack",
    )  # fmt: skip
    assert len(first["candidates"]) == 5
    assert first["codes"] == {"UMLS": ["C0027051"]}


def test_formats_of_other_tools(run, fail, tiny_assets, tmp_path):
    note = tmp_path / "note.txt"
    line = f"Now {'she ' * 12}has type 2"  # so long that it goes on in the next
    note.write_bytes(f"{line}\r\ndiabetes.".encode())
    collection = json.loads(run("link", tiny_assets.path, "--file", note, "--as", "bioc").stdout)
    (document,) = collection["documents"]
    (passage,) = document["passages"]
    assert (document["id"], passage["text"]) == ("note.txt", note.read_bytes().decode())
    assert passage["annotations"][0]["locations"] == [{"offset": 56, "length": 16}]
    stdout = run("link", tiny_assets.path, "--file", note, "--as", "brat").stdout
    assert stdout.startswith(
        "T1\tCONCEPT 56 62;64 72\ttype 2 diabetes\nN1\tReference T1 HP:0005978"
    )
    fail("E108", "link", tiny_assets.path, TEXT, "--as", "word")
    described = run("link", "--help").stdout
    assert all(name in described for name in formats())


def test_files_and_standard_input(run, tiny_assets, tmp_path):
    note = tmp_path / "note.txt"
    note.write_text(TEXT, encoding="utf-8-sig")
    expected = run("link", tiny_assets.path, TEXT, "--json").stdout
    assert run("link", tiny_assets.path, "--file", note, "--json").stdout == expected
    assert run("link", tiny_assets.path, "-", "--json", input=TEXT).stdout == expected


def test_a_saved_pipeline_and_its_package(run, pipeline, tmp_path):
    links = json.loads(run("link", pipeline, TEXT, "--json").stdout)
    assert [link["cui"] for link in links] == ["C0027051", "C0011860"]
    # A package keeps the pipeline one level further down.
    package = tmp_path / "en_package"
    shutil.copytree(pipeline, package / "en_package-0.0.0")
    assert json.loads(run("link", package, TEXT, "--json").stdout) == links


def test_settings_of_the_component_are_kept(run, tmp_path, tiny_assets):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path), "spans_key": "m"})
    config = {
        "assets": str(tiny_assets.path), "spans_key": "m", "prefix": "my_", "cui_scheme": "ICD10CM",
    }  # fmt: skip
    nlp.add_pipe("medical_linker", config=config)
    nlp.to_disk(tmp_path / "pipeline")
    links = json.loads(run("link", tmp_path / "pipeline", TEXT, "--json").stdout)
    assert {link["mention"]: link["cui"] for link in links}["Type 2 diabetes"] == "E11"


def test_the_starter_says_what_it_is(run):
    result = run("link", "starter", "She has asthma.")
    assert _rows(result.stdout)[1][:2] == ["asthma", "C0004096"]
    assert result.stderr.startswith("[W101] These links are to the built-in starter")
    assert "--encoder MODEL --output" in result.stderr, "in the words of the command line"
    assert "add_pipe" not in result.stderr


def test_threshold_and_nil(run, tiny_assets):
    # "Heart attacks" is found through its key, but is not the name as it stands.
    stdout = run("link", tiny_assets.path, "Heart attacks.", "--threshold", 0.99).stdout
    assert _rows(stdout)[1][:3] == ["Heart attacks", "NIL", "-"]


@pytest.mark.parametrize("text", ["", " \n", "🙂", "nothing to see"])
def test_nothing_is_found(run, tiny_assets, text):
    result = run("link", tiny_assets.path, text)
    assert (result.stdout, result.stderr) == ("", "No mention was found.\n")
    assert run("link", tiny_assets.path, text, "--json").stdout == "[]\n"


def test_a_long_text(run, tiny_assets, tmp_path):
    note = tmp_path / "note.txt"
    note.write_text("word 🙂 " * 15_000 + "asthma", encoding="utf-8")
    assert len(json.loads(run("link", tiny_assets.path, "--file", note, "--json").stdout)) == 1


@pytest.mark.parametrize(
    "arguments",
    [(), ("text", "--file", "x"), ("text", "--threshold", "2")],
    ids=" ".join,
)
def test_usage(run, tiny_assets, arguments):
    run("link", tiny_assets.path, *arguments, expect=2)


def test_bytes_that_are_no_text(run, fail, tiny_assets, tmp_path):
    run("link", tiny_assets.path, "-", input=b"caf\xe9", expect=2)
    run("link", tiny_assets.path, "caf\udce9", expect=2)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    fail("E165", "link", tiny_assets.path, "--file", tmp_path / "latin.txt")
    fail("E107", "link", tiny_assets.path, "--file", tmp_path / "none.txt")


def test_explanations_as_text_and_json(run, tiny_assets):
    text = run("link", tiny_assets.path, TEXT, "--explain").stdout
    assert text.startswith("Heart attack [CONCEPT] -> HP:0001658 Myocardial infarction\n")
    assert "matched 'Heart attack' (en, HPO, SY)" in text
    assert text.count("runner-up") == 2
    links = json.loads(run("link", tiny_assets.path, TEXT, "--explain", "--json").stdout)
    explanation = links[0]["explanation"]
    assert explanation["link"] == {
        "id": "HP:0001658", "name": "Myocardial infarction", "reason": "",
    }  # fmt: skip
    assert explanation["candidates"][0]["tiers"]["exact"] == {"score": 1.0, "rank": 1}


def test_filters(run, fail, tiny_assets):
    for options, want in (
        (("--types", "T184"), {"HP:0001945", "HP:0002315"}),
        (("--within", "<< HP:0000819 MINUS HP:0100651"), {"HP:0005978", "HP:0000819"}),
    ):
        result = run("link", tiny_assets.path, TEXT, "--json", *options)
        for link in json.loads(result.stdout):
            assert {one["id"] for one in link["candidates"]} == want
    assert "T047" in fail("E213", "link", tiny_assets.path, TEXT, "--types", "T407")
    assert "'HP:9'" in fail("E106", "link", tiny_assets.path, TEXT, "--within", "<< HP:9")
    expected = "at character 14 comes its end, but an id"
    assert expected in fail("E224", "link", tiny_assets.path, TEXT, "--within", "HP:0000819 OR")


def test_a_filter_that_leaves_nothing(run, tiny_assets):
    result = run("link", tiny_assets.path, "heart attack", "--json", "--types", "GEOG")
    (link,) = json.loads(result.stdout)
    assert (link["ids"], link["reason"]) == ([], "the filters leave nothing")
    assert "[W104]" in result.stderr


# Assets that are missing, half-built or put together wrongly


def test_missing_assets(fail, tmp_path):
    assert "medlink build" in fail("E201", "link", tmp_path / "none", TEXT)
    assert "nosuchpackage" in fail("E201", "link", "nosuchpackage", TEXT)
    assert "manifest.json is missing" in fail("E202", "link", tmp_path, TEXT)


def test_a_pipeline_without_a_linker(fail, tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "add_pipe" in fail("E603", "link", tmp_path / "blank", TEXT)


def test_a_language_that_spacy_does_not_know(fail, tiny_assets):
    assert "'qq'" in fail("E604", "link", tiny_assets.path, TEXT, "--lang", "qq")


def test_links_need_no_knowledge_base_elsewhere(run, pipeline, monkeypatch):
    """The pipeline links with the assets inside it, wherever it is called from."""
    monkeypatch.chdir(pipeline.parent)
    assert "HP:0001658" in run("link", pipeline.name, TEXT).stdout


def test_a_link_has_one_form(run, tiny_assets, tmp_path):
    """As JSON it is the same wherever it is written; with more it is a gold mention."""
    (tmp_path / "notes.jsonl").write_text(json.dumps({"doc_id": "1", "text": TEXT}))
    out = tmp_path / "out.jsonl"
    given = ("--candidates", 5, "--output", out)
    run("annotate", tiny_assets.path, tmp_path / "notes.jsonl", *given)
    annotated = json.loads(out.read_text())["mentions"]
    linked = run("link", tiny_assets.path, TEXT, "--json")
    assert json.loads(linked.stdout) == annotated
    doc = open_pipeline(str(tiny_assets.path), top_k=5, cui_scheme="UMLS")(TEXT)
    assert [record_of_link(ent, kept=5) for ent in doc.ents] == annotated
    for ent, link in zip(doc.ents, annotated, strict=True):
        assert set(SPAN_ATTRIBUTES) - {"kb_ents"} <= set(link)
        assert [one.keys() for one in link["candidates"]] == [
            one.keys() for one in ent._.candidates
        ]
    (document,) = load_gold(out, tiny_assets.kb).documents
    assert len(document.mentions) == len(annotated)
