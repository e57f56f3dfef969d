"""Hyphens, and names that coordinations stand for, in a pipeline with a linker."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tiny import assets_of

NAMES = {
    "PALM": "Palmar pits", "SOLE": "Plantar pits", "PIT": "Pits", "PRE": "Preauricular pit",
    "AURI": "Auricular pit", "HAIR": "Hypopigmentation of hair", "SKIN": "Skin hypopigmentation",
    "FACE": "Facial cleft", "LENS": "Posterior opacities of the lens", "DROP": "Foot drop",
}  # fmt: skip
TEXT = "No palmar and plantar pits, no hypopigmentation of skin or hair."


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    directory = tmp_path_factory.mktemp("names")
    return assets_of(directory, (Concept(id, name, (Name(name),)) for id, name in NAMES.items()))


def pipeline(assets: Assets, **config: Any) -> Language:
    # What is found is asked here, not how sure its link is.
    return finder(
        assets, linking={"spans_key": config.get("spans_key"), "threshold": 0.0}, **config
    )


def links(nlp: Language, text: str) -> set[tuple[str, str]]:
    doc = nlp(text)
    return {(span.text, span.kb_id_) for span in doc.spans.get("sc", doc.ents)}


GROUP = {"spans_key": "sc"}
FOUND = {
    ("palmar and plantar pits", "PALM"),
    ("plantar pits", "SOLE"),
    ("hypopigmentation of skin", "SKIN"),
    ("hypopigmentation of skin or hair", "HAIR"),
}


def test_coordinations_are_linked_by_what_they_say(assets: Assets, tmp_path: Path) -> None:
    nlp = pipeline(assets, **GROUP)
    assert links(nlp, TEXT) == FOUND
    doc = nlp(TEXT)
    readings = {span.text: span._.reading for span in doc.spans["sc"]}
    assert readings["palmar and plantar pits"] == "palmar pits"
    assert readings["plantar pits"] == ""
    nlp.to_disk(tmp_path / "nlp")
    assert links(spacy.load(tmp_path / "nlp"), TEXT) == FOUND
    assert (
        links(spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()), TEXT) == FOUND
    )
    assert links(pickle.loads(pickle.dumps(nlp)), TEXT) == FOUND


def test_entities_do_not_overlap(assets: Assets) -> None:
    nlp = pipeline(assets)
    assert links(nlp, "palmar and plantar pits") == {("plantar pits", "SOLE")}
    assert links(nlp, "palmar and plantar lesions or pits") == {("pits", "PIT")}
    # Without a name that stands in the way, the reading is the entity.
    nails = "hypopigmentation of nails or hair"
    assert links(nlp, nails) == {(nails, "HAIR")}


@pytest.mark.parametrize(
    ("text", "ents"),
    [
        # In the order of the name where another word follows, else in any order.
        ("clefts, oral and unusual facial appearance", set()),
        ("cleft and unusual facial", {("cleft and unusual facial", "FACE")}),
        (
            "posterior or anterior lens opacities",
            {("posterior or anterior lens opacities", "LENS")},
        ),
        # No words are turned into a name over an article.
        ("drop of the foot", {("drop of the foot", "DROP")}),
        ("they drop the foot rest", set()),
    ],
)
def test_in_any_order(assets: Assets, text: str, ents: set[tuple[str, str]]) -> None:
    assert links(pipeline(assets), text) == ents


@pytest.mark.parametrize(
    ("text", "ents"),
    [
        ("pre-auricular pits, left", [("pre-auricular pits", "PRE")]),
        ("preauricular pits", [("preauricular pits", "PRE")]),
        ("pre auricular pits", [("auricular pits", "AURI")]),
        ("pre - auricular pits", [("auricular pits", "AURI")]),
        ("post-auricular pits", [("pits", "PIT")]),
        ("\n-auricular pits", [("auricular pits", "AURI")]),
        ("skin-hypopigmentation", [("skin-hypopigmentation", "SKIN")]),
    ],
)
def test_hyphens(assets: Assets, text: str, ents: list[tuple[str, str]]) -> None:
    assert links(pipeline(assets), text) == set(ents)


def test_stopped_readings(assets: Assets) -> None:
    nlp = pipeline(assets, **GROUP, stop=["palmar pit"])
    assert ("palmar and plantar pits", "PALM") not in links(nlp, TEXT)


TORN = {
    "AS": "Spondylitis, Ankylosing", "G6PD": "G6PD deficiency", "COLI": "E. coli infection",
    "SALB": "(R)-salbutamol", "AVIUM": "Mycobacterium avium subsp. paratuberculosis",
    "LEIDEN": "Factor V Leiden; thrombophilia", "ENZYME": "Deficiency (of enzyme (G6PD))",
    "PIT": "Preauricular pit (left)", "HEP": "Acute hepatitis (B)",
}  # fmt: skip


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    directory = tmp_path_factory.mktemp("torn")
    return assets_of(directory, (Concept(id, name, (Name(name),)) for id, name in TORN.items()))


@pytest.mark.parametrize(
    ("text", "ents"),
    [
        ("Spondylitis, ankylosing", {("Spondylitis, ankylosing", "AS")}),
        ("It is a spondylitis. Ankylosing is another", set()),
        ("No spondylitis; ankylosing", set()),
        ("glucose-6-phosphate dehydrogenase (G6PD) deficiency", set()),
        ("a (G6PD deficiency)", {("G6PD deficiency", "G6PD")}),
        ("G6PD [deficiency", set()),
        ("[G6PD] deficiency", set()),
        ("G6PD (deficiency)", {("G6PD (deficiency)", "G6PD")}),
        ("It was a G6PD deficiency.", {("G6PD deficiency", "G6PD")}),
        ("an E. coli infection", {("E. coli infection", "COLI")}),
        ("an E.\n\ncoli infection", set()),
        # As the name is written, whatever it is.
        ("(R)-salbutamol", {("(R)-salbutamol", "SALB")}),
        ("subtype (R) salbutamol", set()),
        (f"a {TORN['AVIUM']}.", {(TORN["AVIUM"], "AVIUM")}),
        (f"a {TORN['LEIDEN']}.", {(TORN["LEIDEN"], "LEIDEN")}),
        ("deficiency (of enzyme (G6PD)), mild", {("deficiency (of enzyme (G6PD))", "ENZYME")}),
        ("pre-auricular pit (left) and", {("pre-auricular pit (left)", "PIT")}),
        ("an (acute) hepatitis (B)", set()),
        ("an acute hepatitis [B)", set()),
        ("a pre-auricular pit (left, small", set()),
        ("a G6PD... Deficiency of", set()),
        ("a （G6PD） deficiency", set()),
    ],
)
def test_names_do_not_go_over_sentences_and_brackets(
    torn: Assets, text: str, ents: set[tuple[str, str]]
) -> None:
    assert links(pipeline(torn), text) == ents


def test_words_of_a_name_within_are_not_turned_into_another(tmp_path: Path) -> None:
    """Here "mammary neoplasm" says the same as "breast cancer"."""
    named = {
        "C1": ["Breast cancer", "Mammary cancer", "Breast neoplasm"],
        "C2": ["Human mammary neoplasm"],
        "C3": ["Renal cancer", "Renal neoplasm"],
    }
    concepts = (Concept(id, texts[0], tuple(map(Name, texts))) for id, texts in named.items())
    nlp = pipeline(assets_of(tmp_path, concepts))
    assert links(nlp, "human breast cancer cells") == {("breast cancer", "C1")}
    assert links(nlp, "neoplasm, human mammary") == {("neoplasm, human mammary", "C2")}


def test_a_name_of_the_language_comes_before_one_of_another(tmp_path: Path) -> None:
    concepts = [
        Concept("CELL", "Granulocytes", (Name("Granulocytes", "en"),)),
        Concept("LACK", "Agranulocytosis", (Name("Granulocyte", "fr"), Name("Lack", "en"))),
    ]
    nlp = pipeline(assets_of(tmp_path, concepts))
    assert links(nlp, "each granulocyte was seen") == {("granulocyte", "CELL")}
