"""Gold in the formats of other tools: invented documents, in the form that each tool writes."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.exchange.gold import KINDS
from spacy_medlink.exchange.tools import TOOLS
from spacy_medlink.kb.gold import read_gold

SAMPLES = Path(__file__).with_name("samples")
CASES = [json.loads(line) for line in (SAMPLES / "mentions.jsonl").read_text("utf-8").splitlines()]
FILES = [case for case in CASES if "mentions" in case]
WITHOUT = [case for case in CASES if "mentions" not in case]  # their formats lack ids
TEXT = "Fever 🤒 and asthma, no HTN."
BRAT, WEBANNO, CONLL, XMI, BIOC, DOCCANO = (
    (SAMPLES / name).read_text("utf-8")
    for name in ("brat_standoff.ann", "webanno_tsv.tsv", "conll.conll", "uima.xmi", "bioc.xml",
                 "doccano.jsonl")
)  # fmt: skip


def _name(case: dict[str, Any]) -> str:
    return str(case["name"])


def _write(folder: Path, name: str, content: Any, form: str = "plain") -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    if form == "BOM, CRLF":
        text = "\ufeff" + text.replace("\n", "\r\n")
    path = folder / (f"{name}.gz" if form == "gzip" else name)
    path.write_bytes(gzip.compress(text.encode()) if form == "gzip" else text.encode())
    if name.endswith(".ann"):
        path.with_suffix(".txt").write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("case", FILES, ids=_name)
@pytest.mark.parametrize("form", ["plain", "BOM, CRLF", "gzip", "directory"])
def test_one_function_reads_each(tmp_path: Path, case: dict[str, Any], form: str) -> None:
    sample = SAMPLES / case["file"]
    if form == "gzip" and sample.suffix == ".ann":
        pytest.skip("brat has no packed files")
    path = _write(tmp_path, f"x{sample.suffix}", sample.read_text("utf-8"), form)
    if form == "directory":
        path = tmp_path
        (path / "annotation.conf").write_text("[entities]\nDISO\n")
        (path / "TypeSystem.xml").write_text("<typeSystemDescription/>")
        (path / "project.zip").write_bytes(b"PK\x03\x04")
    (document,) = read_gold(path, strict=True)
    assert [[one.text, [*one.ids]] for one in document.mentions] == case["mentions"]
    if document.text is not None:
        assert all(0 <= mention.start < mention.end for mention in document.mentions)


def test_all_formats_are_tried() -> None:
    missing = {each.name for each in (*KINDS, *TOOLS)} - {*map(_name, FILES)}
    # These are tried where they are written, and in tests/kb/test_gold_exports.py.
    assert missing == {"FHIR", "a phenopacket", "NOTE_NLP of OMOP", "Label Studio", "Prodigy"}


@pytest.mark.parametrize("case", WITHOUT, ids=_name)
def test_without_ids_the_format_is_named_and_what_it_lacks(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    needs = {each.name: each.needs for each in (*KINDS, *TOOLS)}[case["name"]]
    sample = SAMPLES / case["file"]
    path = _write(tmp_path, f"x{sample.suffix}", sample.read_text("utf-8"))
    expected = rf"E160.*it is {case['name']}, and a concept id is needed.*Give {re.escape(needs)}"
    with pytest.raises(MedlinkError, match=expected):
        list(read_gold(path))


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("x.ann", "T1\tDISO 0 5\tFever\nnonsense\n", "E401.*line 2.*no annotation"),
        ("x.txt", "7|t|A\n7|a|B\n7\tx\ty\tA\tDISO\tD1\n", "E401.*line 3.*no mention"),
        ("x.tsv", WEBANNO + "broken\n", "E401.*line 15.*no token"),
        ("x.conll", CONLL + "short\n", "E401.*line 11.*too few columns"),
        ("x.xml", BIOC[:-5], "E165.*not well-formed"),
        ("x.xmi", XMI[:-5], "E165.*not well-formed"),
        ("x.xmi", '<!DOCTYPE x [<!ENTITY a "b">]>' + XMI[38:], "E165.*entity"),
        ("x.xmi", XMI.replace("sofaString", "x"), "E401.*no text"),
        ("x.json", {"%FEATURE_STRUCTURES": [{"%TYPE": "x"}]}, "E160.*no sofaString"),
        ("x.json", {"%FEATURE_STRUCTURES": [1]}, "E160.*TypeError"),
        ("x.jsonl", '{"text": "a", "label": [[0]]}', "E401.*line 1.*doccano"),
        ("x.jsonl", DOCCANO + '{"text": 1', "E401.*line 2.*doccano"),
        ("x.json", {"documents": [{"passages": [{"offset": 5_000_000, "text": "x"}]}]},
         "E401.*offset"),
        ("x.csv", "note_nlp_id,note_id\n1,2\n", "E160.*NOTE_NLP"),
        ("x.txt", "", "E404"), ("x.json", "[]", "E401"), ("x.json", "{}", "E401"),
        ("x.txt", "Only a text.", "E401"),
    ],
)  # fmt: skip
def test_what_is_broken_says_where(tmp_path: Path, name: str, content: Any, problem: str) -> None:
    with pytest.raises(MedlinkError, match=problem):
        list(read_gold(_write(tmp_path, name, content)))


def test_brat_without_its_text_and_a_directory_of_others(tmp_path: Path) -> None:
    _write(tmp_path, "x.ann", BRAT).with_suffix(".txt").unlink()
    with pytest.raises(MedlinkError, match=r"E401.*x.ann, line 1.*no text beside it \(x.txt\)"):
        list(read_gold(tmp_path))
    (tmp_path / "x.ann").rename(tmp_path / "x.md").write_text("# Notes")
    with pytest.raises(MedlinkError, match=r"E160.*directory without annotations"):
        list(read_gold(tmp_path))


def test_directories_are_part_of_the_ids(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        _write(tmp_path / folder, "x.ann", BRAT)
    assert [document.doc_id for document in read_gold(tmp_path)] == ["a/x", "b/x"]


def test_mentions_in_pieces_and_over_line_ends(tmp_path: Path) -> None:
    text = "breast and\r\novarian cancer, left foot"
    bounds = (
        "T1\tX 0 10;12 26\tbreast and ovarian cancer\nT2\tX 28 32;33 37\tleft foot\n"
        "T3\tX 0 6;20 26\tbreast cancer\n"
    )
    references = "".join(f"N{n}\tReference T{n} C000000{n}\tx\n" for n in (1, 2, 3))
    path = _write(tmp_path, "x.ann", bounds + references)
    path.with_suffix(".txt").write_bytes(text.encode())
    (document,) = read_gold(path, strict=True)
    assert [(each.text, each.start) for each in document.mentions] == [
        ("breast and\r\novarian cancer", 0), ("left foot", 28), ("breast cancer", -1),
    ]  # fmt: skip
