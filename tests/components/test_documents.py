"""Documents as they are: groups of spans, overlaps, no sentences, any recogniser, old links."""

import pytest
import spacy
from spacy.tokens import Span, SpanGroup

from spacy_medlink.errors import MedlinkError
from tests.pipelines import doc_with, pipeline, values

ATTACK, FEVER, ASTHMA, PE = "HP:0001658", "HP:0001945", "HP:0002099", "HP:0002204"


def ids(spans):
    return [span.kb_id_ for span in spans]


# Groups


def test_several_groups(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, spans_key=["found", "said", "absent"])
    doc = nlp.make_doc("heart attack, fever and asthma")
    doc.spans["found"] = SpanGroup(doc, attrs={"own": 1}, spans=[Span(doc, 0, 2), Span(doc, 3, 4)])
    doc.spans["said"] = [Span(doc, 5, 6, label="SAID", span_id="one"), Span(doc, 0, 6, "LONG")]
    doc.spans["other"] = [Span(doc, 5, 6)]
    doc = nlp(doc)
    assert ids(doc.spans["found"]) == [ATTACK, FEVER]
    assert ids(doc.spans["said"])[0] == ASTHMA
    kept = [(span.start, span.end, span.label_, span.id_) for span in doc.spans["said"]]
    assert kept == [(5, 6, "SAID", "one"), (0, 6, "LONG", "")]
    assert ids(doc.spans["other"]) == [""]
    assert doc.spans["found"].attrs == {"own": 1}
    assert "absent" not in doc.spans
    assert doc.spans["said"][0]._.cui == ASTHMA
    assert [span.text for span in nlp.get_pipe("medical_linker").span_writer.spans(doc)] == [
        "heart attack", "fever", "asthma", "heart attack, fever and asthma",
    ]  # fmt: skip


@pytest.mark.parametrize("keys", [[], ["sc", "sc"]])
def test_groups_that_make_no_sense(tiny_assets, keys):
    with pytest.raises(MedlinkError, match=r"E302.*spans_key"):
        pipeline(tiny_assets, spans_key=keys)


def test_overlapping_and_nested_spans(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, spans_key="sc")
    doc = nlp.make_doc("known type 2 diabetes mellitus with asthma")
    spans = [(1, 4), (3, 4), (3, 5), (1, 5), (1, 4), (6, 7)]
    doc.spans["sc"] = [Span(doc, start, end, label="X") for start, end in spans]
    doc = nlp(doc)
    assert [(span.start, span.end) for span in doc.spans["sc"]] == spans
    found = ids(doc.spans["sc"])
    assert (found[0], found[2], found[4], found[5]) == (
        "HP:0005978", "HP:0000819", "HP:0005978", ASTHMA,
    )  # fmt: skip
    assert [one["cui"] for one in values(doc.spans["sc"])] == found


def test_groups_of_evaluation(tiny_assets):
    """Gold spans are looked for where the linker links."""
    from spacy.training import Example

    nlp = pipeline(tiny_assets, mentions=False, spans_key=["a", "b"], labels_discard=["NO"])
    gold = nlp.make_doc("heart attack, fever and asthma")
    gold.spans["a"] = [Span(gold, 0, 2, label="X", kb_id=ATTACK)]
    gold.spans["b"] = [Span(gold, 3, 4, label="X", kb_id=ASTHMA), Span(gold, 5, 6, "NO", kb_id="Z")]
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])
    assert (scores["acc@1"], scores["nel_micro_f"]) == (0.5, 0.5)


# Entities


def test_entities_across_sentences_and_without_any(tiny_assets):
    nlp = spacy.blank("en")
    sentences = nlp.add_pipe("sentencizer")
    nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
    text = "It was a heart. attack and fever"
    with_sentences = sentences(nlp.make_doc(text))
    without = nlp.make_doc(text)
    for doc in (with_sentences, without):
        end = len(doc)
        doc.set_ents([Span(doc, 3, end - 2, label="X"), Span(doc, end - 1, end, label="X")])
    linker = nlp.get_pipe("medical_linker")
    found = [ids(linker(doc).ents) for doc in (with_sentences, without)]
    assert found == [[ATTACK, FEVER]] * 2
    assert len(list(with_sentences.sents)) == 2
    assert not without.has_annotation("SENT_START")


