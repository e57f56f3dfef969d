"""A linker on the pipeline's own transformer: context, training, saving, and what goes wrong."""

import json
import pickle
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from spacy.cli.train import train
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Adam

pytest.importorskip("spacy_transformers")

from spacy_medlink.assets import Assets
from spacy_medlink.cli.evaluate import evaluate_linker
from spacy_medlink.components.examples import gold_reader
from spacy_medlink.components.shared_encoder import InContext
from spacy_medlink.errors import MedlinkError
from tests.components.test_spacy_train import MENTIONS
from tests.tiny import TINY_RECORDS, assets_of, write_tiny_encoder

ROOT = Path(__file__).parents[2]
LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1", "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_sum.v1"},
}  # fmt: skip
WINDOWS = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 16, "stride": 12}
WHOLE = {"@span_getters": "spacy-transformers.doc_spans.v1"}


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> Assets:
    """Assets without an encoder: the pipeline's transformer makes the vectors."""
    return assets_of(tmp_path_factory.mktemp("names"), TINY_RECORDS)


@pytest.fixture(scope="module")
def gold(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    lines = []
    for number, (mention, id) in enumerate(MENTIONS):
        text = f"We saw {mention} there."
        own = {"start": 7, "end": 7 + len(mention), "mention": mention, "ids": [id], "type": "DIS"}
        lines.append(json.dumps({"doc_id": str(number), "text": text, "mentions": [own]}))
    path.write_text("\n".join(lines), encoding="utf8")
    return path


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


@pytest.fixture
def nlp(tiny_encoder, names):
    return made(tiny_encoder, names)


@pytest.fixture(scope="module")
def trained(tiny_encoder, names, gold):
    """A pipeline that has learned the gold mentions; do not change it."""
    nlp = made(tiny_encoder, names)
    examples, sgd = examples_of(nlp, gold), Adam(0.003)
    nlp.losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(25)]
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
    (mention,) = linker_of(nlp).preparer.mentions_of(doc, [doc[start:end]])
    return np.frombuffer(mention.vector, dtype=np.float32)


def unit(vector):
    return vector / np.linalg.norm(vector)


# Vectors


def test_a_mention_is_the_mean_of_its_word_pieces_where_it_stands(nlp):
    doc = nlp("We saw an odd heart attack there.")
    data = doc._.trf_data
    states = data.model_output.last_hidden_state.reshape(-1, data.width)
    pieces = np.concatenate([data.align[token].data.ravel() for token in (4, 5)])
    own = vector_of(nlp, doc, 4, 6)
    np.testing.assert_allclose(own, unit(states[pieces].mean(axis=0)), atol=1e-5)


def test_a_mention_without_a_context_has_the_vector_of_the_name(nlp):
    alone = linker_of(nlp).engine.encoder.encode(["heart attack"])[0]
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
    assert [one["score"] for one in bare.candidates] == pytest.approx(third, abs=1e-3)


def test_long_forms_and_parts_are_encoded_alone(tiny_encoder, names):
    nlp = made(tiny_encoder, names, composite=True)
    doc = nlp("The lung embolism (PE) was seen; PE and fever.")
    doc.ents = [Span(doc, 9, 10, "DIS")]
    links = linker_of(nlp).link_spans(doc, doc.ents)
    assert doc.ents[0].text == "PE" and links[0].candidates[0]["id"] == "HP:0002204"


def test_other_tiers_stay(tiny_encoder, names):
    nlp = made(tiny_encoder, names, tiers=None)
    doc = nlp.make_doc("We saw a heart attack there.")
    doc.ents = [Span(doc, 3, 5, "DIS")]
    (link,) = linker_of(nlp).link_spans(doc, doc.ents)
    assert link.id == "HP:0001658" and link.candidates[0]["scores"]["exact"] > 0.9


def test_a_transformer_in_training_mode_changes_nothing(nlp):
    encoder = linker_of(nlp).engine.encoder
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
    assert [one["score"] for one in link.candidates] == pytest.approx(scores, abs=1e-5)
    with nlp.select_pipes(disable=["transformer"]):
        assert links_of([nlp(doc.text)]) == links_of([doc])


def test_documents_without_anything(nlp):
    assert [len(doc.ents) for doc in nlp.pipe(["", " ", "nothing"])] == [0, 0, 0]


# Training


def test_training_lowers_the_loss_and_the_index_follows(trained, gold):
    assert trained.losses[-1] < 0.5 * trained.losses[0]
    scores = trained.evaluate(examples_of(trained, gold))
    assert scores["acc@1"] > 0.8
    linker = linker_of(trained)
    assert not linker.rebuild_index()
    vectors = linker.engine.encoder.encode(list(linker.kb.iter_texts()))
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


# Saving, processes, other pipelines


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


# What goes wrong


def test_longer_than_the_transformer_takes(tiny_encoder, names):
    text = "We saw a fever. " * 40 + "lung clot"
    cut = made(tiny_encoder, names, spans=WHOLE)
    with pytest.warns(UserWarning, match="W242"):
        doc = cut(text)
    ent = doc.ents[-1]
    (alone,) = linker_of(cut).link_texts(["lung clot"])
    assert [one["id"] for one in ent._.candidates] == [one["id"] for one in alone.candidates]
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


def test_a_model_and_an_encoder(tiny_encoder, names):
    other = {"@architectures": "spacy-medlink.TransformerBiEncoder.v1", "name": str(tiny_encoder)}
    with pytest.raises(MedlinkError, match="E302"):
        blank(tiny_encoder, names, encoder=other)


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
    with pytest.raises(MedlinkError, match="E227"):
        other("We saw lung clot there.")


def test_calibrators_of_names_are_left_out(tiny_encoder, names):
    with pytest.warns(UserWarning, match="W241"):
        nlp = made(tiny_encoder, names, threshold=None)
    assert linker_of(nlp).engine.calibrator is None


def test_evaluation_without_context_says_so(tmp_path, trained, gold):
    trained.to_disk(tmp_path / "saved")
    with pytest.warns(UserWarning, match="W408"):
        metrics = evaluate_linker(source=str(tmp_path / "saved"), gold=gold)
    assert metrics
