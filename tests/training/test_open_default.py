"""The open terminology is made of the packages of its table alone, and says what is one concept."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
import spacy
import typer

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.writer import unite as one_of
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Concept, Name, Retired
from tests import declared
from tests.kb.samples import ICD11, UNII
from tests.tables import table
from tests.training.language_notes import link, notes
from training import open_default
from training.open_default import (
    Source,
    installed_file,
    line_of,
    one_of_each,
    read_source,
    sources,
    unite,
)

ROOT = Path(__file__).parents[2]
_TERMS = {
    "A:0": {"label": "thing", "ancestors": {}},
    "A:1": {"label": "disease", "ancestors": {"A:0": 1}},
    "A:2": {"label": "tumour", "ancestors": {"A:1": 1, "A:0": 2}, "synonyms": ["growth", "tumour"]},
    "A:3": {"label": "cancer", "ancestors": {"A:2": 1, "A:1": 2, "A:0": 3}, "description": "Bad."},
    "A:4": {"label": "mange of dogs", "ancestors": {"A:1": 1, "A:0": 2, "A:5": 1}},
    "A:5": {"label": "disease of animals", "ancestors": {"A:1": 1, "A:0": 2}},
    "A:6": {"label": "", "deprecated": True, "replaced_by": "A:3", "ancestors": {}},
    "A:7": {"label": "old mange", "deprecated": True, "replaced_by": "A:4", "ancestors": {}},
}


def _source(name: str = "A", **fields: str) -> Source:
    values = dict.fromkeys(Source._fields, "")
    values |= {"types": "T047 A:2=T191", "branches": "A:1 -A:5"} if name == "A" else {}
    return Source(**{**values, "source": name, **fields})


def _packed(path: Path, text: str) -> Path:
    zstandard = pytest.importorskip("zstandard")
    path.write_bytes(zstandard.ZstdCompressor().compress(text.encode()))
    return path


def test_each_source_has_its_pin_and_its_licence_is_told():
    pins = {str(pin) for pin in declared.requirements("open")}
    licences = (ROOT / "assets" / "README.md").read_text(encoding="utf-8")
    for source in sources():
        assert source.extra == "" or f"{source.package}=={source.version}" in pins
        assert f"`{source.package}` {source.version}" in licences
        assert source.licence in licences and source.package_licence in licences


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.source)
def test_what_is_installed_is_what_was_chosen(source):
    pytest.importorskip("cellxgene_ontology_guide")
    if not source.extra:
        pytest.importorskip("trytond.modules")
    assert installed_file(source).is_file()
    other = source._replace(version="9.9")
    with pytest.raises(MedlinkError, match=rf"E614.*{source.package} 9\.9 \({source.version} is"):
        installed_file(other)
    with pytest.raises(MedlinkError, match=rf"E211.*expected 0 of {source.package}"):
        installed_file(source._replace(sha256="0"))


def test_a_package_that_is_not_installed():
    with pytest.raises(MedlinkError, match=r"E614.*no-such 1 \(none is installed\).*\[open\]"):
        installed_file(_source(package="no-such", version="1", extra="open"))
    with pytest.raises(MedlinkError, match=r"E614.*none is installed.*--no-deps no-such==1"):
        installed_file(_source(package="no-such", version="1"))


def test_branches_and_types(tmp_path):
    path = _packed(tmp_path / "a.json.zst", json.dumps(_TERMS))
    tumour, cancer, gone, mange = read_source(_source(), path)
    assert (tumour.types, cancer.types, cancer.parents) == (("T191",), ("T191",), ("A:2",))
    assert [name.text for name in tumour.names] == ["tumour", "growth"]
    assert (gone, mange) == (Retired("A:6", "A:3", "obsolete"), Retired("A:7"))
    assert json.loads(line_of(cancer))["definition"] == "Bad."
    assert json.loads(line_of(mange)) == {"concept_id": "A:7", "replaced_by": ""}


@table(__file__, "what_cannot_be_read_whole_names_its_line")
def test_what_cannot_be_read_whole_names_its_line(tmp_path, text, line):
    with pytest.raises(MedlinkError, match=f"E105.*line {line}"):
        list(read_source(_source(), _packed(tmp_path / "a.json.zst", text)))


def test_what_is_not_packed(tmp_path):
    pytest.importorskip("zstandard")
    (tmp_path / "a").write_text("{}")
    with pytest.raises(MedlinkError, match="E105"):
        list(read_source(_source(), tmp_path / "a"))


def test_names_of_substances(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text(UNII)
    (concept,) = read_source(_source("UNII", types="T121"), path)
    assert concept.id == "UNII:U1"
    assert [name.text for name in concept.names] == ["metformin hydrochloride", "Glucophage"]
    for second in (b"b", b"b\tof\tU1\t\xff", b"b\tof\tU1\tB\t"):
        path.write_bytes(b"a\tof\tU1\tA\n" + second + b"\n")
        with pytest.raises(MedlinkError, match=r"E105.*line 2"):
            list(read_source(_source("UNII"), path))


def test_icd_11_has_names_in_two_languages(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(ICD11, encoding="utf-8")
    source = _source("ICD11", types="T047 ICD11:8=T191", branches="-ICD11:X")
    first, second, third = read_source(source, path)
    names = [(name.text, name.lang) for name in first.names]
    assert names == [("Multiple sclerosis", "en"), ('Esclerosis múltiple "EM"', "es")]
    assert (first.id, first.parents, first.types) == ("ICD11:8A40", (), ("T191",))
    assert [name.text for name in second.names] == ["Relapsing"]
    assert (second.parents, third.parents) == (("ICD11:8A40",), ("ICD11:8A40.0",))
    for bad in ("msgid Cholera", 'msgid "Cholera', "\\", 'msgid "a" "b"'):
        path.write_text(f"{ICD11}\n{bad}\n", encoding="utf-8")
        with pytest.raises(MedlinkError, match=rf"E105.*line {ICD11.count(chr(10)) + 2}"):
            list(read_source(source, path))


_ICD10 = (  # code, English, German, Chinese
    ("J45", "Asthma", "Asthma bronchiale", "nan"),
    ("J458", "Other asthma", "Sonstiges Asthma", "其他哮喘"),
    ("J459", "Asthma, unspecified", "Asthma, nicht näher bezeichnet", "未特指的哮喘"),
    ("J189", "Pneumonia, unspecified", "Pneumonie, nicht näher bezeichnet", "未特指的肺炎"),
    ("D509", "Anaemia, unspecified", "Blutarmut", "贫血，未特指"),
    ("Z000", "Examination", "Untersuchung", "检查"),
)


def test_icd_10_has_names_in_the_language_of_each_file(tmp_path):
    source = _source("ICD10", types="T047 ICD10:D5=T191", branches="-ICD10:Z")
    records = []
    for place, name in enumerate(("de", "zh_CN")):
        path = tmp_path / f"{name}.po"
        path.write_text(
            "".join(
                f'msgctxt "model:gnuhealth.pathology,name:{code}"\nmsgid "{text}"\n'
                f'msgstr "{translations[place]}"\n\n'
                for code, text, *translations in _ICD10
            ),
            encoding="utf-8",
        )
        records += read_source(source, path)
    asthma, pneumonia, anaemia = one_of_each(records)
    names = [[name[:2] for name in one.names] for one in (asthma, pneumonia, anaemia)]
    assert names == [
        [("Asthma", "en"), ("Asthma bronchiale", "de")],
        [("Pneumonia", "en"), ("Pneumonie", "de"), ("肺炎", "zh")],
        [("Anaemia", "en"), ("贫血", "zh")],
    ]
    assert (asthma.id, pneumonia.id, anaemia.types) == ("ICD10:J45", "ICD10:J18.9", ("T191",))


def test_who_names_icd_agrees_to_its_licence(tmp_path, monkeypatch):
    of = {source.source: [_concept(f"{source.source}:1", "asthma")] for source in sources()}
    monkeypatch.setattr(open_default, "installed_file", lambda source: tmp_path)
    monkeypatch.setattr(open_default, "read_source", lambda source, path: of[source.source])
    for also in ("", "ICD11", "ICD10,ICD11"):
        codes = {name: ["1"] for name in ("HP", *also.split(",")) if name}
        output = tmp_path / f"{also}.jsonl"
        open_default.main(output, tmp_path / f"{also}.tsv", also)
        records = list(map(json.loads, output.read_text().splitlines()))
        found = [record["codes"] for record in records if record["concept_id"] == "MONDO:1"]
        assert {name: code for each in found for name, code in each.items()} == codes
    with pytest.raises(typer.BadParameter):
        open_default.main(tmp_path / "other.jsonl", also="SNOMED")


def _concept(id: str, *names: str, **fields) -> Concept:
    ttys = ("PT", *["EXACT"] * len(names))
    of = tuple(Name(name, "en", id[:1], tty) for name, tty in zip(names, ttys, strict=False))
    return Concept(id, names[0], of, **fields)


def test_equal_names_make_one_concept():
    first = [
        _concept("A:1", "asthma", types=("T047",), parents=("A:9",)),
        _concept("A:2", "renal failure", "kidney failure"),
        _concept("A:3", "growth"),
        _concept("A:4", "mass", "growth of a lump"),
        _concept("A:5", "CF"),
    ]
    second = [
        _concept("B:1", "Asthma", "Wheezy disease", codes={"UMLS": ("C1",)}, parents=("B:2",)),
        _concept("B:2", "Kidney failures", "Uraemia"),
        _concept("B:3", "Growth", "Mass"),
        _concept("B:4", "Something else", "mass"),
        _concept("B:5", "Other", "Growth of a lump"),
        _concept("B:6", "cystic fibrosis", "CF"),
        Retired("B:9", "B:1"),
    ]
    records, pairs, apart = unite([first, second])
    retired = {record.id: record for record in records if isinstance(record, Retired)}
    pieces = defaultdict(list)
    for record in records:
        if isinstance(record, Concept):
            pieces[record.id].append(record)
    by_id = {id: one_of(of) for id, of in pieces.items()}
    assert {(one.id, other.id) for one, other in pairs} == {
        ("A:1", "B:1"), ("A:2", "B:2"), ("A:3", "B:3"), ("A:4", "B:4"),
    }  # fmt: skip
    assert apart == 0
    asthma = by_id["A:1"]
    assert asthma.codes == {"B": ("1",), "UMLS": ("C1",)}
    assert asthma.parents == ("A:9", "A:2") and asthma.types == ("T047",)
    assert [name.text for name in asthma.names] == ["asthma", "Asthma", "Wheezy disease"]
    assert (retired["B:1"], retired["B:9"].replaced_by) == (Retired("B:1", "A:1", "merged"), "A:1")
    assert open_default._exact_keys(by_id["B:6"]) == {key("cystic fibrosis")}


def test_concepts_with_several_partners_stay_apart():
    first = [_concept("A:1", "x fever"), _concept("A:2", "y fever")]
    second = [
        _concept("B:1", "fever", "x fever", "y fever"),
        _concept("B:2", "z fever", "y fever"),
        _concept("B:3", "w fever", "y fever"),
    ]
    records, pairs, apart = unite([first, second])
    assert (pairs, apart, len(records)) == ([], 3, 5)


@pytest.mark.filterwarnings("ignore:.*W101")
def test_what_is_linked_in_the_note_of_each_language():
    for _, text, *mentions in notes()[1]:
        assert all(mention in text for mention in mentions)
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    nlp.add_pipe("medical_linker")
    english, czech, *_ = link(nlp)
    assert (english.language, len(english.right), english.others) == ("en", 6, {})
    assert "warfarin" in czech.right and "horečku" in czech.missed
    assert czech.others["diabetes mellitus"] == "C0011849"
