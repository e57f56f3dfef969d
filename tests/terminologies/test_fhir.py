import json
import tracemalloc
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.terminologies import json_stream
from spacy_medlink.terminologies.fhir import release_of
from spacy_medlink.types import Record
from tests.kb.reading import FormatFile
from tests.kb.samples import FHIR, FHIR_TEXT, FHIR_VALUE_SET
from tests.tiny import kb_of


@pytest.fixture
def file(tmp_path):
    return FormatFile("fhir", tmp_path / "x.json")


def _read(file: FormatFile, resource: Any) -> dict[str, Record]:
    text = resource if isinstance(resource, str) else json.dumps(resource)
    return {record.id: record for record in file.records(text)}


def _system(*concepts: Any, **facts: Any) -> dict[str, Any]:
    return {"resourceType": "CodeSystem", "url": "http://a.b/x", **facts, "concept": [*concepts]}


def _bundle(*resources: Any) -> dict[str, Any]:
    return {"resourceType": "Bundle", "entry": [{"resource": one} for one in resources]}


def test_keys_in_any_order(file):
    ordered = _read(file, FHIR)
    assert _read(file, json.dumps(FHIR, sort_keys=True)) == ordered
    backwards = json.loads(FHIR_TEXT, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert _read(file, backwards) == ordered


def test_several_systems_stand_before_their_codes(file, tmp_path):
    alone = _read(file, FHIR_VALUE_SET)
    assert list(alone) == ["SWEET:D1", "SNOMEDCT_US:S1", "SNOMEDCT_US:S2"]
    kb = kb_of(tmp_path / "x.kb", file.records(json.dumps(_bundle(FHIR, FHIR_VALUE_SET))))
    assert [name.text for name in kb["SWEET:D1"].names][::4] == ["Sweet disease", "Sugary disease"]
    assert kb.ancestors("SWEET:D2") == {"SWEET:D1": 1, "SWEET:D": 2}
    assert kb["SNOMEDCT_US:S1"].codes == {"SNOMEDCT_US": ("S1",)}
    assert release_of(file.path) == ""


def test_without_end(file):
    deep = '{"concept": [' + '{"code": "a", "concept": [' * 5000
    with pytest.raises(MedlinkError, match=r"E105.*without end"):
        _read(file, deep)
    with pytest.raises(MedlinkError, match=r"E105.*not JSON"):
        _read(file, '{"other": ' + "[" * 100_000)


def test_circles(file, tmp_path):
    concepts = [
        {"code": one, "display": one, "property": [{"code": "parent", "valueCode": up}]}
        for one, up in ("ab", "ba", "cc")
    ]
    records = _read(file, _system(*concepts))
    kb = kb_of(tmp_path / "x.kb", records.values())
    assert kb["a"].parents == ("b",) and kb["c"].parents == ()
    assert set(kb.ancestors("a")) <= {"a", "b"}


def test_memory_does_not_grow_with_the_file(file, monkeypatch):
    monkeypatch.setattr(json_stream, "_CHUNK", 1 << 16)
    peaks = []
    for count in (400, 1_200):
        concepts = [{"code": f"c{n}", "display": f"name {n} " * 40} for n in range(count)]
        file.path.write_text(json.dumps(_system(*concepts)))
        tracemalloc.start()
        assert sum(1 for _ in file.read(file.path, None)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
