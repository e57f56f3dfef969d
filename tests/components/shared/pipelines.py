"""Pipelines of a transformer and a linker that shares it, and what is asked of them."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example

pytest.importorskip("spacy_transformers")

from spacy_medlink.components.examples import gold_reader
from tests.components.test_spacy_train import MENTIONS

LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1", "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_sum.v1"},
}  # fmt: skip
WINDOWS = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 16, "stride": 12}
WHOLE = {"@span_getters": "spacy-transformers.doc_spans.v1"}


def blank(transformer, assets, spans=WINDOWS, **settings):
    """A pipeline of transformer and linker, not initialised; entities come from a ruler."""
    nlp = spacy.blank("en")
    network = {
        "@architectures": "spacy-transformers.TransformerModel.v3", "name": str(transformer),
        "tokenizer_config": {"use_fast": True}, "get_spans": spans,
    }  # fmt: skip
    nlp.add_pipe("transformer", config={"model": network})
    nlp.add_pipe("entity_ruler").add_patterns([pattern(mention) for mention, _ in MENTIONS])
    shared = {"@architectures": "spacy-medlink.SharedBiEncoder.v1", "tok2vec": LISTENER}
    config = {"assets": str(assets.path), "model": shared, "tiers": ["dense"], "threshold": 0.0}
    nlp.add_pipe("medical_linker", config={**config, **settings})
    return nlp


def pattern(text):
    return {"label": "DIS", "pattern": [{"LOWER": word} for word in text.split()]}


def made(transformer, assets, **settings):
    nlp = blank(transformer, assets, **settings)
    nlp.get_pipe("transformer").initialize(list, nlp=nlp)
    nlp.get_pipe("medical_linker").initialize(list, nlp=nlp)
    return nlp


def with_ner(nlp, **place):
    tok2vec = {**LISTENER, "pooling": {"@layers": "reduce_mean.v1"}}
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner",
        "extra_state_tokens": False, "hidden_width": 16, "maxout_pieces": 2, "use_upper": False,
        "tok2vec": tok2vec,
    }  # fmt: skip
    ner = nlp.add_pipe("ner", **(place or {"before": "entity_ruler"}), config={"model": parser})
    nlp.remove_pipe("entity_ruler")
    ner.add_label("DIS")
    doc = nlp.make_doc("a fever")
    ner.initialize(lambda: [Example(doc, doc.copy())], nlp=nlp)
    return nlp


def examples_of(nlp, gold):
    return list(gold_reader(str(gold))(nlp))


def linker_of(nlp):
    return nlp.get_pipe("medical_linker")


def network_of(nlp) -> torch.nn.Module:
    return nlp.get_pipe("transformer").model.transformer


def texts_of(mentions=MENTIONS):
    return [f"We saw {mention} there." for mention, _ in mentions]


def links_of(docs):
    return [[(ent.text, ent.kb_id_, scores_of(ent)) for ent in doc.ents] for doc in docs]


def scores_of(ent):
    return [round(one["score"], 3) for one in ent._.candidates]


def vector_of(nlp, doc, start, end):
    (mention,) = linker_of(nlp).mentions(doc, [doc[start:end]])
    return np.frombuffer(mention.vector, dtype=np.float32)


def unit(vector):
    return vector / np.linalg.norm(vector)
