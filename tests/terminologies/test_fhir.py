import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.terminologies import json_stream
from spacy_medlink.terminologies.fhir import release_of
from spacy_medlink.types import Concept, Name, Record, Relation, Retired
from tests.kb.reading import FormatFile
from tests.kb.samples import FHIR, FHIR_TEXT, FHIR_VALUE_SET


@pytest.fixture
def file(tmp_path: Path) -> FormatFile:
    return FormatFile("fhir", tmp_path / "x.json")


def _read(file: FormatFile, resource: Any) -> dict[str, Record]:
    text = resource if isinstance(resource, str) else json.dumps(resource)
    return {record.id: record for record in file.records(text)}


def _concept(file: FormatFile, resource: Any, id: str) -> Concept:
    concept = _read(file, resource)[id]
    assert isinstance(concept, Concept)
    return concept


def _system(*concepts: Any, **facts: Any) -> dict[str, Any]:
    return {"resourceType": "CodeSystem", "url": "http://a.b/x", **facts, "concept": [*concepts]}


def _bundle(*resources: Any) -> dict[str, Any]:
    return {"resourceType": "Bundle", "entry": [{"resource": one} for one in resources]}


def test_code_system(file: FormatFile) -> None:
    records = _read(file, FHIR_TEXT)
    assert list(records) == ["D", "D1", "D2", "D3", "D4", "D5", "F", "F1"]
    assert records["D5"] == Concept("D5", "", codes={"SWEET": ("D5",)})  # a build counts it
    assert records["D1"] == Concept(
        "D1", "Sweet disease",
        (
            Name("Sweet disease", "en", "SWEET", "PT"),
            Name("Zuckersache", "de", "SWEET", "SY"),
            Name("Sweet disease (disease)", "en", "SWEET", "FSN"),
            Name("SD", "en", "SWEET", "abbreviation"),
        ),
        codes={"SWEET": ("D1",)}, parents=("D",),
        relations=(Relation("isa", "D", "SWEET"), Relation("site", "F", "SWEET")),
    )  # fmt: skip
    parents = {id: one.parents for id, one in records.items() if isinstance(one, Concept)}
    # Nested, by a property of another name, and told by the parent.
    assert parents == {"D": (), "D1": ("D",), "D2": ("D1",), "D5": (), "F": (), "F1": ("F",)}
    assert records["D3"] == Retired("D3", "", "inactive")
    assert records["D4"] == Retired("D4", "", "inactive")
    assert release_of(file.path) == "2026"


@pytest.mark.parametrize("url", ["http://a.b/x", ""])
def test_a_code_of_another_system_is_no_code_of_this_one(file: FormatFile, url: str) -> None:
    def coding(kind: str, system: str) -> dict[str, Any]:
        return {"code": kind, "valueCoding": {"system": system, "code": "2"}}

    foreign = [coding(kind, "http://loinc.org") for kind in ("parent", "child", "site")]
    own = [coding(kind, "http://a.b/x") for kind in ("parent", "method")]
    concept = {"code": "1", "display": "one", "property": [*foreign, *own]}
    records = _read(file, _system(concept, {"code": "2", "display": "2"}, url=url))
    first, second = records["1"], records["2"]
    assert isinstance(first, Concept) and isinstance(second, Concept)
    assert first.parents == ("2",)
    assert second.parents == (() if url else ("1",))  # without an address, any code is its own
    related = [(relation.relation, relation.id) for relation in first.relations]
    assert related == [("isa", "2"), ("site", "LNC:2" if url else "2"), ("method", "2")]


def test_codes_of_other_systems_of_a_bundle(file: FormatFile) -> None:
    site = {"code": "site", "valueCoding": {"system": "http://a.b/y", "code": "1"}}
    first = _system({"code": "1", "display": "one", "property": [site]})
    second = _system({"code": "1", "display": "eye"}, url="http://a.b/y")
    concept = _concept(file, _bundle(first, second), "X:1")
    assert concept.relations == (Relation("site", "Y:1", "X"),)


