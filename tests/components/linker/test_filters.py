"""Filters, labels, lexicon, and composite mentions as settings of the component."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_medlink.annotate.worker import linked_docs
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Concept
from tests.pipelines import doc_with, pipeline, values
from tests.tables import table
from tests.tiny import assets_of


def link(assets, text, *ents, label="DISEASE", **config):
    config.setdefault("lexicon", None)  # that of the package says what PE means
    nlp = pipeline(assets, mentions=False, **config)
    return values(nlp(doc_with(nlp, text, *ents, label=label)).ents)


@table(__file__, "filters_of_the_config")
def test_filters_of_the_config(tiny_assets, config, want):
    (found,) = link(tiny_assets, "the PE", "PE", **config)
    assert found["kb_id"] == want


def test_languages(tiny_assets):
    (found,) = link(tiny_assets, "Fieber", "Fieber", languages=["es"])
    assert found["candidates"][0]["matched"] in ("fiebre", "cefalea", "neumonía", "asma")
    assert {one["id"] for one in found["candidates"]} <= {
        "HP:0001945", "HP:0002315", "HP:0002090", "HP:0002099", "HP:0000822", "HP:0005978",
        "HP:0001658",
    }  # fmt: skip


def test_filters_of_a_call_and_changed_later(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, lexicon=None)
    linker = nlp.get_pipe("medical_linker")
    doc = doc_with(nlp, "the PE", "PE")
    assert [link.id for link in linker.predict([doc], types=["T047"])[0]] == ["HP:0002204"]
    assert [link.id for link in linker.predict([doc])[0]] == ["HP:0001698"]
    linker.types = ["T047"]
    assert [link.id for link in linker.predict([doc])[0]] == ["HP:0002204"]
    assert [one.id for one in linker.link_texts(["PE"], deny=["HP:0002204"])] != ["HP:0002204"]
    with pytest.raises(MedlinkError, match="E302"):
        linker.predict([doc], type=["T047"])
    with pytest.raises(MedlinkError, match="E302"):
        linker.predict([doc], types="T047")
    with pytest.raises(MedlinkError, match="E302"):
        linker.predict([doc], within=["<< HP:0001698"])
    for nothing in ([], ()):
        with pytest.raises(MedlinkError, match=r"E302.*one id or more"):
            linker.predict([doc], allow=nothing)
    with pytest.raises(MedlinkError, match=r"E302.*one id or more"):
        linker.allow = []


def test_a_filter_by_types_where_there_are_none(tmp_path):
    assets = assets_of(tmp_path, [Concept("C1", "fever"), Concept("C2", "cough")])
    with pytest.warns(UserWarning, match=r"W104.*has no types at all"):
        (found,) = link(assets, "fever", "fever", types=["T047"])
    assert found["kb_id"] == "NIL"


def test_filters_that_leave_nothing_are_nil_with_the_reason(tiny_assets):
    with pytest.warns(UserWarning, match=r"W104.*types: GEOG") as caught:
        found = link(tiny_assets, "fever and fever", "fever", types=["GEOG"])
    assert len(caught) == 1
    assert (found[0]["kb_id"], found[0]["reason"]) == ("NIL", "the filters leave nothing")
    assert found[0]["candidates"] == []
    (below,) = link(tiny_assets, "fevr", "fevr", threshold=0.99)
    assert (below["kb_id"], below["reason"]) == ("NIL", "below the threshold")
    (nothing,) = link(tiny_assets, "zzz", "zzz", tiers=["exact"])
    assert (nothing["kb_id"], nothing["reason"]) == ("NIL", "nothing found")


@pytest.mark.parametrize(
    "config",
    [{"types": ["T047X"]}, {"sources": ["nobody"]}, {"labels": {"A": ["B"]}},
     {"languages": ["xx"]}],
)  # fmt: skip
def test_what_nothing_has_is_said_at_initialize(tiny_assets, config):
    nlp = pipeline(tiny_assets, mentions=False, **config)
    with pytest.raises(MedlinkError, match="E213"):
        nlp.initialize()


def test_ties_are_marked(tiny_assets):
    text = "the PE"
    (found,) = link(tiny_assets, text, "PE", label="X")
    assert found["ambiguous"] == ["HP:0001698", "HP:0002204"]
    (clear,) = link(tiny_assets, "fever", "fever")
    assert clear["ambiguous"] == []


def test_composite_mentions(tiny_assets):
    (found,) = link(tiny_assets, "fever and headache", "fever and headache", composite=True)
    assert [(part["text"], part["id"]) for part in found["parts"]] == [
        ("fever", "HP:0001945"), ("headache", "HP:0002315"),
    ]  # fmt: skip
    assert found["kb_id"] == "HP:0001945"
    assert [id for id, _ in found["kb_ents"]][:2] == ["HP:0001945", "HP:0002315"]
    (plain,) = link(tiny_assets, "fever and headache", "fever and headache")
    assert plain["parts"] == []


@pytest.fixture
def extensions():
    """As an abbreviation detector registers them."""
    Doc.set_extension("abbreviations", default=[])
    Span.set_extension("long_form", default=None)
    yield
    Doc.remove_extension("abbreviations")
    Span.remove_extension("long_form")


@pytest.mark.parametrize("kind", ["span", "text", "serialized", "own"])
def test_what_another_component_found_is_used(tiny_assets, extensions, kind):
    nlp = pipeline(tiny_assets, mentions=False)
    doc = doc_with(nlp, "pulmonary embolism PE", "PE")
    found = doc[2:3]
    if kind == "serialized":
        doc._.abbreviations = [{"short_text": "PE", "long_text": "pulmonary embolism"}]
    elif kind == "own":
        doc.ents[0]._.long_form = "pulmonary embolism"
    else:
        found._.long_form = doc[0:2] if kind == "span" else "pulmonary embolism"
        doc._.abbreviations = [found]
    assert nlp(doc).ents[0].kb_id_ == "HP:0002204"
    # The lexicon heeds what the text spells out, too.
    off = pipeline(tiny_assets, mentions=False, resolve_abbreviations=False, lexicon=None)
    assert off(doc).ents[0].kb_id_ == "HP:0001698"


def test_fusion_as_a_registered_function(tiny_assets):
    config = {"@misc": "spacy-medlink.ReciprocalRankFusion.v1", "k": 10}
    (found,) = link(tiny_assets, "Fever", "Fever", fusion=config)
    assert (found["kb_id"], found["candidates"][0]["score"]) == ("HP:0001945", 1.0)
    weights = {"exact": 0.0, "ngram": 0.0, "dense": 1.0}
    config = {"@misc": "spacy-medlink.WeightedFusion.v1", "weights": weights}
    (found,) = link(tiny_assets, "fevers", "fevers", fusion=config, exact_first=False)
    for one in found["candidates"]:
        assert one["score"] == pytest.approx(one["scores"]["dense"], abs=1e-5)


@pytest.mark.parametrize("text", ["x" * 10_000, "fever and " * 1000, "SCA 1 and 2 " * 800])
def test_mentions_of_10_000_characters(tiny_assets, text):
    nlp = pipeline(tiny_assets, composite=True, types=["DISO"])
    linker = nlp.get_pipe("medical_linker")
    assert linker.link_texts([text])[0].candidates
    assert str(linker.explain(text))


@pytest.mark.parametrize("config", [{}, {"merge": "fill"}])
@pytest.mark.parametrize("text", ["fever and asthma", "fever and asthma (boom)"])
def test_filters_of_a_call_leave_no_link_of_another_kind(tiny_assets, monkeypatch, config, text):
    """The documents are linked once, within the filters, also where one of them fails."""
    nlp = pipeline(tiny_assets, **config)
    linker = nlp.get_pipe("medical_linker")
    decided, links = [], linker.docs.links

    def counted(mentions, *limits):
        decided.extend(mention.text for mention in mentions)
        return links(mentions, *limits)

    monkeypatch.setattr(linker.docs, "links", counted)
    if "boom" in text:
        nlp.add_pipe("fails_at_boom", last=True)
    found = list(linked_docs(nlp, ["no fever", text], {"types": ["T047"]}))
    written = [[ent.kb_id_ for ent in doc.ents] if doc else None for doc, _ in found]
    assert written == [["NIL"], None if "boom" in text else ["NIL", "HP:0002099"]]
    assert len(decided) == (5 if "boom" in text else 3), decided
    assert nlp("fever").ents[0].kb_id_ == "HP:0001945"


@Language.component("fails_at_boom")
def fail_at_boom(doc):
    if "boom" in doc.text:
        raise ValueError(doc.text)
    return doc
