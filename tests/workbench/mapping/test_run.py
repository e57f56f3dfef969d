"""Runs: what is written in each format, and what is kept of what people decided."""

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.assets import build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.terminologies.sssom import MappingSets
from spacy_medlink.types import Retired
from spacy_medlink.workbench.mapping.run import map_terms
from spacy_medlink.workbench.mapping.terms import Columns
from tests.tiny import assets_of, concept
from tests.workbench.mapping.conftest import rows_of

# Most tables here have a column of a ward, which only some tests read.
pytestmark = pytest.mark.filterwarnings("ignore:.W110")

_TERMS = "code,name,n,ward\nA,Fever,3,er\nB,heart attak,2,\nC,qqqq,1,\nD,=1+1,,-2\n"
_CONTEXT = Columns(frequency="n", context=("ward",))


def _edit(path: Path, **cells: dict[str, str]) -> None:
    """Change cells of the rows with some codes."""
    rows = rows_of(path)
    for row in rows:
        row |= cells.get(row["source_code"], {})
    header = list(dict.fromkeys(key for row in rows for key in row))
    # As a spreadsheet in German writes it.
    with path.open("w", encoding="cp1252", newline="") as file:
        writer = csv.DictWriter(file, header, delimiter=";", restval="")
        writer.writeheader()
        writer.writerows(rows)


def test_a_table(mapped, tmp_path):
    done = mapped(_TERMS, columns=_CONTEXT)
    assert (done.exact, done.probable, done.without) == (1, 1, 2)
    rows = rows_of(tmp_path / "out.csv")
    assert [row["source_name"] for row in rows] == ["Fever", "heart attak", "qqqq", "'=1+1"]
    assert rows[3]["context:ward"] == "'-2"
    first = rows[0]
    assert (first["concept_id"], first["match_type"], first["status"]) == (
        "HP:0001945", "exact", "UNCHECKED",
    )  # fmt: skip
    assert rows[1]["concept_name"] == "Myocardial infarction"
    assert rows[1]["candidate_1_id"]


def test_what_was_decided_stays(mapped, tmp_path):
    out = tmp_path / "out.csv"
    mapped(_TERMS, columns=_CONTEXT)
    _edit(
        out,
        A={"status": "Approved", "concept_id": "HP:0002315", "comment": "ça va", "who": "Zoë"},
        B={"comment": "look again"},
        D={"status": "IGNORED"},
    )
    for _ in range(2):  # what is written is read again
        done = mapped(_TERMS.replace("D,", "E,"), columns=_CONTEXT)
    known = done.reviewed
    assert (known.kept, known.gone, known.invalid) == (1, 1, 0)
    assert (known.same, known.changed, known.new) == (3, 0, 0)
    a, b, _, _, d = rows_of(out)
    assert (a["status"], a["concept_id"], a["concept_name"], a["comment"], a["who"]) == (
        "APPROVED", "HP:0002315", "Headache", "ça va", "Zoë",
    )  # fmt: skip
    assert (b["status"], b["comment"]) == ("UNCHECKED", "look again")
    assert (d["source_name"], d["status"], d["context:ward"]) == ("'=1+1", "IGNORED", "'-2")


def test_decisions_survive_a_spreadsheet_that_takes_away_leading_zeros(mapped, tmp_path):
    """Saved there, 00456 is 456; a term is known by its name and the rest of its code."""
    terms = "code,name\n00456,Fever\n0001,qqqq\n1,heart attak\n01,heart attak\nA0,Asthma\n"
    mapped(terms)
    rows = rows_of(tmp_path / "out.csv")
    saved = {one["source_code"]: one["source_code"].lstrip("0") for one in rows}
    _edit(
        tmp_path / "out.csv",
        **{
            code: {"source_code": saved[code], "status": "APPROVED", "comment": code}
            for code in ("00456", "0001", "1", "A0")
        },
    )
    done = mapped(terms)
    assert (done.reviewed.kept, done.reviewed.gone, done.reviewed.new) == (4, 0, 0)
    said = {row["source_code"]: row["comment"] for row in rows_of(tmp_path / "out.csv")}
    assert said == {"00456": "00456", "0001": "0001", "1": "1", "01": "", "A0": "A0"}


