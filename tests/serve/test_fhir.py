"""FHIR's terminology operations: R4's resources, for what is there and for what is not."""

from collections.abc import Iterator
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from spacy_medlink.assets import Assets

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.serve import Desk, make_app  # imports fastapi

HP, ICD, UMLS = (
    "http://human-phenotype-ontology.org", "http://hl7.org/fhir/sid/icd-10-cm",
    "http://www.nlm.nih.gov/research/umls",
)  # fmt: skip


@pytest.fixture(scope="module")
def client(tiny_assets: Assets) -> Iterator[TestClient]:
    desk = Desk("tiny", str(tiny_assets.path), device="cpu")
    yield TestClient(make_app([desk]), base_url="http://127.0.0.1")
    desk.close()


def _ask(client: TestClient, operation: str, status: int = 200, **given: Any) -> Any:
    answer = client.get(f"/fhir/{operation}", params=given)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/fhir+json")
    data = answer.json()
    return get_fhir_model_class(data["resourceType"]).model_validate(data)


def _named(parameters: Any, name: str) -> list[Any]:
    return [one for one in parameters.parameter if one.name == name]


def test_lookup(client: TestClient) -> None:
    found = _ask(client, "CodeSystem/$lookup", system=HP, code="HP:0005978")
    assert _named(found, "display")[0].valueString == "Type II diabetes mellitus"
    names = {
        one.part[-1].valueString: one.part[0].valueCode for one in _named(found, "designation")
    }
    assert names["diabetes tipo 2"] == "es"
    values = [(one.part[0].valueCode, one.part[1]) for one in _named(found, "property")]
    assert values[0][1].valueString.startswith("Diabetes in which")
    assert ("parent", "HP:0000819") in [(key, one.valueCode) for key, one in values]


def test_validate_code(client: TestClient) -> None:
    def said(**given: str) -> tuple[bool, str | None]:
        found = _ask(client, "CodeSystem/$validate-code", url=HP, **given)
        message = _named(found, "message")
        return _named(found, "result")[0].valueBoolean, message[0].valueString if message else None

    assert said(code="HP:0001945") == (True, None)
    assert said(code="HP:0001945", display="pyrexia") == (True, None)
    assert said(code="HP:0001945", display="cough") == (False, "The code has no such name.")
    assert said(code="HP:9") == (False, "There is no such code.")


def test_translate(client: TestClient) -> None:
    def said(**given: str) -> list[tuple[str, str, str]]:
        found = _ask(client, "ConceptMap/$translate", **given)
        matches = [one.part for one in _named(found, "match")]
        assert _named(found, "result")[0].valueBoolean == bool(matches)
        return [
            (part[0].valueCode, part[1].valueCoding.system, part[1].valueCoding.code)
            for part in matches
        ]

    both = [("relatedto", ICD, "E11"), ("relatedto", UMLS, "C0011860")]
    assert said(system=HP, code="HP:0005978") == both
    assert said(system=HP, code="HP:0005978", targetsystem=UMLS) == both[1:]
    assert said(system=ICD, code="E11") == [("relatedto", HP, "HP:0005978")]
    assert said(system=ICD, code="Z99") == []


def test_expand(client: TestClient) -> None:
    found = _ask(client, "ValueSet/$expand", filter="diabetes", count=2)
    assert len(found.expansion.contains) == 2
    assert {one.system for one in found.expansion.contains} == {HP}
    assert _ask(client, "ValueSet/$expand", filter="<script>").expansion.contains is None


def test_what_is_wrong_is_an_operation_outcome(client: TestClient) -> None:
    for operation in ("CodeSystem/$lookup", "CodeSystem/$validate-code", "ConceptMap/$translate"):
        outcome = _ask(client, operation, status=400, code="1")
        assert outcome.issue[0].code == "required"
    given = {"system": HP, "code": "HP:9\0<b>"}
    outcome = _ask(client, "CodeSystem/$lookup", status=404, **given)
    assert outcome.issue[0].code == "not-found"
    _ask(client, "ConceptMap/$translate", status=404, system=HP, code="9" * 10_000)
    outcome = _ask(client, "ValueSet/$expand", status=404, terminology="other")
    assert outcome.issue[0].code == "not-found"
    assert client.get("/fhir/ValueSet/$expand", params={"count": -1}).status_code == 422
