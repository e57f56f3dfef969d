"""A filter of the linker means "only these are there", for medical_mentions too."""

import pickle

import pytest
import spacy

from spacy_medlink.errors import MedlinkError
from tests.pipelines import finder
from tests.tables import table
from tests.tiny import concept

CONCEPTS = {
    "MET": ("Metformin", "T121"), "HEAR": ("Hearing loss", "T047"), "ASP": ("Aspirin", "T121"),
    "ASPI": ("Aspiration pneumonia", "T047"), "DM": ("Type 2 diabetes", "T047"),
    "HEP": ("Heparin", "T121"), "CF": ("Cold", "T047"), "CT": ("Cold", "T070"),
    "TEMP": ("Low temperature", "T070"),
}  # fmt: skip
TEXT = "Metformin and aspirin for type 2 diabetes, heparin; a cold."
CHEMICALS, DISEASES = ["Metformin", "aspirin", "heparin"], ["type 2 diabetes", "cold"]
EVERYTHING = ["Metformin", "aspirin", "type 2 diabetes", "heparin", "cold"]


RECORDS = [concept(id, name, source=f"S{len(id)}", types=(type,))
           for id, (name, type) in CONCEPTS.items()]  # fmt: skip
ENCODED = True


def pipeline(assets, mentions=None, **config):
    return finder(assets, linking=config, **(mentions or {}))


def found(nlp, text=TEXT):
    return [ent.text for ent in nlp(text).ents]


@pytest.mark.parametrize(
    ("config", "mentions", "ents"),
    [
        ({}, {}, EVERYTHING),
        ({"types": ["T047"]}, {}, DISEASES),
        ({"types": ["CHEM"]}, {}, CHEMICALS),
        ({"allow": ["HEP", "CT"]}, {}, ["heparin", "cold"]),
        ({"deny": ["CF", "CT", "MET"]}, {}, ["aspirin", "type 2 diabetes", "heparin"]),
        ({"sources": ["S2"]}, {}, ["type 2 diabetes", "cold"]),
        ({"labels": {"CONCEPT": ["CHEM"]}}, {}, CHEMICALS),
        ({"labels": {"DRUG": ["T047"]}}, {}, EVERYTHING),
        ({"labels": {"DRUG": ["CHEM"]}}, {"label": "DRUG"}, CHEMICALS),
        # Its own go before the linker's; [] takes all, and so does no linker.
        ({"types": ["T047"]}, {"types": ["CHEM"]}, CHEMICALS),
        ({"types": ["T047"]}, {"types": []}, EVERYTHING),
        ({"types": ["T047"]}, {"linker": None}, EVERYTHING),
        ({"types": ["T047"], "deny": ["DM"]}, {}, ["cold"]),
        ({"within": "<< DM OR HEP OR CF"}, {}, ["type 2 diabetes", "heparin", "cold"]),
        ({"within": "DM"}, {"within": "<< HEP"}, ["heparin"]),
        ({"within": "DM"}, {"within": ""}, EVERYTHING),
        ({"types": ["T047"], "force_within_filter": True}, {}, EVERYTHING),
    ],
)  # fmt: skip
def test_what_is_found(assets, config, mentions, ents):
    assert found(pipeline(assets, mentions, **config)) == ents


def test_filters_may_change_at_any_time(assets):
    nlp = pipeline(assets)
    linker = nlp.get_pipe("medical_linker")
    for types, ents in [(None, EVERYTHING), (["T047"], DISEASES), (["CHEM"], CHEMICALS)] * 2:
        linker.types = types
        assert found(nlp) == ents
    linker.force_within_filter = True
    assert found(nlp) == EVERYTHING


def test_a_linker_that_comes_later_and_goes(assets):
    nlp = finder(assets)
    assert found(nlp) == EVERYTHING
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path), "types": ["T047"]})
    assert found(nlp) == DISEASES
    nlp.remove_pipe("medical_linker")
    assert found(nlp) == EVERYTHING


def test_other_assets_and_other_components(assets, tiny_assets):
    nlp = pipeline(assets)
    nlp.remove_pipe("medical_linker")
    other = {"assets": str(tiny_assets.path), "types": ["T047"]}
    nlp.add_pipe("medical_linker", config=other)
    finder = nlp.get_pipe("medical_mentions")
    assert [ent.text for ent in finder(nlp.make_doc(TEXT)).ents] == EVERYTHING
    nlp.remove_pipe("medical_linker")
    nlp.add_pipe("sentencizer", name="medical_linker")
    assert found(nlp) == EVERYTHING


def test_filters_that_leave_nothing_are_said(assets):
    nlp = pipeline(assets, types=["GEOG"])
    with pytest.warns(UserWarning, match="W104"):
        doc = nlp(TEXT)
    assert [ent.text for ent in doc.ents] == EVERYTHING
    assert {ent._.reason for ent in doc.ents} == {"the filters leave nothing"}


def renamed(nlp):
    nlp.rename_pipe("medical_linker", "umls")


def named(nlp):
    nlp.remove_pipe("medical_linker")
    nlp.add_pipe("medical_linker", "umls", config={**OF, "types": ["T047"]})


def sourced(nlp):
    other = pipeline(nlp.get_pipe("medical_linker").assets, types=["T047"])
    nlp.remove_pipe("medical_linker")
    nlp.add_pipe("medical_linker", "umls", source=other)