def test_documents_that_were_retokenised(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False)
    doc = doc_with(nlp, "old heart attack; heart attacks", "heart attack", "heart attacks")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
        retokenizer.split(doc[5], ["attac", "ks"], heads=[doc[4], doc[4]])
    doc = nlp(doc)
    assert [token.text for token in doc] == [
        "old", "heart attack", ";", "heart", "attac", "ks",
    ]  # fmt: skip
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [
        ("heart attack", ATTACK), ("heart attacks", ATTACK),
    ]  # fmt: skip
    assert doc[1].ent_kb_id_ == ATTACK


def test_links_stay_when_tokens_are_merged_afterwards(tiny_assets):
    doc = pipeline(tiny_assets)("an old heart attack and fever")
    with doc.retokenize() as retokenizer:
        for ent in doc.ents:
            retokenizer.merge(ent)
    assert [(ent.text, ent.kb_id_, ent._.cui) for ent in doc.ents] == [
        ("heart attack", ATTACK, ATTACK), ("fever", FEVER, FEVER),
    ]  # fmt: skip


@pytest.mark.parametrize("ruler", ["entity_ruler", "span_ruler"])
def test_entities_of_a_ruler(tiny_assets, ruler):
    nlp = spacy.blank("en")
    config = {"annotate_ents": True, "spans_key": None} if ruler == "span_ruler" else {}
    patterns = [
        {"label": "DISEASE", "pattern": "heart attack", "id": "mine"},
        {"label": "SYMPTOM", "pattern": [{"LOWER": "fever"}]},
    ]
    nlp.add_pipe(ruler, config=config).add_patterns(patterns)
    nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
    doc = nlp("A heart attack and FEVER.")
    assert [(ent.label_, ent.kb_id_, ent.ent_id_) for ent in doc.ents] == [
        ("DISEASE", ATTACK, "mine"), ("SYMPTOM", FEVER, ""),
    ]  # fmt: skip


def test_labels_to_skip_are_left_as_they_are(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, labels_discard=["DATE", "PERSON"])
    doc = nlp.make_doc("Fever on Monday after asthma")
    doc.set_ents([
        Span(doc, 0, 1, label="SYMPTOM"), Span(doc, 2, 3, label="DATE", kb_id="Q105"),
        Span(doc, 4, 5, label="PERSON"),
    ])  # fmt: skip
    linker = nlp.get_pipe("medical_linker")
    assert [len(own) for own in linker.predict([doc])] == [1]
    doc = nlp(doc)
    assert ids(doc.ents) == [FEVER, "Q105", ""]
    assert [bool(ent._.candidates) for ent in doc.ents] == [True, False, False]


def test_labels_to_skip_in_groups(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, labels_discard=["DATE"], spans_key="sc")
    doc = nlp.make_doc("Fever on Monday after asthma")
    doc.spans["sc"] = [Span(doc, 2, 3, "DATE"), Span(doc, 0, 1, "X"), Span(doc, 4, 5, "Y")]
    assert ids(nlp(doc).spans["sc"]) == ["", FEVER, ASTHMA]


@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_links_that_are_there_are_replaced_or_kept(tiny_assets, spans_key):
    for merge in ("replace", "fill"):
        nlp = pipeline(tiny_assets, mentions=False, merge=merge, spans_key=spans_key)
        doc = nlp.make_doc("heart attack, fever")
        spans = [Span(doc, 0, 2, label="A", kb_id="X:1"), Span(doc, 3, 4, label="A")]
        if spans_key:
            doc.spans[spans_key] = spans
        else:
            doc.set_ents(spans)
        doc = nlp(doc)
        found = doc.spans[spans_key] if spans_key else doc.ents
        assert ids(found) == [ATTACK if merge == "replace" else "X:1", FEVER]
        assert found[0]._.candidates, "the attributes are the linker's own"
