"""Saving, other processes, and replaced listeners."""

import pickle
from copy import deepcopy

import spacy
import torch

from .pipelines import linker_of, links_of, made, network_of, texts_of, with_ner


def test_disk_bytes_pickle_and_copies(tmp_path, trained):
    links = links_of(trained.pipe(texts_of()))
    trained.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert links_of(loaded.pipe(texts_of())) == links
    other = spacy.blank("en").from_config(trained.config)
    other.from_bytes(trained.to_bytes())
    assert links_of(other.pipe(texts_of())) == links
    assert links_of(pickle.loads(pickle.dumps(trained)).pipe(texts_of())) == links
    copied = deepcopy(loaded)
    assert links_of(copied.pipe(texts_of())) == links
    shared = linker_of(copied).model.shims[0]
    assert shared.network is network_of(copied) is not network_of(loaded)


def test_two_processes(trained):
    texts = texts_of() * 2
    assert links_of(trained.pipe(texts, n_process=2, batch_size=4)) == links_of(trained.pipe(texts))


def test_replaced_listeners(tmp_path, trained):
    nlp = pickle.loads(pickle.dumps(trained))
    links = links_of(nlp.pipe(texts_of()))
    nlp.replace_listeners("transformer", "medical_linker", ["model.tok2vec"])
    assert links_of(nlp.pipe(texts_of())) == links
    with torch.no_grad():
        next(network_of(nlp).parameters()).zero_()
    assert links_of(nlp.pipe(texts_of())) == links, "its own network now"
    nlp.remove_pipe("transformer")
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert links_of(loaded.pipe(texts_of())) == links


def test_listeners_of_others_replaced(tiny_encoder, names):
    nlp = with_ner(made(tiny_encoder, names))
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    doc = nlp.make_doc("We saw lung clot there.")
    assert linker_of(nlp).link_spans(doc, [doc[2:4]])[0].candidates