def test_ids_survive_a_spreadsheet_that_takes_away_leading_zeros(tmp_path):
    linker = assets_of(tmp_path, [concept("000123", "fever")]).engine()
    (tmp_path / "t.csv").write_text("code,name\n7,fever\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    for _ in range(2):
        done = map_terms(tmp_path / "t.csv", linker, out)
        _edit(out, **{"7": {"concept_id": "123", "status": "APPROVED"}})
    assert (done.reviewed.kept, done.reviewed.invalid) == (1, 0)
    map_terms(tmp_path / "t.csv", linker, out)
    assert [row["concept_id"] for row in rows_of(out)] == ["000123"]


def test_concepts_that_were_replaced(tmp_path):
    old = [Retired("O:1", "O:2"), Retired("O:2", "N:1"), Retired("O:3")]
    linker = assets_of(tmp_path, [concept("N:1", "fever"), *old]).engine()
    out = tmp_path / "o.csv"
    (tmp_path / "t.csv").write_text("code,name\n1,a\n2,b\n3,c\n", encoding="utf-8")
    map_terms(tmp_path / "t.csv", linker, out)
    _edit(out, **{row: {"concept_id": f"O:{row}", "status": "APPROVED"} for row in "123"})
    assert map_terms(tmp_path / "t.csv", linker, out).reviewed.invalid == 1
    said = [(row["concept_id"], row["concept_name"], row["status"]) for row in rows_of(out)]
    assert said == [("N:1", "fever", "APPROVED")] * 2 + [("O:3", "", "INVALID_TARGET")]


def test_concepts_that_are_gone(mapped, tmp_path):
    mapped(_TERMS)
    _edit(tmp_path / "out.csv", A={"status": "APPROVED", "concept_id": "HP:9"})
    assert mapped(_TERMS).reviewed.invalid == 1
    assert rows_of(tmp_path / "out.csv")[0]["status"] == "INVALID_TARGET"


def test_one_to_many_stays(mapped, tmp_path):
    out = tmp_path / "out.csv"
    mapped(_TERMS)
    rows = rows_of(out)
    second = {**rows[0], "concept_id": "HP:0002315"}
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "status": "APPROVED"} for row in (rows[0], second, second))
    twice = _TERMS + "A,Fever,3,er\n"
    for _ in range(2):
        mapped(twice)
    ids = [row["concept_id"] for row in rows_of(out) if row["source_code"] == "A"]
    assert ids == ["HP:0001945", "HP:0002315"] * 2


def test_other_files_stay(mapped, tmp_path):
    (tmp_path / "out.csv").write_text("source_name,mine\n1,2\n")
    for name, code in (("out.csv", "E124"), ("terms.csv", "E122"), ("out.xyz", "E611")):
        with pytest.raises(MedlinkError, match=code):
            mapped(_TERMS, name)
    with pytest.raises(MedlinkError, match="E160"):
        mapped(_TERMS, "new.csv", reviewed=tmp_path / "terms.csv")
    assert (tmp_path / "out.csv").read_text() == "source_name,mine\n1,2\n"
    with pytest.raises(MedlinkError, match="E407"):
        mapped(_TERMS, "out.usagi.csv")


def test_fhir(mapped, tmp_path):
    path = tmp_path / "out.json"
    mapped("code,name\n  A  b ,Fever\nB,heart attak\nC,qqqq\n", "out.json", vocabulary="ICD10CM")
    mapped("code,name\n  A  b ,Fever\nB,heart attak\nC,qqqq\n", "out.json", vocabulary="ICD10CM")
    found = json.loads(path.read_text(encoding="utf-8"))
    groups = {group.get("target"): group for group in found["group"]}
    elements = groups["http://human-phenotype-ontology.org"]["element"]
    assert [(one["code"], one["target"][0]["code"]) for one in elements] == [
        ("A b", "HP:0001945"), ("B", "HP:0001658"),
    ]  # fmt: skip
    equivalences = [one["target"][0]["equivalence"] for one in elements]
    assert equivalences == ["equivalent", "relatedto"]
    assert groups[None]["element"][0]["target"][0]["equivalence"] == "unmatched"
    assert {group["source"] for group in found["group"]} == {"http://hl7.org/fhir/sid/icd-10-cm"}
    _check_concept_map(found)
    mapped("name\n", "empty.json")
    _check_concept_map(json.loads((tmp_path / "empty.json").read_text()))


def _check_concept_map(found: dict[str, Any]) -> None:
    """Check what R4 asks for; with fhir.resources where it is installed."""
    assert found["resourceType"] == "ConceptMap"
    assert found["status"] in {"draft", "active", "retired", "unknown"}
    for group in found.get("group", [{"element": [{}]}]):
        assert group["element"]
        for target in (one for element in group["element"] for one in element.get("target", ())):
            assert target["equivalence"] in {
                "relatedto", "equivalent", "equal", "wider", "subsumes", "narrower", "specializes",
                "inexact", "unmatched", "disjoint",
            }  # fmt: skip
            assert target["equivalence"] not in ("narrower", "inexact") or target["comment"]
    try:
        from fhir.resources.R4B.conceptmap import ConceptMap
    except ImportError:
        return
    ConceptMap.model_validate(found)


def test_sssom_is_read_back(mapped, linker, tmp_path):
    mapped("code,name\nA,Fever\nB,heart attak\n", "out.sssom.tsv", vocabulary="LOCAL")
    rows = rows_of(tmp_path / "out.sssom.tsv", "\t")
    assert [row["predicate_id"] for row in rows] == ["skos:exactMatch", "skos:closeMatch"]
    assert rows[0]["mapping_justification"] == "semapv:LexicalMatching"
    assert linker.parts.kb is not None
    sets = MappingSets([tmp_path / "out.sssom.tsv"])
    concepts = {one.id: one for one in sets.apply(iter(linker.parts.kb))}
    assert concepts["HP:0001945"].codes["LOCAL"] == ("A",)  # type: ignore[union-attr]  # none is retired
    assert sets.used == [2]


