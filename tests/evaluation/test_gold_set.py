from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.evaluation import load_gold
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.resolve import Found, find_ids
from spacy_medlink.linking.prepare import Document, prepare
from spacy_medlink.text.lexicon import Lexicon
from spacy_medlink.types import Concept, Mention, Name
from tests.lines import write_lines
from tests.tables import table
from tests.tiny import kb_of

CONCEPTS = [
    Concept("D003924", "Diabetes", (Name("Diabetes"),), codes={"MESH": ("D003924", "D003920")}),
    Concept("114500", "Colon cancer", (Name("Colon cancer"),), codes={"OMIM": ("114500",)}),
    Concept("ORPHA:558", "Marfan", (Name("Marfan"),), codes={"MIM": ("154700",)}),
    Concept("X1", "Cancer", (Name("Cancer"),), codes={"OMIM": ("114500",), "HP": ("HP:0002664",)}),
]


@pytest.fixture(scope="module")
def coded_kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("coded") / "coded.kb"
    return kb_of(path, CONCEPTS)


@table(__file__, "ids_are_found_however_they_are_written")
def test_ids_are_found_however_they_are_written(coded_kb, id, concepts):
    assert _ids_of(coded_kb, find_ids(coded_kb, [id]), id) == set(concepts)


def _ids_of(kb: KnowledgeBase, found: dict[str, Found], id: str) -> set[str]:
    return {kb.concept_at(row).id for row in (found[id].rows if id in found else ())}


@table(__file__, "ids_of_one_vocabulary")
def test_ids_of_one_vocabulary(coded_kb, id, scheme, concepts):
    assert _ids_of(coded_kb, find_ids(coded_kb, [id], scheme), id) == set(concepts)


def test_retired_ids_lead_to_their_successor(tiny_kb):
    found = find_ids(tiny_kb, ["HP:0005978", "HP:0005965", "C0011860", "ICD10CM:E11"])
    assert {one.rows for one in found.values()} == {frozenset({tiny_kb["HP:0005978"].row})}
    assert [one.way for one in found.values()] == ["own", "history", "code", "code"]


def _load(tmp_path: Path, kb: KnowledgeBase, *lines: Any) -> Any:
    return load_gold(write_lines(tmp_path / "gold.jsonl", *lines), kb)


def test_cases(tmp_path, tiny_kb):
    text = "Atrial fibrillation (AFib) was seen; AFib again. Paroxysmal AFib."
    start = text.index("AFib again")
    longer = text.index("Paroxysmal")
    gold = _load(
        tmp_path,
        tiny_kb,
        {"text": text, "mentions": [{"start": start, "end": start + 4, "mention": "AFib",
                                     "ids": ["C0004238", "nothing"], "type": "Disease"},
                                    {"start": longer, "end": len(text) - 1, "ids": ["C0004238"],
                                     "mention": "Paroxysmal AFib"}]},
        {"mention": "AFib", "ids": [], "lang": "de"},
    )  # fmt: skip
    first, longer, second = gold.cases()

    def bare(document: Document, lang: str) -> list[Mention]:
        return prepare(document, Lexicon(), resolve_abbreviations=False)

    assert first.mention.long_form == "Atrial fibrillation"
    assert longer.mention.long_form == "Paroxysmal Atrial fibrillation"
    assert first.mention.right == " again. Paroxysmal AFib."
    assert first.mention.left.endswith("was seen; ")
    assert first.right == {tiny_kb["HP:0005110"].row}
    assert (second.mention.long_form, second.right, second.lang) == ("", frozenset(), "de")
    assert first.doc != second.doc
    assert not next(iter(gold.cases(bare))).mention.long_form


def test_a_file_of_nils_has_nothing_to_link(tmp_path, tiny_kb):
    with pytest.raises(MedlinkError, match="E407"):
        _load(tmp_path, tiny_kb, {"mention": "x", "ids": []})
