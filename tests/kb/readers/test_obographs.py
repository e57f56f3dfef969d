import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.obographs import release_of
from spacy_medlink.types import BadLine, Concept, Name, Relation, Retired
from tests.kb import samples

PURL = "http://purl.obolibrary.org/obo/"


def _write(path: Path, nodes: list[Any], edges: Sequence[Any] = ()) -> Path:
    path.write_text(json.dumps({"graphs": [{"edges": edges, "nodes": nodes}]}, indent=1))
    return path


def test_graph(tmp_path: Path) -> None:
    path = tmp_path / "hp.json"
    path.write_text(samples.OBOGRAPHS_TEXT)
    assert list(read("obographs", path)) == [
        Concept(
            "HP:0000118", "Phenotypic abnormality",
            (Name("Phenotypic abnormality", "en", "HP", "PT"),),
        ),
        Concept(
            "HP:0000819", "Diabetes mellitus",
            (
                Name("Diabetes mellitus", "en", "HP", "PT"),
                Name("DM", "en", "HP", "EXACT abbreviation"),
                Name("Sugar diabetes", "en", "HP", "RELATED"),
            ),
            types=("human_phenotype",), definition="Too much glucose.",
            codes={"UMLS": ("C0011849",), "SNOMEDCT_US": ("73211009",)}, parents=("HP:0000118",),
            relations=(
                Relation("isa", "HP:0000118", "HP"), Relation("part_of", "UBERON:0000001", "HP"),
            ),
        ),
        Retired("HP:0008217", "HP:0000819", "merged"),
        Retired("HP:0000820", "HP:0000819", "obsolete"),
    ]  # fmt: skip
    assert release_of(path) == f"{PURL}hp/releases/2024-01-01/hp.owl"


@pytest.mark.parametrize("place", ["first", "last", "missing"])
def test_names_come_from_the_ontology_not_from_the_file(tmp_path: Path, place: str) -> None:
    graph = json.loads(samples.OBOGRAPHS_TEXT)["graphs"][0]
    graph.pop("id", None)
    own = {"id": f"{PURL}hp.json"}
    told = {"first": {**own, **graph}, "last": {**graph, **own}, "missing": graph}[place]
    path = tmp_path / "download (1).json"
    path.write_text(json.dumps({"graphs": [told]}))
    concepts = [record for record in read("obographs", path) if isinstance(record, Concept)]
    assert {name.source for concept in concepts for name in concept.names} == {"HP"}


def test_several_graphs_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    graphs = [{"nodes": [{"id": f"A:{n}", "lbl": f"a{n}"}]} for n in range(3)]
    path.write_text(json.dumps({"meta": {}, "graphs": graphs}))
    assert [record.id for record in read("obographs", path)] == ["A:0", "A:1", "A:2"]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ({"lbl": "a"}, "an empty id"),
        ({"id": 7, "lbl": "a"}, '"id" is not a string'),
        ({"id": "A:\ud800", "lbl": "a"}, "surrogate"),
        ({"id": "A:1", "lbl": "a\0"}, "NUL"),
        ({"id": "A:1", "lbl": "a", "meta": []}, ""),  # an empty meta of another type is harmless
        ({"id": "A:1", "lbl": "a", "meta": [1]}, "meta is not an object"),
        ({"id": "A:1", "meta": {"synonyms": [{"val": "x"}]}}, "an empty lbl"),
        ({"id": "A:1", "lbl": "a", "meta": {"synonyms": ["x"]}}, "not an object"),
        ({"id": "A:1", "lbl": "a", "meta": {"xrefs": {"x": 1}}}, '"xrefs" is not a list'),
        ({"id": "A:1", "lbl": "a", "meta": {"synonyms": [{"val": " "}]}}, "an empty synonym"),
        ("A:1", "node is not an object"),
    ],
)
def test_bad_nodes(tmp_path: Path, node: Any, problem: str) -> None:
    path = _write(tmp_path / "x.json", [{"id": "A:0", "lbl": "zero"}, node])
    if not problem:
        assert len(list(read("obographs", path))) == 2
        return
    with pytest.raises(MedlinkError, match="E105") as caught:
        list(read("obographs", path))
    assert problem in caught.value.message
    assert f"{path}, line 10: " in caught.value.message
    bad: list[BadLine] = []
    assert next(read("obographs", path, bad)).id == "A:0"
    list(read("obographs", path, bad))


@pytest.mark.parametrize(
    ("edge", "problem"),
    [
        ({"sub": "A:0", "pred": "is_a"}, "an empty obj"),
        ({"sub": "A:9", "pred": "is_a", "obj": "A:0"}, "'A:9', which is no node"),
        (["A:0", "is_a", "A:0"], "edge is not an object"),
    ],
)
def test_bad_edges(tmp_path: Path, edge: Any, problem: str) -> None:
    path = _write(tmp_path / "x.json", [{"id": "A:0", "lbl": "zero"}], [edge])
    with pytest.raises(MedlinkError, match=f"E105.*line 5: .*{problem}"):
        list(read("obographs", path))
    bad: list[BadLine] = []
    assert len(list(read("obographs", path, bad))) == 1
    assert [bad_line.line for bad_line in bad] == [5]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("[]", 1),
        ('{"graphs": {}}', 1),
        ('{\n"graphs": [{"nodes": [\n{"id": "A:0", "lbl": "x"},\n{"id": "A:1"', 4),
        ('{\n"graphs": [\n]\n}\n}', 5),
        ('{"graphs": [{"nodes": [{"id": "A:0" "lbl": "x"}]}]}', 1),
        ('{\n"graphs": [{"nodes": [' + "1" * 5000 + "]}]}", 2),
        ("[" * 100_000, 1),
        ('{"graphs": [{"nodes": ' + "[" * 100_000, 1),
    ],
)
def test_what_is_not_json_cannot_be_skipped(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    for bad in (None, []):
        with pytest.raises(MedlinkError, match=rf"E105.*x.json, line {line}: "):
            list(read("obographs", path, bad))


def test_characters_cut_by_the_buffer(tmp_path: Path) -> None:
    """Values and characters of several bytes lie across the ends of what is read at once."""
    nodes = [{"id": f"A:{n}", "lbl": "é😀" * (3000 + n)} for n in range(60)]
    path = tmp_path / "x.json"
    for shift in range(4):
        text = json.dumps({"graphs": [{"nodes": nodes}]}, ensure_ascii=False)
        path.write_text(" " * shift + text, encoding="utf8")
        names = [record.name for record in read("obographs", path) if isinstance(record, Concept)]
        assert names == [node["lbl"] for node in nodes]


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    node = json.dumps({"id": "A:%d", "lbl": "a name that repeats " * 20, "meta": {"xrefs": []}})
    with path.open("w") as file:
        file.write('{"graphs": [{"logicalDefinitionAxioms": [')
        file.write(",".join([node % 0] * 10_000))
        file.write('], "nodes": [')
        file.write(",".join(node % number for number in range(10_000)))
        file.write("]}]}")
    tracemalloc.start()
    try:
        count = sum(1 for _ in read("obographs", path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 10_000
    assert path.stat().st_size > 7_500_000
    assert peak < 5_000_000
