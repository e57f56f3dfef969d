"""Endings of composed codes: what they are learned from, and that a ranker uses them."""

import json

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.layout import ENDINGS_FILE
from spacy_medlink.building import build_assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting.endings import ending_examples, learn_endings
from spacy_medlink.fitting.ranker import fit_ranker
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.linking.endings import LEAST
from spacy_medlink.linking.ranker import Chain
from spacy_medlink.retrieval.memory import Remembered
from spacy_medlink.types import FROM_MENTIONS, Concept, Mention, Name

SITES = (
    "heart lung liver kidney spleen stomach bladder thyroid pancreas prostate colon skin".split()
)
KINDS = "carcinoma sarcoma glioma melanoma lymphoma adenoma thymoma myeloma".split()
BODIES = [(kind, site) for kind in KINDS for site in SITES]
# How far it has spread is in the code; names say it in words that annotators do not use.
STAGES = {"3": "", "6": ", secondary"}
CONCEPTS = [
    Concept(f"{8000 + n}/{end}", f"{kind} of {site}{said}", (Name(f"{kind}, {site}{said}"),))
    for n, (kind, site) in enumerate(BODIES) for end, said in STAGES.items()
]  # fmt: skip


def said_of(number, end):
    kind, site = BODIES[number]
    return f"{kind} in the {site}" + (" that has spread" if end == "6" else "")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("endings")
    build_kb(path / "kb", CONCEPTS)
    lines = []
    for number in range(len(BODIES)):
        end = "36"[number % 2]
        said = said_of(number, end)
        own = {"start": 0, "end": len(said), "mention": said, "ids": [f"{8000 + number}/{end}"]}
        lines.append(json.dumps({"doc_id": str(number), "text": said, "mentions": [own]}) + "\n")
    (path / "gold.jsonl").write_text("".join(lines), encoding="utf-8")
    build_assets(path / "assets", path / "kb", memory=[path / "gold.jsonl"])
    return path


def test_a_ranker_knows_what_ids_end_with(place):
    fitted = fit_ranker(Assets(place / "assets"), place / "ranked", place / "gold.jsonl", top=5)
    assert fitted.kept and fitted.facts["endings"] == 2 and fitted.facts["top"] == 5
    assets = Assets(place / "ranked")
    # What was annotated the other way round, and is in no memory.
    asked = [(number, "36"[(number + 1) % 2]) for number in range(len(BODIES))]
    right = {}
    for ranker in (False, True):
        rankings = assets.engine(ranker=ranker).rank(
            [Mention(said_of(*one) + " again") for one in asked], 5
        )
        ids = [assets.kb.concept_at(own[0].row).id for own in rankings]
        right[ranker] = sum(
            id == f"{8000 + number}/{end}" for id, (number, end) in zip(ids, asked, strict=True)
        )
    assert right[True] > 0.95 * len(asked) > right[False]
    assert isinstance(assets.ranker.fingerprint, str)
    assert assets.ranker.top == 5 and not isinstance(assets.engine().parts.rescorer, Chain)
    copy = assets.copy_to(place / "copy")
    assert (place / "copy" / ENDINGS_FILE).is_file() and copy is not assets


def test_without_the_file_the_assets_are_incomplete(place):
    fit_ranker(Assets(place / "assets"), place / "cut", place / "gold.jsonl")
    (place / "cut" / ENDINGS_FILE).unlink()
    with pytest.raises(MedlinkError, match="E202"):
        Assets(place / "cut")


def test_ids_without_endings_have_none(tiny_assets):
    assert (
        learn_endings(
            ending_examples(tiny_assets.kb), [Remembered("fever", "", "HP:0001945", 1, 1)]
        )
        is None
    )


def test_names_that_mentions_gave_teach_nothing(tmp_path):
    records = [
        Concept(f"{n}/{end}", f"a{n}{end}", (Name(f"cold {n}", source=FROM_MENTIONS),))
        if n
        else Concept(f"{n}/{end}", f"a{n}{end}", (Name(f"cold {n}", source="kb"),))
        for n in range(9) for end in "36"
    ]  # fmt: skip
    build_kb(tmp_path / "kb", records)
    kb = KnowledgeBase(tmp_path / "kb")
    lines = [Remembered(f"warm {n}", "", "1/6", 1, 1) for n in range(4)]
    found = learn_endings(ending_examples(kb), [*lines, Remembered("^hot", "", "1/3", 1, 1)])
    assert "warm" in found.features and "cold" not in found.features
    assert found.log_probability("warm", "2/6") > found.log_probability("warm", "2/3") > LEAST


@pytest.mark.parametrize("top", [1, 0, -3])
def test_one_candidate_has_no_order(place, top):
    with pytest.raises(MedlinkError, match="E302"):
        fit_ranker(Assets(place / "assets"), place / "no", place / "gold.jsonl", top=top)