def test_keys_in_any_order(file: FormatFile) -> None:
    ordered = _read(file, FHIR)
    assert _read(file, json.dumps(FHIR, sort_keys=True)) == ordered
    backwards = json.loads(FHIR_TEXT, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert _read(file, backwards) == ordered


def test_several_systems_stand_before_their_codes(file: FormatFile, tmp_path: Path) -> None:
    alone = _read(file, FHIR_VALUE_SET)
    assert list(alone) == ["SWEET:D1", "SNOMEDCT_US:S1", "SNOMEDCT_US:S2"]
    build_kb(tmp_path / "x.kb", file.records(json.dumps(_bundle(FHIR, FHIR_VALUE_SET))))
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert [name.text for name in kb["SWEET:D1"].names][::4] == ["Sweet disease", "Sugary disease"]
    assert kb.ancestors("SWEET:D2") == {"SWEET:D1": 1, "SWEET:D": 2}
    assert kb["SNOMEDCT_US:S1"].codes == {"SNOMEDCT_US": ("S1",)}
    assert release_of(file.path) == ""


def test_resources_that_are_not_read_are_counted(file: FormatFile) -> None:
    others: list[dict[str, Any]] = [
        {"group": [], "resourceType": "ConceptMap"}, {"resourceType": "ConceptMap"},
        {"resourceType": "Patient"}, _bundle(FHIR_VALUE_SET), {"id": "x"},
    ]  # fmt: skip
    system = _system({"code": "a", "display": "fever"}, contained=[FHIR_VALUE_SET, {}])
    with pytest.warns(UserWarning, match="W110") as told:
        assert list(_read(file, _bundle(system, *others))) == ["a"]
    counts = ("ConceptMap 2", "Patient 1", "Bundle 1", "contained 2", "without a type 1")
    assert all(count in str(told[0].message) for count in counts)


def test_an_expansion_is_more_than_what_is_composed(file: FormatFile) -> None:
    contains = [
        {"display": "A heading", "abstract": True, "contains": [
            {"system": "http://a.b/x", "code": "1", "display": "one"},
            {"system": "http://a.b/x", "code": "2", "display": "two", "inactive": True},
        ]},
    ]  # fmt: skip
    records = _read(file, {**FHIR_VALUE_SET, "expansion": {"contains": contains}})
    one, two = records["1"], records["2"]
    assert isinstance(one, Concept) and (one.name, one.parents) == ("one", ())
    assert isinstance(two, Retired) and len(records) == 2


def test_a_translation_is_of_the_system_that_it_supplements(file: FormatFile) -> None:
    extra = {"code": "D1", "designation": [{"language": "fr", "value": "maladie sucrée"}]}
    other = _system(extra, supplements=f"{FHIR['url']}|2026")
    records = list(_read(file, _bundle(other)).values())
    assert records == [
        Concept(
            "D1", "maladie sucrée", (Name("maladie sucrée", "fr", "SWEET", "SY"),),
            codes={"SWEET": ("D1",)},
        )
    ]  # fmt: skip


def test_parts(file: FormatFile) -> None:
    part = {"code": "2", "display": "toe"}
    whole = _system({"code": "1", "display": "foot", "concept": [part]}, hierarchyMeaning="part-of")
    toe = _concept(file, whole, "2")
    assert (toe.parents, toe.relations) == ((), (Relation("part_of", "1", "X"),))


@pytest.mark.parametrize(
    ("concept", "problem"),
    [
        ({"display": "a"}, "an empty code"),
        ({"code": 7, "display": "a"}, '"code" is not a string'),
        ({"code": "x\u200b", "display": "a"}, "invisible"),
        ({"code": "x", "display": "a\ud800"}, "surrogate"),
        ({"code": "x", "display": ["a"]}, '"display" is not a string'),
        ({"code": "x", "designation": [{"language": "en"}]}, "an empty designation"),
        ({"code": "x", "designation": {"value": "a"}}, '"designation" is not a list'),
        ({"code": "x", "property": [{"valueCode": "y"}]}, "an empty code of a property"),
        ("x", "a concept that is not an object"),
    ],
)
def test_bad_concepts(file: FormatFile, concept: Any, problem: str) -> None:
    text = json.dumps(_system({"code": "1", "display": "one"}, concept), indent=0)
    _, [(line, said)] = file.bad(text)
    assert line in (8, 9) and problem in said


@pytest.mark.parametrize(
    "part",
    [
        {"designation": [{"value": " "}, {"value": "eins", "language": "de"}]},
        {"designation": [{"value": "eins", "language": "de"}, {"language": "fr"}]},
        {"designation": [{"value": "eins", "language": "de"}], "definition": 7},
        {"designation": [{"value": "eins", "language": "de"}], "property": [{"valueCode": "y"}]},
        {"designation": [{"value": "eins", "language": "de"}, {"value": "a\ud800"}]},
    ],
)
def test_a_bad_part_leaves_the_rest_of_a_concept(file: FormatFile, part: dict[str, Any]) -> None:
    (concept,), bad = file.bad(json.dumps(_system({"code": "1", "display": "one", **part})))
    assert isinstance(concept, Concept) and len(bad) == 1
    assert [name.text for name in concept.names] == ["one", "eins"]


def _composed(*include: Any, exclude: Any = (), **facts: Any) -> dict[str, Any]:
    compose = {"include": [*include], "exclude": [*exclude]}
    return {"resourceType": "ValueSet", "url": "http://a.b/set", "compose": compose, **facts}


def _codes(system: str, *codes: str) -> dict[str, Any]:
    return {"system": system, "concept": [{"code": code, "display": code} for code in codes]}


@pytest.mark.parametrize("order", [1, -1])
def test_what_a_value_set_excludes(file: FormatFile, order: int) -> None:
    x, y = "http://a.b/x", "http://a.b/y"
    out = [_codes(x, "2", "4"), {"system": "http://a.b/z"}]
    resource = _composed(
        _codes(x, "1", "2", "3"), _codes(y, "2"), _codes("http://a.b/z", "5"), exclude=out
    )
    resource["compose"] = dict(list(resource["compose"].items())[::order])
    assert list(_read(file, resource)) == ["X:1", "X:3", "Y:2"]


@pytest.mark.parametrize(
    ("resource", "problem"),
    [
        (_composed({"system": "http://a.b/x", "filter": [{"op": "is-a"}]}), "an include .filter."),
        (_composed({"valueSet": ["http://a.b/other"]}), "an include .valueSet."),
        (_composed({"system": "http://a.b/x"}), "an include .system."),
        (_composed({**_codes("http://a.b/x", "1"), "valueSet": ["http://a.b/y|2"]}), "valueSet"),
        (_composed(exclude=[{"system": "http://a.b/x", "filter": [{}]}]), "an exclude .filter."),
        (_composed(exclude=[{"valueSet": ["http://a.b/set"]}]), "an exclude .valueSet."),
        (
            _composed(expansion={"total": 1200, "contains": _codes("", "1", "2")["concept"]}),
            "2 of 1,200 codes",
        ),
    ],
)  # fmt: skip
def test_codes_that_are_not_listed_are_said_to_be_missing(
    file: FormatFile, resource: dict[str, Any], problem: str
) -> None:
    own = _composed(_codes("http://own", "7"), url="http://own/set")
    text = json.dumps(_bundle(own, resource), indent=1)
    with pytest.raises(MedlinkError, match=rf"{problem}.*\$expand"):
        file.records(text)
    records, bad = file.bad(text)
    assert any(record.id.endswith("7") for record in records) and len(bad) == 1


def test_codes_that_the_file_has_are_not_missing(file: FormatFile) -> None:
    system = _system({"code": "1", "display": "one"})
    other = _composed(_codes("http://a.b/x", "1"), url="http://a.b/other")
    chosen = _composed(
        {"system": "http://a.b/x", "filter": [{}]}, {"valueSet": ["http://a.b/other|2"]}
    )
    assert list(_read(file, _bundle(chosen, other, system))) == ["1"]


@pytest.mark.parametrize("text", ["[]", "{}", '{"resourceType": "Patient"}', '{"graphs": []}'])
def test_other_json(file: FormatFile, text: str) -> None:
    with pytest.raises(MedlinkError, match=r"E105.*resourceType.*CodeSystem or ValueSet"):
        _read(file, text)


@pytest.mark.parametrize("text", ["", FHIR_TEXT[:300], FHIR_TEXT + "x", '{"concept": [{]}'])
def test_no_json(file: FormatFile, text: str) -> None:
    with pytest.raises(MedlinkError, match=r"E105.*x.json, line \d+"):
        file.records(text)


def test_without_end(file: FormatFile) -> None:
    deep = '{"concept": [' + '{"code": "a", "concept": [' * 5000
    with pytest.raises(MedlinkError, match=r"E105.*without end"):
        _read(file, deep)
    with pytest.raises(MedlinkError, match=r"E105.*not JSON"):
        _read(file, '{"other": ' + "[" * 100_000)


def test_circles(file: FormatFile, tmp_path: Path) -> None:
    concepts = [
        {"code": one, "display": one, "property": [{"code": "parent", "valueCode": up}]}
        for one, up in ("ab", "ba", "cc")
    ]
    records = _read(file, _system(*concepts))
    build_kb(tmp_path / "x.kb", records.values())
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert kb["a"].parents == ("b",) and kb["c"].parents == ()
    assert set(kb.ancestors("a")) <= {"a", "b"}


def test_memory_does_not_grow_with_the_file(
    file: FormatFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", 1 << 16)
    peaks = []
    for count in (1_500, 4_500):
        concepts = [{"code": f"c{n}", "display": f"name {n} " * 40} for n in range(count)]
        file.path.write_text(json.dumps(_system(*concepts)))
        tracemalloc.start()
        assert sum(1 for _ in file.read(file.path, None)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