def test_only_what_is_approved(mapped, tmp_path):
    mapped(_TERMS)
    _edit(tmp_path / "out.csv", A={"status": "APPROVED"})
    mapped(_TERMS, "new.sssom.tsv", reviewed=tmp_path / "out.csv", approved=True)
    (row,) = rows_of(tmp_path / "new.sssom.tsv", "\t")
    assert row["mapping_justification"] == "semapv:ManualMappingCuration"


def test_what_is_approved_does_not_replace_all_decisions(mapped, tmp_path):
    mapped(_TERMS)
    _edit(tmp_path / "out.csv", A={"status": "APPROVED"}, B={"status": "IGNORED"})
    before = (tmp_path / "out.csv").read_bytes()
    with pytest.raises(MedlinkError, match="E122"):
        mapped(_TERMS, reviewed=tmp_path / "out.csv", approved=True)
    assert (tmp_path / "out.csv").read_bytes() == before


@pytest.fixture(scope="module")
def omop(tmp_path_factory):
    place = tmp_path_factory.mktemp("omop")
    concepts = [("437663", "Fever", "386661006"), ("378253", "Headache", "25064002")]
    lines = [
        json.dumps({
            "concept_id": id, "types": ["Condition", "Clinical Finding"],
            "names": [{"name": name, "lang": "en", "source": "SNOMED"}],
            "codes": {"OMOP": [id], "SNOMED": [code]}, "canonical_name": name,
        })
        for id, name, code in concepts
    ]  # fmt: skip
    (place / "a.jsonl").write_text("\n".join(lines))
    build_knowledge_base(out=place / "a.kb", sources=[("jsonl", place / "a.jsonl")])
    return build_assets(place / "assets", place / "a.kb", None).engine()


def test_omop_and_usagi(omop, tmp_path):
    terms = tmp_path / "fever list.csv"
    terms.write_text("code,name,count\nA,fever,7\nB,qqqq,x\n")
    map_terms(terms, omop, tmp_path / "out.csv", form="omop")
    first, second = rows_of(tmp_path / "out.csv")
    assert (first["target_concept_id"], first["target_vocabulary_id"]) == ("437663", "SNOMED")
    assert (second["target_concept_id"], second["source_vocabulary_id"]) == ("0", "fever list")
    usagi = tmp_path / "out.usagi.csv"
    map_terms(terms, omop, usagi)
    rows = rows_of(usagi)
    first = rows[0]
    assert (first["conceptId"], first["equivalence"], first["domainId"]) == (
        "437663", "EQUAL", "Condition",
    )  # fmt: skip
    assert [row["sourceFrequency"] for row in rows] == ["7", "0"]
    text = usagi.read_text().replace('"UNCHECKED","EQUAL",""', '"APPROVED","WIDER","Ann"')
    usagi.write_text(text.replace('"437663","Fever"', '"378253","Headache"'))
    done = map_terms(terms, omop, usagi)
    assert done.reviewed.kept == 1
    first = rows_of(usagi)[0]
    assert (first["conceptId"], first["equivalence"], first["statusSetBy"]) == (
        "378253", "WIDER", "Ann",
    )  # fmt: skip


@settings(max_examples=20)
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=6))
def test_any_names(tiny_assets, tmp_path_factory, names):
    place = tmp_path_factory.mktemp("any")
    with (place / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["name", "id"], *([name, "7"] for name in names)])
    linker = tiny_assets.engine(["exact", "ngram"])
    for _ in range(2):
        done = map_terms(place / "in.csv", linker, place / "out.csv")
    given = [name.strip() for name in names if name.strip()]
    assert len(rows_of(place / "out.csv")) == len(given)
    assert done.reviewed.same == len(given)


@pytest.mark.parametrize(
    ("terms", "columns", "unread"),
    [
        ("Lokalcode;Diagnose;Station\nA;Fever;er\n", Columns(), "Station"),
        ("Hauscode1;name\nA;Fever\n", Columns(), "Hauscode1"),
        ("code local;libellé;service\nA;Fever;er\n", Columns(context=("service",)), ""),
        ("k;t;x\nA;Fever;1\n", Columns(name="t", code="k"), ""),  # who names both knows the rest
    ],
)
def test_columns_that_are_not_read_are_named(mapped, tmp_path, terms, columns, unread):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mapped(terms, columns=columns)
    said = [str(each.message) for each in told if "W110" in str(each.message)]
    assert len(said) == bool(unread)
    assert all(f"not known: {unread}." in message and "name=TERM" in message for message in said)
    (row,) = rows_of(tmp_path / "out.csv")
    assert row["source_name"] == "Fever"
    assert row["source_code"] == ("" if unread == "Hauscode1" else "A")
