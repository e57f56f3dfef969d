"""What annotation tools ask of the service, in their own words."""

from collections.abc import Iterator
from typing import Any

import pytest

from spacy_medlink.assets import Assets

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("cassis")
import cassis
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.serve import Desk, make_app  # imports fastapi

TEXT = "No fever 😀, known asthma."
LAYER, FEATURE = "custom.Concept", "identifier"
CONFIG = (
    '<View><Labels name="kind" toName="note"><Label value="DISO"/></Labels>'
    '<Text name="note" value="$body"/><TextArea name="id" toName="note" perRegion="true"/></View>'
)


@pytest.fixture(scope="module")
def client(tiny_assets: Assets) -> Iterator[TestClient]:
    desk = Desk("tiny", str(tiny_assets.path), device="cpu")
    yield TestClient(make_app([desk]), base_url="http://127.0.0.1")
    desk.close()


def test_label_studio(client: TestClient) -> None:
    assert client.get("/label-studio/health").json()["status"] == "UP"
    assert "model_version" in client.post("/label-studio/setup", json={"project": "1.2"}).json()
    tasks = [{"id": 1, "data": {"body": TEXT}}, {"id": 2, "data": {"body": ""}}]
    asked = {"tasks": tasks, "label_config": CONFIG, "project": "1.2", "params": {}}
    answer = client.post("/label-studio/predict", json=asked)
    first, second = answer.json()["results"]
    assert second["result"] == []
    fever, its_id, asthma, other_id = first["result"]
    assert (fever["from_name"], fever["to_name"], fever["type"]) == ("kind", "note", "labels")
    assert (its_id["from_name"], its_id["value"]["text"]) == ("id", ["HP:0001945"])
    units = TEXT.encode("utf-16-le")
    for one in (fever, asthma):
        start, end = one["value"]["start"], one["value"]["end"]
        assert units[2 * start : 2 * end].decode("utf-16-le") == one["value"]["text"]
    assert other_id["value"]["text"] == ["HP:0002099"]


@pytest.mark.parametrize(
    "body",
    [
        {"tasks": [{"data": {"body": TEXT}}]},
        {"tasks": [{"data": {"text": 1}}]},
        {"tasks": [{"data": {"text": TEXT}}], "label_config": "<View"},
        {"tasks": [{"data": {"text": TEXT}}], "label_config": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"},
        {"tasks": [1]},
        {"tasks": [{"data": 1}]},
        {"tasks": [{}]},
    ],
)
def test_what_label_studio_must_not_send(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post("/label-studio/predict", json=body)
    assert 400 <= answer.status_code < 500, answer.text


def _document(text: str) -> dict[str, Any]:
    types = cassis.TypeSystem()
    kind = types.create_type(LAYER, "uima.tcas.Annotation")
    for name, value in (
        (FEATURE, "uima.cas.String"),
        (f"{FEATURE}_score", "uima.cas.Double"),
        ("inception_internal_predicted", "uima.cas.Boolean"),
    ):
        types.create_feature(kind, name, value)
    cas = cassis.Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = text, "text/plain"
    about = {"layer": LAYER, "feature": FEATURE, "projectId": 1, "anchoringMode": "tokens"}
    document = {"xmi": cas.to_xmi(), "documentId": 7, "userId": "me"}
    return {"metadata": about, "document": document, "typeSystem": types.to_xml()}


def test_inception(client: TestClient) -> None:
    asked = _document(TEXT)
    answer = client.post("/inception/predict", json=asked)
    types = cassis.load_typesystem(asked["typeSystem"])
    cas = cassis.load_cas_from_xmi(answer.json()["document"], types)
    found = [(one.get_covered_text(), one.identifier) for one in cas.select(LAYER)]
    assert found == [("fever", "HP:0001945"), ("asthma", "HP:0002099")]
    assert all(0 < one.identifier_score <= 1 for one in cas.select(LAYER))
    assert all(one.inception_internal_predicted for one in cas.select(LAYER))
    assert cas.sofa_string == TEXT
    assert client.post("/inception/train", json=asked).status_code == 204


@pytest.mark.parametrize("wrong", ["xmi", "typeSystem", "layer", "entity"])
def test_what_inception_must_not_send(client: TestClient, wrong: str) -> None:
    asked = _document(TEXT)
    if wrong == "layer":
        asked["metadata"]["layer"] = "custom.Other"
    elif wrong == "typeSystem":
        asked["typeSystem"] = "<"
    else:
        doctype = '<!DOCTYPE a [<!ENTITY b "c">]>' if wrong == "entity" else "<"
        asked["document"]["xmi"] = doctype + asked["document"]["xmi"]
    answer = client.post("/inception/predict", json=asked)
    assert 400 <= answer.status_code < 500 and "E668" in answer.text, answer.text
