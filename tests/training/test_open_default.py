"""The open terminology is made of the packages of its table alone, and says what is one concept."""

import json
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.text.normalisation import key
from spacy_medlink.types import Concept, Name, Retired
from tests import declared
from training import open_default
from training.open_default import Source, installed_file, line_of, read_source, sources, unite

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
_UNII = [
    ("Name", "TYPE", "UNII", "Display Name"),
    ("METFORMIN HYDROCHLORIDE", "of", "U1", "METFORMIN HYDROCHLORIDE"),
    ("METFORMIN HYDROCHLORIDE [USP-RS]", "cn", "U1", "METFORMIN HYDROCHLORIDE"),
    ("GLUCOPHAGE", "bn", "U1", "METFORMIN HYDROCHLORIDE"),
    ("TODAY", "bn", "U1", "METFORMIN HYDROCHLORIDE"),
    ("EX404", "cd", "U1", "METFORMIN HYDROCHLORIDE"),
    ("JANUMET COMPONENT METFORMIN", "cn", "U1", "METFORMIN HYDROCHLORIDE"),
    ("BUTANE, 2-BROMO-", "sys", "U2", "2-BROMOBUTANE"),
]


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
        assert f"{source.package}=={source.version}" in pins
        assert f"`{source.package}` {source.version}" in licences
        assert source.licence in licences and source.package_licence in licences


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.source)
def test_what_is_installed_is_what_was_chosen(source):
    pytest.importorskip("cellxgene_ontology_guide")
    assert installed_file(source).is_file()
    other = source._replace(version="9.9")
    with pytest.raises(MedlinkError, match=rf"E614.*{source.package} 9\.9 \({source.version} is"):
        installed_file(other)
    with pytest.raises(MedlinkError, match=rf"E211.*expected 0 of {source.package}"):
        installed_file(source._replace(sha256="0"))


def test_a_package_that_is_not_installed():
    with pytest.raises(MedlinkError, match=r"E614.*no-such 1 \(none is installed\).*\[open\]"):
        installed_file(_source(package="no-such", version="1"))


def test_branches_and_types(tmp_path):
    path = _packed(tmp_path / "a.json.zst", json.dumps(_TERMS))
    tumour, cancer, gone, mange = read_source(_source(), path)
    assert (tumour.types, cancer.types, cancer.parents) == (("T191",), ("T191",), ("A:2",))
    assert [name.text for name in tumour.names] == ["tumour", "growth"]
    assert (gone, mange) == (Retired("A:6", "A:3", "obsolete"), Retired("A:7"))
    assert json.loads(line_of(cancer))["definition"] == "Bad."
    assert json.loads(line_of(mange)) == {"concept_id": "A:7", "replaced_by": ""}


@pytest.mark.parametrize(
    ("text", "line"), [("{", 1), ('{"A:1":\n {"label" 1}}', 2), ("[]", 1), ('{"A:1": 1}', 1)]
)
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
    path.write_text("".join("\t".join(row) + "\n" for row in _UNII))
    (concept,) = read_source(_source("UNII", types="T121"), path)
    assert concept.id == "UNII:U1"
    assert [name.text for name in concept.names] == ["metformin hydrochloride", "Glucophage"]
    path.write_text("a\tof\tU1\tA\nb\n")
    with pytest.raises(MedlinkError, match=r"E105.*line 2"):
        list(read_source(_source("UNII"), path))


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
    ((records, pairs, apart),) = unite([[first, second]])
    by_id = {record.id: record for record in records}
    assert {(one.id, other.id) for one, other in pairs} == {
        ("A:1", "B:1"), ("A:2", "B:2"), ("A:3", "B:3"), ("A:4", "B:4"),
    }  # fmt: skip
    assert apart == 0
    asthma = by_id["A:1"]
    assert asthma.codes == {"B": ("1",), "UMLS": ("C1",)}
    assert asthma.parents == ("A:9", "A:2") and asthma.types == ("T047",)
    assert [name.text for name in asthma.names] == ["asthma", "Wheezy disease"]
    assert (by_id["B:1"], by_id["B:9"].replaced_by) == (Retired("B:1", "A:1", "merged"), "A:1")
    assert open_default._exact_keys(by_id["B:6"]) == {key("cystic fibrosis")}


def test_concepts_with_several_partners_stay_apart():
    first = [_concept("A:1", "x fever"), _concept("A:2", "y fever")]
    second = [
        _concept("B:1", "fever", "x fever", "y fever"),
        _concept("B:2", "z fever", "y fever"),
        _concept("B:3", "w fever", "y fever"),
    ]
    ((records, pairs, apart),) = unite([[first, second]])
    assert (pairs, apart, len(records)) == ([], 3, 5)
