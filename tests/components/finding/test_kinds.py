"""In a span group, names of related concepts are found within a longer match."""

import spacy
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of, concepts_of

NAMES = {
    "COLITIS": ("Colitis", ()), "ULCER": ("Ulcerative colitis", ("GUT",)),
    "GUT": ("Gut colitis", ("COLITIS",)),
    # Of one part of medicine, the third level of the hierarchy.
    "ALL": ("All things", ()), "FINDING": ("Finding", ("ALL",)), "SKIN": ("Of skin", ("FINDING",)),
    "NEVUS": ("Nevus", ("SKIN",)), "BCN": ("Basal cell nevus", ("SKIN",)),
    # They share the top two levels, as all findings do.
    "HAY": ("Hay fever", ("FINDING",)), "FEVER": ("Fever", ("FINDING",)),
}  # fmt: skip
RECORDS = [Concept(id, name, (Name(name),), parents=above) for id, (name, above) in NAMES.items()]
TEXT = "Ulcerative colitis, basal cell nevus, hay fever."
WHOLE = ["Ulcerative colitis", "basal cell nevus", "hay fever"]
KINDS = ["Ulcerative colitis", "colitis", "basal cell nevus", "nevus", "hay fever"]


def pipeline(assets: Assets, linker: str = "") -> Language:
    nlp = spacy.blank("en")
    own = {"assets": str(assets.path), "spans_key": "sc"}
    nlp.add_pipe("medical_mentions", config=own)
    nlp.add_pipe("medical_linker", config={**own, "assets": linker or own["assets"]})
    return nlp


def found(nlp: Language) -> list[str]:
    doc = nlp(TEXT)
    return [span.text for span in doc.spans["sc"]]


def test_kinds(assets, tmp_path):
    nlp = pipeline(assets)
    assert found(nlp) == KINDS
    nlp.to_disk(tmp_path)
    assert found(spacy.load(tmp_path)) == KINDS


def test_entities_and_group_have_the_same_links(assets):
    nlp = pipeline(assets)
    assert nlp(TEXT).ents == ()
    nlp.get_pipe("medical_mentions").annotate_ents = True
    doc = nlp(TEXT)
    assert [ent.text for ent in doc.ents] == WHOLE
    by_place = {(span.start, span.end): span for span in doc.spans["sc"]}
    for ent in doc.ents:
        span = by_place[ent.start, ent.end]
        assert ent.kb_id_ == span.kb_id_ != ""
        assert ent._.candidates == span._.candidates


def test_all_matches_are_found_on_demand(assets):
    nlp = pipeline(assets)
    assert len(nlp.get_pipe("medical_mentions").find(nlp.make_doc(TEXT))) == 6


def test_without_a_linker_all_stay(assets, tmp_path):
    every = pipeline(assets)
    every.remove_pipe("medical_linker")
    assert len(found(every)) == 6
    other = assets_of(tmp_path / "other", concepts_of("X"))
    assert len(found(pipeline(assets, linker=str(other.path)))) == 6
    flat = concepts_of({id: name for id, (name, _) in NAMES.items()})
    assert found(pipeline(assets_of(tmp_path / "flat", flat))) == WHOLE  # no kinds are known
