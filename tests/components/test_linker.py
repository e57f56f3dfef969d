"""The component medical_linker: what it writes on spans, its settings, and odd documents."""

import warnings

import pytest
import spacy

from spacy_medlink.errors import MedlinkError
from tests.pipelines import architecture, doc_with, pipeline, values
from tests.tables import table
from tests.tiny import write_tiny_encoder


@pytest.fixture(scope="module")
def nlp(tiny_assets):
    return pipeline(tiny_assets)


def link(assets, text, *ents, **config):
    """Link the given entities of a text. RETURNS (List[dict]): what is written on them."""
    nlp = pipeline(assets, mentions=False, **config)
    return values(nlp(doc_with(nlp, text, *ents)).ents)


# The built-in starter


def test_two_lines_link_text_with_one_warning():
    with pytest.warns(UserWarning, match=r"^\[W101\] medical_linker runs on") as caught:
        nlp = spacy.blank("en")
        nlp.add_pipe("medical_mentions")
        nlp.add_pipe("medical_linker")
        doc = nlp("She has Crohn's disease, HTN and a heart attack in 2019; no fever, htn or all.")
        list(nlp.pipe(["Fieber und Kopfschmerzen", "fiebre"] * 20))
    assert len(caught) == 1
    assert "nlp.add_pipe('medical_linker', config={'assets': DIRECTORY})" in str(caught[0].message)
    assert [(ent.text, ent.kb_id_, ent._.cui) for ent in doc.ents] == [
        ("Crohn's disease", "C0010346", "C0010346"),
        ("HTN", "C0020538", "C0020538"),
        ("heart attack", "C0027051", "C0027051"),
        ("fever", "C0015967", "C0015967"),
        ("htn", "C0020538", "C0020538"),  # as the lexicon has it, too; "all" is a word
    ]


# What is written on spans


def test_every_attribute(tiny_assets, tiny_kb):
    (found,) = link(tiny_assets, "Old type 2 diabetes.", "type 2 diabetes", top_k=3)
    assert found["kb_id"] == found["cui"] == "HP:0005978"
    assert found["name"] == "Type II diabetes mellitus"
    assert found["codes"] == {"UMLS": ["C0011860"], "ICD10CM": ["E11"]}
    assert len(found["candidates"]) == 3
    best = found["candidates"][0]
    assert best == {
        "id": "HP:0005978", "name": "Type II diabetes mellitus", "matched": "Type 2 diabetes",
        "score": best["score"], "prob": best["prob"], "scores": best["scores"],
        "ranks": best["ranks"],
        "types": ["T047"],
    }  # fmt: skip
    assert best["scores"].keys() == {"exact", "ngram"}, "a name is not encoded"
    assert best["scores"]["exact"] == 1.0
    assert best["ranks"]["exact"] == best["ranks"]["ngram"] == 1
    assert 0.9 < best["score"] <= 1
    assert found["kb_ents"] == [[one["id"], one["score"]] for one in found["candidates"]]
    for one in found["candidates"]:
        assert tiny_kb[one["id"]].name == one["name"]
        assert one["matched"] in [name.text for name in tiny_kb[one["id"]].names]
    scores = [score for _, score in found["kb_ents"]]
    assert scores == sorted(scores, reverse=True)


def test_spans_do_not_share_values(tiny_assets):
    nlp = pipeline(tiny_assets)
    one, other = nlp("heart attack"), nlp("heart attack")
    for candidate in one.ents[0]._.candidates:
        candidate["types"].append("mine")
        candidate["scores"]["mine"] = candidate["ranks"]["mine"] = 1
        candidate["name"] = "mine"
    one.ents[0]._.codes["MINE"] = []
    one.ents[0]._.kb_ents.clear()
    assert values(other.ents) == values(nlp("heart attack").ents)
    assert "MINE" not in other.ents[0]._.codes


def test_attributes_of_spans_that_are_not_linked(nlp):
    span = nlp.make_doc("heart attack")[:2]
    assert (span._.cui, span._.name, span._.candidates, span._.codes) == (None, None, [], {})
    assert span._.kb_ents == []
    span._.candidates.append("mine")
    assert nlp.make_doc("fever")[:1]._.candidates == []


