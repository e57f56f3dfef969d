"""A shared transformer that is not there, or not the one that made the index."""

import pytest
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_medlink.annotate.evaluate import evaluate
from spacy_medlink.errors import MedlinkError
from tests.tiny import write_tiny_encoder

from .pipelines import (
    LISTENER,
    WHOLE,
    blank,
    examples_of,
    linker_of,
    made,
    network_of,
    pattern,
    texts_of,
    with_ner,
)


def test_longer_than_the_transformer_takes(tiny_encoder, names):
    text = "We saw a fever. " * 40 + "lung clot"
    cut = made(tiny_encoder, names, spans=WHOLE)
    with pytest.warns(UserWarning, match="W242"):
        doc = cut(text)
    ent = doc.ents[-1]
    (alone,) = linker_of(cut).link_texts(["lung clot"])
    assert [one["id"] for one in ent._.candidates] == [one.id for one in alone.candidates]
    whole = made(tiny_encoder, names)(text)
    assert whole.ents[-1].text == "lung clot" and whole.ents[-1]._.candidates


def test_without_a_transformer(tiny_encoder, names):
    nlp = blank(tiny_encoder, names)
    with pytest.raises(MedlinkError, match="E225"):
        linker_of(nlp).link_texts(["fever"])  # not initialised
    nlp = made(tiny_encoder, names)
    nlp.remove_pipe("transformer")
    with pytest.raises(MedlinkError, match="E225"):
        nlp("We saw lung clot there.")
    lone = spacy.blank("en")
    lone.add_pipe("entity_ruler").add_patterns([pattern("fever")])
    shared = {"@architectures": "spacy-medlink.SharedBiEncoder.v1", "tok2vec": LISTENER}
    lone.add_pipe("medical_linker", config={"assets": str(names.path), "model": shared})
    with pytest.raises(MedlinkError, match="E225"):
        lone("a fever")
    with pytest.raises(MedlinkError, match="E225"):
        lone.initialize()


@pytest.mark.parametrize("way", ["in place", "as thinc does", "loaded", "trained"])
def test_a_transformer_that_was_changed(tmp_path, tiny_encoder, names, gold, way):
    nlp = made(tiny_encoder, names)
    assert nlp(texts_of()[0]).ents[0]._.candidates
    if way == "in place":
        with torch.no_grad():
            network_of(nlp).embeddings.word_embeddings.weight.mul_(1.5)
    elif way == "as thinc does":
        for parameter in network_of(nlp).parameters():
            parameter.data.numpy()[...] += 0.01
    elif way == "loaded":
        (tmp_path / "other").mkdir()
        write_tiny_encoder(tmp_path / "other", seed=5)
        other = made(tmp_path / "other", names)
        nlp.get_pipe("transformer").from_bytes(other.get_pipe("transformer").to_bytes())
    else:
        nlp = with_ner(nlp, last=True)  # the last one that listens is what trains it
        for _ in range(2):
            nlp.update(examples_of(nlp, gold), sgd=Adam(0.01), exclude=["medical_linker"])
    doc = nlp.make_doc("We saw lung clot there.")
    with pytest.raises(MedlinkError, match="E226"):
        linker_of(nlp).link_spans(doc, [doc[2:4]])
    with pytest.raises(MedlinkError, match="E226"):
        linker_of(nlp).link_texts(["fever"])
    linker_of(nlp).initialize(list, nlp=nlp)
    assert linker_of(nlp).link_spans(doc, [doc[2:4]])[0].candidates


def test_a_saved_pipeline_with_another_transformer(tmp_path, tiny_encoder, names, nlp):
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "other").mkdir()
    write_tiny_encoder(tmp_path / "other", seed=5)
    made(tmp_path / "other", names).get_pipe("transformer").to_disk(tmp_path / "saved/transformer")
    loaded = spacy.load(tmp_path / "saved")
    with pytest.raises(MedlinkError, match="E226"):
        loaded(texts_of()[0])


def test_documents_that_another_transformer_has_read(tmp_path, tiny_encoder, names, nlp):
    (tmp_path / "other").mkdir()
    write_tiny_encoder(tmp_path / "other", seed=5)
    other = made(tmp_path / "other", names)
    doc: Doc = other("We saw lung clot there.")
    with pytest.raises(MedlinkError, match="E227"):
        linker_of(nlp).link_spans(doc, [doc[2:4]])
    other.remove_pipe("medical_linker")
    other.add_pipe("medical_linker", source=nlp)
    with pytest.raises(MedlinkError, match="E226"):  # its pipeline has another transformer now
        other("We saw lung clot there.")


def test_calibrators_of_names_are_left_out(tiny_encoder, names):
    with pytest.warns(UserWarning, match="W241"):
        nlp = made(tiny_encoder, names, threshold=None)
    assert linker_of(nlp).engine.parts.calibrator is None


def test_evaluation_without_context_says_so(tmp_path, trained, gold):
    trained.to_disk(tmp_path / "saved")
    with pytest.warns(UserWarning, match="W408"):
        metrics = evaluate(source=str(tmp_path / "saved"), gold=gold)
    assert metrics
