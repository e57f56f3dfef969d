"""Entities, all mentions and what FastHPOCR finds stand in one table, by four scorers."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchmarks import abstracts, peers, raw_text
from spacy_medlink.evaluation.gold_set import GoldSet, load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Concept, Name, Retired
from tests.tiny import assets_of

TEXT = "Ulcerative colitis, colitis. Asthma."
ULCER, COLITIS, OTHER = ("ULCER", 0, 18), ("COLITIS", 20, 27), ("OTHER", 29, 35)
SCORERS = ("strict", "relaxed", "bag", "document")
Found = list[tuple[str, int, int]]


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Assets of two abnormalities and another concept, and GSC+ in two parts beside."""
    names = {"HP:0000118": "Abnormality", "COLITIS": "Colitis", "ULCER": "Ulcerative colitis"}
    above = {"COLITIS": ("HP:0000118",), "ULCER": ("COLITIS",)}
    concepts = [
        Concept(id, name, (Name(name),), parents=above.get(id, ()))
        for id, name in {**names, "OTHER": "Asthma"}.items()
    ]
    mentions = [
        {"start": start, "end": end, "mention": TEXT[start:end], "ids": [id], "type": "Disease"}
        for id, start, end in (ULCER, ("OLD", 20, 27), OTHER)
    ]
    document = {"lang": "en", "text": TEXT, "mentions": mentions}
    for part in ("one", "two"):
        (tmp_path / part).write_text(json.dumps({**document, "doc_id": part}), "utf-8")
    monkeypatch.setattr(raw_text, "DATA", tmp_path)
    monkeypatch.setattr(raw_text, "PHENOTYPES", {"GSC+": ("one", "two")})
    return assets_of(tmp_path, [*concepts, Retired("OLD", "COLITIS", "obsolete")]).path


def spans(found: Found) -> list[tuple[int, int, str]]:
    return [(start, end, id) for id, start, end in found]


@pytest.mark.parametrize(
    ("found", "f1"),
    [
        ([ULCER, COLITIS, OTHER, ("NIL", 0, 10), ("", 0, 4)], (100, 100, 100, 100)),
        ([("ULCER", 0, 10), COLITIS], (50, 100, 100, 100)),  # other boundaries
        ([("ULCER", 28, 36), COLITIS], (50, 50, 100, 100)),  # elsewhere
        ([ULCER, ("ULCER", 0, 10), COLITIS], (80, 100, 80, 100)),  # twice
        ([ULCER, ULCER, COLITIS], (100, 100, 100, 100)),  # the same span counts once
        ([ULCER, ("ULCER", 20, 27)], (50, 50, 50, 67)),  # another concept
        ([OTHER], (0, 0, 0, 0)),  # no phenotype
        ([], (0, 0, 0, 0)),
    ],
)
def test_scorers(assets: Path, tmp_path: Path, found: Found, f1: tuple[int, ...]) -> None:
    kb = KnowledgeBase(assets / "kb.sqlite")
    among = np.array([id != "OTHER" for id in kb.iter_ids()])
    scores = raw_text.score(kb, load_gold(tmp_path / "one", kb), [spans(found)], among)
    assert tuple(round(scores[f"{scorer} F1"]) for scorer in SCORERS) == f1


def test_ids_that_the_kb_lacks_count_as_not_found(assets: Path, tmp_path: Path) -> None:
    kb = KnowledgeBase(assets / "kb.sqlite")
    gold = load_gold(tmp_path / "one", kb)
    unknown = GoldSet(gold.path, gold.documents, {"ULCER": gold.found["ULCER"]})
    scores = raw_text.score(kb, unknown, [spans([ULCER])], np.ones(len(kb), bool))
    assert round(scores["strict R"]) == round(scores["bag R"]) == 33


def test_ways_and_another_program(
    assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fasthpocr(work: Path) -> Callable[..., list[tuple[int, int, str]]]:
        return lambda text, longest: spans([ULCER] if longest else [ULCER, COLITIS, COLITIS])

    monkeypatch.setattr(peers, "fasthpocr", fasthpocr)
    monkeypatch.setattr(raw_text, "CORPORA", ["corpus"])
    monkeypatch.setattr(raw_text, "diseases", lambda corpus, part, workplace: tmp_path / part)
    output = tmp_path / "raw.json"
    raw_text.main(assets, assets, "one", tmp_path, str(tmp_path), output)
    rows = {(row["texts"], row["way"]): row for row in json.loads(output.read_text())["rows"]}
    strict = {key: (round(row["strict P"]), round(row["strict R"])) for key, row in rows.items()}
    assert strict == {  # doc.spans has the head "colitis" in "Ulcerative colitis", too
        ("GSC+", "doc.ents"): (100, 100),
        ("GSC+", "doc.spans"): (67, 100),
        ("GSC+", "FastHPOCR"): (100, 100),
        ("GSC+", "FastHPOCR, longest"): (100, 50),
        ("corpus", "doc.ents"): (100, 100),
        ("corpus", "doc.spans"): (75, 100),
    }


def test_fasthpocr_makes_its_index_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Index:
        clusters = {"one": "C1", "two": "C2", "first": "C1"}

        def __init__(self, ontology: str, output: str) -> None:
            self.output = Path(output)
            assert Path(ontology).is_file()

        def index(self) -> None:
            words_of = getattr(self, "compileClusterList")  # noqa: B009
            made.append([words_of(its, self.clusters) for its in ("C1", "C2", "C3")])
            (self.output / "hp.index").write_text("{}")

    class Annotator:
        def __init__(self, index: str) -> None:
            assert Path(index).read_text() == "{}"

        def annotate(self, text: str, **settings: bool) -> list[SimpleNamespace]:
            end = len(text) if settings["longestMatch"] else 1
            return [SimpleNamespace(startOffset=0, endOffset=end, hpoUri="HP:1")]

    modules = {"IndexHPO": {"IndexHPO": Index, "CRIndexKB": Index}}
    modules["HPOAnnotator"] = {"HPOAnnotator": Annotator}
    for name, members in modules.items():
        module = ModuleType(f"FastHPOCR.{name}")
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "FastHPOCR", ModuleType("FastHPOCR"))
    monkeypatch.setattr("training.embedded.place_ontology", lambda path: path.write_text("obo"))
    for _ in range(2):
        find = peers.fasthpocr(tmp_path / "work")
    assert made == [[["one", "first"], ["two"], []]]
    assert find("abc") == [(0, 1, "HP:1")] and find("abc", longest=True) == [(0, 3, "HP:1")]


def test_cost_of_an_abstract(assets: Path, tmp_path: Path) -> None:
    output = tmp_path / "cost.json"
    abstracts.main([f"Ours={assets}"], None, "", tmp_path / "one", 1, output)
    (row,) = json.loads(output.read_text())["rows"]
    assert (row["reader"], row["words"]) == ("Ours", 4)
    assert row["ms"] > 0 and row["ms again"] > 0