OF = {"assets": ""}


@pytest.mark.parametrize("is_run_before", [False, True])
@pytest.mark.parametrize("change", [renamed, named, sourced])
def test_the_only_linker_is_asked_whatever_its_name(assets, tmp_path, change, is_run_before):
    OF["assets"] = str(assets.path)
    nlp = pipeline(assets, types=["T047"])
    assert not is_run_before or found(nlp) == DISEASES
    change(nlp)
    nlp.to_disk(tmp_path)
    ways = [nlp, spacy.load(tmp_path), spacy.load(tmp_path, disable=["umls"]),
            pickle.loads(pickle.dumps(nlp))]  # fmt: skip
    assert [found(one) for one in ways] == [DISEASES] * 4
    with nlp.select_pipes(disable="umls"):
        assert found(nlp) == DISEASES
    assert found(spacy.load(tmp_path, exclude=["umls"])) == EVERYTHING


def two_linkers(assets, linker, first="a"):
    """Make a pipeline that finds diseases by `first`, and chemicals by "b"."""
    nlp = finder(assets, **({"linker": linker} if linker else {}))
    config = {"assets": str(assets.path), "prefix": "a_", "types": ["T047"]}
    nlp.add_pipe("medical_linker", first, config=config)
    nlp.add_pipe("medical_linker", "b", config={**config, "prefix": "b_", "types": ["CHEM"]})
    return nlp


@pytest.mark.parametrize("is_run_before", [False, True])
@pytest.mark.parametrize(("first", "linker"), [("a", "a"), ("medical_linker", "")])
def test_of_several_the_named_one_is_asked(assets, tmp_path, first, linker, is_run_before):
    nlp = two_linkers(assets, linker, first)
    assert not is_run_before or found(nlp) == DISEASES
    nlp.rename_pipe(first, "c")
    nlp.rename_pipe("medical_mentions", "finder")
    nlp.to_disk(tmp_path)
    for one in (nlp, spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert found(one) == DISEASES
    assert nlp.config["components"]["finder"]["linker"] == "c"
    nlp.get_pipe("finder").linker = "b"
    assert found(nlp) == CHEMICALS
    nlp.get_pipe("finder").linker = None
    assert found(nlp) == EVERYTHING


@pytest.mark.parametrize("linker", ["", "misspelt"])
def test_a_linker_that_is_not_clear_is_an_error(assets, linker):
    nlp = two_linkers(assets, linker)
    for _ in range(2):
        with pytest.raises(MedlinkError, match=r"E332.*'a', 'b'.*`linker`"):
            nlp(TEXT)
        nlp = nlp.from_bytes(nlp.to_bytes())
    with pytest.raises(MedlinkError, match="E332"):
        nlp.initialize()
    nlp.remove_pipe("b")
    if not linker:
        assert found(nlp) == DISEASES


def test_a_sourced_component_asks_the_linker_of_the_pipeline_that_runs(assets):
    """It is one object in both pipelines."""
    diseases = pipeline(assets, types=["T047"])
    chemicals = spacy.blank("en")
    chemicals.add_pipe("medical_mentions", "finder", source=diseases)
    other = pipeline(assets, types=["CHEM"])
    chemicals.add_pipe("medical_linker", "umls", source=other)
    for _ in range(2):
        assert found(diseases) == DISEASES
        assert found(chemicals) == CHEMICALS
        assert [[ent.text for ent in doc.ents] for doc in chemicals.pipe([TEXT])] == [CHEMICALS]


@table(__file__, "what_is_given_is_not_linked_to_something_else")
def test_what_is_given_is_not_linked_to_something_else(assets, mention, types, id, reason):
    linker = pipeline(assets, threshold=0.0).get_pipe("medical_linker")
    (link,) = linker.link_texts([mention], types=types)
    assert (link.id, link.reason) == (id, reason)
    assert link.candidates  # those within, for whoever wants them
    (forced,) = linker.link_texts([mention], types=types, force_within_filter=True)
    assert forced.id != "NIL" and forced.candidates == link.candidates
    linker.types = types
    assert linker.link_texts([mention])[0] == link
    linker.force_within_filter = True
    assert linker.link_texts([mention])[0] == forced
    assert linker.link_texts([mention], force_within_filter=False)[0] == link


def test_parts_of_composite_mentions(assets):
    config = {"composite": True, "types": ["CHEM"]}
    linker = pipeline(assets, **config).get_pipe("medical_linker")
    (both,) = linker.link_texts(["aspirin and metformin"])
    assert [part["id"] for part in both.parts] == ["ASP", "MET"]
    (mixed,) = linker.link_texts(["aspirin and hearing loss"])
    assert mixed.parts == []


def test_explanations(assets):
    linker = pipeline(assets, types=["T047"]).get_pipe("medical_linker")
    own = linker.explain("metformin")
    assert own.link["reason"] == "filtered" and own.filters["better"]["id"] == "MET"
    assert "NIL, for MET Metformin says it better, outside the filter" in str(own)
    linker.threshold = 0.0
    forced = linker.explain("metformin", force_within_filter=True)
    assert forced.link["id"] != "NIL" and forced.filters["better"] is None
    assert linker.explain("cold").filters["better"] is None
    assert linker.explain("cold", types=["DISO"]).as_dict()["link"]["id"] == "CF"