# Settings


def test_what_scores_less_than_the_threshold_is_nil(tiny_assets):
    text = "hart atack and heart attack"
    poor, good = link(
        tiny_assets, text, "hart atack", "heart attack", threshold=0.9, calibrator=False
    )
    assert (good["kb_id"], good["cui"]) == ("HP:0001658", "HP:0001658")
    assert (poor["kb_id"], poor["cui"], poor["codes"]) == ("NIL", None, {})
    assert len(poor["candidates"]) == 5, "what was considered is kept"


@table(__file__, "what_speaks_of_links_is_empty_for_nil")
def test_what_speaks_of_links_is_empty_for_nil(tiny_assets, config):
    """Whatever the reason, and whatever an earlier linker said of the span."""
    nlp = pipeline(tiny_assets, mentions=False)
    nlp.add_pipe(
        "medical_linker",
        "again",
        config={"assets": str(tiny_assets.path), "prefix": "b_", **config},
    )
    doc = nlp(doc_with(nlp, "An old hart attack.", "hart attack"))
    own = nlp.get_pipe("again")
    own.prefix = ""
    (found,) = values(own(doc).ents)
    assert found["reason"] and found["kb_id"] == "NIL"
    assert (found["cui"], found["name"], found["kb_ents"], found["codes"]) == (None, None, [], {})


@pytest.mark.parametrize("tiers", [None, ["exact"], ["exact", "ngram"], ["ngram"]])
def test_an_identical_string_passes_any_threshold(tiny_assets, tiers):
    (found,) = link(tiny_assets, "Fever", "Fever", threshold=1.0, tiers=tiers, calibrator=False)
    assert found["kb_id"] == "HP:0001945"


def test_the_threshold_can_be_changed_later(nlp):
    linker = nlp.get_pipe("medical_linker")
    assert nlp("heart attacks").ents[0].kb_id_ == "HP:0001658"
    linker.threshold = 0.999
    assert nlp("heart attacks").ents[0].kb_id_ == "NIL"
    linker.threshold = 0.0
    assert nlp("heart attacks").ents[0].kb_id_ == "HP:0001658"


@table(__file__, "cui_scheme")
def test_cui_scheme(tiny_assets, scheme, cuis):
    found = link(tiny_assets, "heart attack, HTN", "heart attack", "HTN", cui_scheme=scheme)
    assert [one["cui"] for one in found] == cuis
    assert [one["kb_id"] for one in found] == ["HP:0001658", "HP:0000822"]


def test_a_scheme_that_the_knowledge_base_has_not(tiny_assets):
    with pytest.warns(UserWarning, match=r"W103.*'SNOMED'.*ICD10CM, UMLS") as caught:
        (found,) = link(tiny_assets, "fever", "fever", cui_scheme="SNOMED")
    assert len(caught) == 1
    assert (found["kb_id"], found["cui"]) == ("HP:0001945", None)


def test_abbreviations_mean_what_the_document_says(tiny_assets):
    text = "A pulmonary embolism (PE) was seen. The PE was small."
    for resolve, want in ((True, "HP:0002204"), (False, "HP:0001698")):
        # Without a lexicon, which heeds what the text spells out.
        nlp = pipeline(tiny_assets, resolve_abbreviations=resolve, lexicon=None)
        links = {ent.text: ent.kb_id_ for ent in nlp(text).ents}
        assert links == {"pulmonary embolism": "HP:0002204", "PE": want}
        assert [ent.kb_id_ for ent in nlp("The PE was small.").ents] == ["HP:0001698"]


