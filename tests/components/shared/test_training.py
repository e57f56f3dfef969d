"""The transformer is trained by what listens to it; `spacy train`."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import spacy
import torch
from spacy.cli.train import train
from spacy.training import Example
from thinc.api import Adam

from spacy_medlink.components.shared_encoder import InContext
from tests.components.test_spacy_train import MENTIONS

from .pipelines import LISTENER, examples_of, linker_of, made, network_of, texts_of, with_ner

ROOT = Path(__file__).parents[3]


def test_training_lowers_the_loss_and_the_index_follows(trained, gold):
    assert trained.losses[-1] < 0.5 * trained.losses[0]
    scores = trained.evaluate(examples_of(trained, gold))
    assert scores["acc@1"] > 0.8
    linker = linker_of(trained)
    assert not linker.rebuild_index()
    vectors = linker.engine.parts.encoder.encode(list(linker.kb.iter_texts()))
    stored = linker.assets.dense.vectors(np.arange(len(vectors)))
    assert (vectors * stored).sum(axis=1).min() > 0.999


def gradients(nlp, **given) -> float:
    """Take a step back from vectors. RETURNS: how much of it reaches the transformer."""
    doc = nlp.make_doc("We saw lung clot there.")
    transformer, model = nlp.get_pipe("transformer"), linker_of(nlp).model
    transformer.update([Example(doc, doc.copy())])
    spans = [doc[2:4]] * given.pop("spans", 0)
    network_of(nlp).zero_grad()
    vectors, backprop = model.begin_update(InContext([doc], spans, **given))
    backprop(np.random.default_rng(0).normal(size=vectors.shape).astype("f"))
    found = [one.grad.abs().sum() for one in network_of(nlp).parameters() if one.grad is not None]
    return float(sum(found))


def test_gradients_of_mentions_and_of_names_reach_the_transformer(tiny_encoder, names):
    nlp = made(tiny_encoder, names)
    assert gradients(nlp, spans=1) > 0 and gradients(nlp, texts=["heart attack"]) > 0
    assert gradients(nlp) == 0, "nothing to learn"
    frozen = {**LISTENER, "grad_factor": 0.0}
    shared = {"@architectures": "spacy-medlink.SharedBiEncoder.v1", "tok2vec": frozen}
    still = made(tiny_encoder, names, model=shared)
    assert gradients(still, spans=1, texts=["heart attack"]) == 0
    assert linker_of(still).model.shims[0].projection.weight.grad.abs().sum() > 0


def test_others_that_listen_are_trained_without_gold_mentions(tiny_encoder, names, gold):
    nlp = with_ner(made(tiny_encoder, names))
    before = deepcopy(network_of(nlp).state_dict())
    examples = examples_of(nlp, gold)
    for example in examples:
        for token in example.reference:
            token.ent_kb_id_ = ""
    sgd = Adam(0.01)
    losses = [nlp.update(examples, sgd=sgd) for _ in range(2)][-1]
    assert losses["medical_linker"] == 0 and losses["ner"] > 0
    after = network_of(nlp).state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_frozen_transformer_lets_the_projection_learn(nlp, gold):
    before, examples = deepcopy(network_of(nlp).state_dict()), examples_of(nlp, gold)
    sgd, projection = Adam(0.01), linker_of(nlp).model.shims[0].projection
    losses = []
    for _ in range(10):
        for example in examples:
            nlp.get_pipe("transformer")(example.predicted)  # as an annotating component does
        own = nlp.update(examples, sgd=sgd, exclude=["transformer"], annotates=["transformer"])
        losses.append(own["medical_linker"])
    assert losses[-1] < losses[0]
    after = network_of(nlp).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not torch.equal(projection.weight, torch.eye(32))
    assert nlp.evaluate(examples)["acc@1"] is not None


def test_spacy_train(tmp_path, tiny_encoder, names, gold):
    values = {
        "paths.transformer": str(tiny_encoder), "paths.assets": str(names.path),
        "paths.train": str(gold), "paths.dev": str(gold), "training.max_steps": 30,
        "training.eval_frequency": 15, "training.dropout": 0.0,
        "training.optimizer.learn_rate.initial_rate": 0.005,
        "training.optimizer.learn_rate.warmup_steps": 1,
        "components.transformer.model.get_spans.window": 16,
        "components.transformer.model.get_spans.stride": 12,
    }  # fmt: skip
    config = ROOT / "training" / "configs" / "pipeline_transformer.cfg"
    train(config, tmp_path / "out", overrides=values)
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert nlp.pipe_names == ["transformer", "ner", "medical_linker"]
    scores = nlp.evaluate(examples_of(nlp, gold))
    assert scores["acc@1"] > 0.6 and scores["ents_f"] > 0.6
    docs = list(nlp.pipe(texts_of()))
    found = {(ent.text, ent.kb_id_) for doc in docs for ent in doc.ents}
    assert len(found & set(MENTIONS)) > 4
    best = spacy.load(tmp_path / "out" / "model-best")
    assert best.meta["performance"]["acc@1"] > 0.6
