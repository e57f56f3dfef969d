"""The files of FHIR: XML says what JSON says, and directories and packages what a Bundle says."""

import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.codesystem import CodeSystem
from fhir.resources.R4B.valueset import ValueSet

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.fhir import release_of
from spacy_medlink.terminologies.sssom import MappingSets
from spacy_medlink.types import CodeMap, Concept, Record
from tests.kb.samples import FHIR, FHIR_VALUE_SET
from tests.tables import table

VALUES = {**FHIR_VALUE_SET, "status": "active"}
BOTH = {
    "resourceType": "Bundle", "type": "collection",
    "entry": [{"resource": FHIR}, {"resource": VALUES}],
}  # fmt: skip
CODES = '<CodeSystem xmlns="http://hl7.org/fhir">\n<url value="http://a.b/x"/>\n%s</CodeSystem>'


def _records(path: Path) -> list[Record]:
    return list(read("fhir", path))


def _json(path: Path, resource: Any) -> Path:
    path.write_text(json.dumps(resource), encoding="utf-8")
    return path


def _xml(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _package(path: Path, *resources: Any, folder: str = "package") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for n, resource in enumerate(resources):
            data = json.dumps(resource).encode()
            name = resource.get("resourceType") or "package"
            info = tarfile.TarInfo(
                f"{folder}/{name}{'-' + str(n) if name != 'package' else ''}.json"
            )
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("model, resource", [(CodeSystem, FHIR), (ValueSet, VALUES),
                                             (Bundle, BOTH)])  # fmt: skip
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: re.sub(r"<(/?)(?=[A-Za-z])", r"<\1f:", text).replace("xmlns=", "xmlns:f="),
        lambda text: re.sub(
            r">\s+<url ",
            '><text><div xmlns="x"><p value="y">z</p></div></text><url ',
            text,
            count=1,
        ),
    ],
    ids=["plain", "BOM and CRLF", "prefix", "narrative"],
)
def test_xml_says_what_json_says(tmp_path, model, resource, change):
    xml = model.model_validate(resource).model_dump_xml(pretty_print=True).decode()
    path = _xml(tmp_path / "x.xml", change(xml))
    expected = _records(_json(tmp_path / "x.json", resource))
    assert _records(path) == expected
    assert release_of(path) == resource.get("version", "")


@table(__file__, "errors_name_the_line_of_the_xml")
def test_errors_name_the_line_of_the_xml(tmp_path, body, line, problem):
    with pytest.raises(MedlinkError, match=f"E105.*x.xml, line {line}: .*{problem}"):
        _records(_xml(tmp_path / "x.xml", CODES % body))


@pytest.mark.parametrize("kind", ["directory", "package directory", "tgz"])
def test_packages_are_read_as_bundles_are(tmp_path, kind):
    expected = _records(_json(tmp_path / "bundle.json", BOTH))
    others: list[Any] = [{"name": "x", "version": "1.2"}, {"resourceType": "StructureDefinition"}]
    if kind == "tgz":
        path = _package(tmp_path / "x.tgz", FHIR, VALUES, *others)
    else:
        path = tmp_path / "x"
        folder = path / "package" if kind == "package directory" else path
        folder.mkdir(parents=True)
        for name, resource in zip(("a", "b", "package", "c"), (FHIR, VALUES, *others),
                                  strict=True):  # fmt: skip
            _json(folder / f"{name}.json", resource)
        (folder / ".index.json").write_text("{")
    assert _records(path) == expected
    assert release_of(path) == "1.2"


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda path: (path / "x").mkdir() or path / "x", "E160.*no such file"),
        (lambda path: _package(path / "x.tgz", FHIR, folder="package/example"), ""),
        (lambda path: (path / "x.tgz").write_bytes(b"no archive") and path / "x.tgz", "E165"),
        (lambda path: _package(path / "x.tgz", {**FHIR, "concept": [{}]}),
         r"E105.*x.tgz.package.CodeSystem-0.json, line 1"),
    ],
)  # fmt: skip
def test_what_is_no_package(tmp_path, make, problem):
    path = make(tmp_path)
    if problem:
        with pytest.raises(MedlinkError, match=problem):
            _records(path)
    else:
        assert _records(path) == []


def test_a_system_without_its_codes_says_so(tmp_path):
    empty = {"resourceType": "CodeSystem", "name": "LNC", "content": "not-present"}
    with pytest.raises(MedlinkError, match=r"E160.*LNC \(not-present\).*expand"):
        _records(_json(tmp_path / "x.json", empty))
    part = {**FHIR, "content": "fragment"}
    bundle = {"resourceType": "Bundle", "entry": [{"resource": empty}, {"resource": part}]}
    with pytest.warns(UserWarning, match=r"W110.*LNC \(not-present\), Sweet \(fragment\)"):
        assert _records(_json(tmp_path / "x.json", bundle))


def _map(relation: str = "equivalent", **facts: Any) -> dict[str, Any]:
    target = {"code": "E11", "equivalence": relation, "comment": "checked"}
    group = {"element": [{"code": "HP:0000001", "target": [target]}, {"code": "none"}],
             "source": "http://human-phenotype-ontology.org|2025",
             "target": "http://hl7.org/fhir/sid/icd-10"}  # fmt: skip
    return {"resourceType": "ConceptMap", "status": "active", "group": [{**group, **facts}]}


@pytest.mark.parametrize(
    "relation, expected",
    [("equivalent", "exact"), ("wider", "broader"), ("specializes", "narrower"), ("disjoint", None),
     ("source-is-narrower-than-target", "broader")],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["json", "xml", "bundle", "tgz"])
def test_a_concept_map_gives_codes(tmp_path, kind, relation, expected):
    resource = _map(relation)
    if kind == "tgz":
        path = _package(tmp_path / "x.tgz", resource, FHIR)
    elif kind == "xml":
        said = f'<equivalence value="{relation}"/><comment value="checked"/>'
        target = f'<target><code value="E11"/>{said}</target>'
        element = f'<element><code value="HP:0000001"/>{target}</element>'
        group = (f'<group><source value="http://human-phenotype-ontology.org"/><target value='
                 f'"http://hl7.org/fhir/sid/icd-10"/>{element}</group>')  # fmt: skip
        path = _xml(
            tmp_path / "x.xml", f'<ConceptMap xmlns="http://hl7.org/fhir">{group}</ConceptMap>'
        )
    else:
        entry = {"resourceType": "Bundle", "entry": [{"resource": resource}]}
        path = _json(tmp_path / "x.json", entry if kind == "bundle" else resource)
    (concept,) = MappingSets([path]).apply([Concept("HP:0000001", "x")])
    assert isinstance(concept, Concept)
    assert concept.maps == (
        (CodeMap("ICD10", "E11", expected, "x", "checked"),) if expected else ()
    )
    assert concept.codes == ({"ICD10": ("E11",)} if expected else {})


@pytest.mark.parametrize(
    "resource, problem",
    [(FHIR, "E160.*no ConceptMap"), ([], "E160.*no ConceptMap"), (_map("like"), "E105.*'like'"),
     (_map(target=""), "E105.*without its target"), (_map(element=[1]), "E105.*no object")],
)  # fmt: skip
def test_what_is_no_concept_map(tmp_path, resource, problem):
    with pytest.raises(MedlinkError, match=problem):
        list(MappingSets([_json(tmp_path / "x.json", resource)]).apply([]))