def test_an_abbreviation_means_the_mention_that_it_abbreviates(tiny_assets):
    """Nothing defines it, but the document has it in full, which the terminology may not know."""
    text = "Zystic quorbid fever at night. QQF. The ZQF was treated."
    nlp = pipeline(tiny_assets, mentions=False)
    doc = nlp.make_doc(text)
    wanted = ("Zystic quorbid fever", "QQF", "ZQF")
    doc.ents = [
        doc.char_span(text.index(part), text.index(part) + len(part), label="A") for part in wanted
    ]
    linker = nlp.get_pipe("medical_linker")
    forms = [[form["text"] for form in linker.explain(ent).forms] for ent in doc.ents]
    assert forms == [["Zystic quorbid fever"], ["QQF"], ["Zystic quorbid fever", "ZQF"]]
    assert linker.link_spans(doc, [doc.ents[2]]) == linker.link_spans(doc, list(doc.ents))[2:]
    long, _, short = nlp(doc).ents
    assert short._.candidates[0]["score"] == long._.candidates[0]["score"]
    assert (
        pipeline(tiny_assets, mentions=False, resolve_abbreviations=False)
        .get_pipe("medical_linker")
        .mentions(doc)[2]
        .long_form
        == ""
    )


def test_abbreviations_within_a_mention_mean_it_too(tiny_assets):
    text = "A pulmonary embolism (PE) was seen: a PE event."
    nlp = pipeline(tiny_assets, mentions=False)
    doc = nlp.make_doc(text)
    doc.ents = [doc.char_span(text.index("PE event"), text.index("."), label="A")]
    (ent,) = nlp(doc).ents
    assert ent.text == "PE event"
    explained = nlp.get_pipe("medical_linker").explain(ent)
    assert [form["text"] for form in explained.forms] == ["pulmonary embolism event", "PE event"]


def test_the_dense_tier_where_there_is_none(recwarn):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"tiers": ["dense"]})
    with pytest.raises(MedlinkError, match="E405"):
        nlp(doc_with(nlp, "fever", "fever"))


def test_an_encoder_of_the_config_must_be_the_one_of_the_index(tiny_assets, tmp_path):
    same = pipeline(tiny_assets, model=architecture(tiny_assets.path / "encoder"))
    assert [ent.kb_id_ for ent in same("a heart attack").ents] == ["HP:0001658"]
    other = pipeline(tiny_assets, model=architecture(write_tiny_encoder(tmp_path, seed=1)))
    with pytest.raises(MedlinkError, match=r"E204.*encoder of the config"):
        other("a heart attack")


# Streams


def test_predict_changes_nothing(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False)
    linker = nlp.get_pipe("medical_linker")
    doc = doc_with(nlp, "heart attack and fever", "heart attack", "fever")
    before = doc.to_bytes()
    links = linker.predict([doc, nlp.make_doc("no entity")])
    assert doc.to_bytes() == before
    assert [[one.id for one in own] for own in links] == [["HP:0001658", "HP:0001945"], []]
    linker.set_annotations([doc], links[:1])
    assert [ent.kb_id_ for ent in doc.ents] == ["HP:0001658", "HP:0001945"]


# Odd documents


# Warnings


@pytest.mark.parametrize("spans_key", [None, "sc", ["a", "b"]])
def test_never_any_entities_is_said_once(tiny_assets, spans_key):
    nlp = pipeline(tiny_assets, mentions=False, spans_key=spans_key)
    list(nlp.pipe(["a"] * 19, batch_size=5))
    with pytest.warns(UserWarning, match=r"W102.*no entities in the first 20 documents") as caught:
        nlp("a")
        for _ in range(3):
            nlp("a")
            list(nlp.pipe(["a"] * 100))
    assert len(caught) == 1


def test_no_warning_once_there_was_an_entity(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(doc_with(nlp, "fever", "fever"))
        list(nlp.pipe(["a"] * 100))


@pytest.mark.parametrize("name", ["medical_linker", "medical_mentions", "medical_context"])
def test_components_say_what_they_are_and_show_what_is_public(tiny_assets, name):
    nlp = spacy.blank("en")
    given = {} if name == "medical_context" else {"assets": str(tiny_assets.path)}
    pipe = nlp.add_pipe(name, config={**given, "spans_key": "<x>"})
    shown = pipe._repr_html_()
    assert f"<td>{name}</td>" in shown and "<x>" not in shown
    assert f"{name!r}, " in repr(pipe)
    assert not [each for each in dir(pipe) if each[0] == "_" != each[1]]
    public = {"pipe", "to_disk", "name"} | ({"kb", "link_texts"} & {*dir(type(pipe))})
    assert public <= {*dir(pipe)} and not {"opened", "store"} & {*dir(pipe)}
