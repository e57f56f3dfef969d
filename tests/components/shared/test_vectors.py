"""Mentions where they stand, and names, as vectors."""

import numpy as np
import pytest
from spacy.tokens import Span

from .pipelines import WINDOWS, linker_of, links_of, made, network_of, unit, vector_of


def test_a_mention_is_the_mean_of_its_word_pieces_where_it_stands(nlp):
    doc = nlp("We saw an odd heart attack there.")
    data = doc._.trf_data
    states = data.model_output.last_hidden_state.reshape(-1, data.width)
    pieces = np.concatenate([data.align[token].data.ravel() for token in (4, 5)])
    own = vector_of(nlp, doc, 4, 6)
    np.testing.assert_allclose(own, unit(states[pieces].mean(axis=0)), atol=1e-5)


def test_a_mention_without_a_context_has_the_vector_of_the_name(nlp):
    alone = linker_of(nlp).engine.parts.encoder.encode(["heart attack"])[0]
    assert own_of(nlp, "heart attack") @ alone > 0.999
    assert own_of(nlp, "We saw heart attack.", 2) @ alone < 0.99


def own_of(nlp, text, start=0):
    return vector_of(nlp, nlp(text), start, start + 2)


def test_a_mention_at_the_border_of_a_window_is_read_in_both(tiny_encoder, names):
    cut = {**WINDOWS, "window": 5, "stride": 5}
    nlp = made(tiny_encoder, names, spans=cut)
    doc = nlp("We saw an odd heart attack there.")  # the border is between its words
    data = doc._.trf_data
    assert data.model_output.last_hidden_state.shape[0] == 2
    states = data.model_output.last_hidden_state.reshape(-1, data.width)
    pieces = np.concatenate([data.align[token].data.ravel() for token in (4, 5)])
    width = data.wordpieces.input_ids.shape[1]
    assert {int(piece) // width for piece in pieces} == {0, 1}
    own = vector_of(nlp, doc, 4, 6)
    np.testing.assert_allclose(own, unit(states[pieces].mean(axis=0)), atol=1e-5)


def test_the_same_words_are_looked_up_for_each_context(nlp):
    linker = linker_of(nlp)
    docs = list(nlp.pipe(["We saw lung clot there.", "No fever but lung clot", "lung clot"]))
    first, second, third = ([one["score"] for one in doc.ents[0]._.candidates] for doc in docs)
    assert first != second != third
    again = nlp("We saw lung clot there.").ents[0]._.candidates
    assert [one["score"] for one in again] == pytest.approx(first, abs=1e-5)
    said = linker.explain(docs[0].ents[0]).as_dict()
    assert [one["score"] for one in said["candidates"]] == pytest.approx(first, abs=1e-4)
    (bare,) = linker.link_texts(["lung clot"])
    assert [one.score for one in bare.candidates] == pytest.approx(third, abs=1e-3)


def test_long_forms_and_parts_are_encoded_alone(tiny_encoder, names):
    nlp = made(tiny_encoder, names, composite=True)
    doc = nlp("The lung embolism (PE) was seen; PE and fever.")
    doc.ents = [Span(doc, 9, 10, "DIS")]
    links = linker_of(nlp).link_spans(doc, doc.ents)
    assert doc.ents[0].text == "PE" and links[0].candidates[0].id == "HP:0002204"


def test_other_tiers_stay(tiny_encoder, names):
    nlp = made(tiny_encoder, names, tiers=None)
    doc = nlp.make_doc("We saw a heart attack there.")
    doc.ents = [Span(doc, 3, 5, "DIS")]
    (link,) = linker_of(nlp).link_spans(doc, doc.ents)
    assert link.id == "HP:0001658" and link.candidates[0].scores["exact"] > 0.9


def test_a_transformer_in_training_mode_changes_nothing(nlp):
    encoder = linker_of(nlp).engine.parts.encoder
    before = encoder.encode(["heart attack"])
    nlp("a text")
    assert network_of(nlp).training, "thinc leaves it so"
    np.testing.assert_array_equal(encoder.encode(["heart attack"]), before)


def test_documents_that_were_not_read_yet(nlp):
    doc = nlp("We saw lung clot there.")
    bare = nlp.make_doc(doc.text)
    spans = [bare[2:4]]
    (link,) = linker_of(nlp).link_spans(bare, spans)
    assert bare._.trf_data is None
    scores = [one["score"] for one in doc.ents[0]._.candidates]
    assert [one.score for one in link.candidates] == pytest.approx(scores, abs=1e-5)
    with nlp.select_pipes(disable=["transformer"]):
        assert links_of([nlp(doc.text)]) == links_of([doc])


def test_documents_without_anything(nlp):
    assert [len(doc.ents) for doc in nlp.pipe(["", " ", "nothing"])] == [0, 0, 0]
