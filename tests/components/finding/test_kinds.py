"""With `nested = "kinds"`, what a longer match is a kind of is found within it."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of

NAMES = {
    "COLITIS": ("Colitis", ()), "ULCER": ("Ulcerative colitis", ("GUT",)),
    "GUT": ("Gut colitis", ("COLITIS",)), "NEVUS": ("Nevus", ()),
    "BCN": ("Basal cell nevus", ("TUMOR",)), "TUMOR": ("Tumor", ()),
    "LYSIS": ("Tumor lysis", ("TUMOR",)),
}  # fmt: skip
TEXT = "Ulcerative colitis, basal cell nevus, tumor lysis."
WHOLE = ["Ulcerative colitis", "basal cell nevus", "tumor lysis"]
KINDS = ["Ulcerative colitis", "colitis", "basal cell nevus", "tumor lysis"]


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    concepts = (
        Concept(id, name, (Name(name),), parents=above) for id, (name, above) in NAMES.items()
    )
    return assets_of(tmp_path_factory.mktemp("kinds"), concepts)


def pipeline(assets: Assets, nested: Any = "kinds", linker: str = "") -> Language:
    nlp = spacy.blank("en")
    own = {"assets": str(assets.path), "spans_key": "sc"}
    nlp.add_pipe("medical_mentions", config={**own, "nested": nested})
    nlp.add_pipe("medical_linker", config={**own, "assets": linker or own["assets"]})
    return nlp


def found(nlp: Language) -> list[str]:
    doc = nlp(TEXT)
    return [span.text for span in doc.spans["sc"]]


def test_kinds(assets: Assets, tmp_path: Path) -> None:
    assert found(pipeline(assets, False)) == WHOLE
    assert len(found(pipeline(assets, True))) == 6
    nlp = pipeline(assets)
    assert found(nlp) == KINDS
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert found(other) == KINDS
    for doc in nlp.pipe([TEXT] * 2, n_process=2, batch_size=1):
        assert [span.text for span in doc.spans["sc"]] == KINDS


def test_the_hierarchy_is_the_linkers(assets: Assets, tmp_path: Path) -> None:
    other = assets_of(tmp_path, [Concept("X", "X", (Name("X"),))])
    with pytest.raises(MedlinkError, match=r"E302.*same assets"):
        pipeline(assets, linker=str(other.path))(TEXT)
    alone = pipeline(assets)
    alone.remove_pipe("medical_linker")
    with pytest.raises(MedlinkError, match=r"E302.*in the pipeline"):
        alone(TEXT)


@pytest.mark.parametrize("nested", ["kind", "true"])
def test_what_nested_may_not_be(assets: Assets, nested: Any) -> None:
    with pytest.raises(MedlinkError, match="E302"):
        pipeline(assets, nested)
