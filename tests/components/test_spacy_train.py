"""`spacy train`: the linker learns, its index follows, and what is saved is whole."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.cli.train import train
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import registry

from spacy_medlink.components.examples import gold_reader, synonym_batcher, synonym_reader
from spacy_medlink.components.linker.contrast import contrast
from spacy_medlink.errors import MedlinkError
from tests.tiny import write_tiny_encoder

CONFIG = """
[nlp]
lang = "en"
pipeline = ["medical_linker"]

[components]

[components.medical_linker]
factory = "medical_linker"
assets = {assets}
tiers = ["dense"]
calibrator = false

[components.medical_linker.encoder]
@architectures = "spacy-medlink.TransformerBiEncoder.v1"
name = {encoder}

[corpora]

[corpora.train]
@readers = "spacy-medlink.GoldReader.v1"
path = {gold}

[corpora.dev]
@readers = "spacy-medlink.GoldReader.v1"
path = {gold}

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
max_steps = 24
eval_frequency = 12
seed = 1
gpu_allocator = null

[training.batcher]
@batchers = "spacy-medlink.SynonymBatcher.v1"
size = 4

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.003
use_averages = false

[training.logger]
@loggers = "spacy.ConsoleLogger.v1"
"""
MENTIONS = [
    ("elevated glucose", "HP:0000819"), ("raised pressure", "HP:0000822"),
    ("cardiac infarct", "HP:0001658"), ("irregular beat", "HP:0005110"),
    ("wheezing disease", "HP:0002099"), ("lung clot", "HP:0002204"),
    ("sugar trouble", "HP:0000819"), ("hot body", "HP:0001945"),
]  # fmt: skip


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    lines = []
    for number, (mention, id) in enumerate(MENTIONS):
        text = f"We saw {mention} there."
        own = {"start": 7, "end": 7 + len(mention), "mention": mention, "ids": [id]}
        lines.append(json.dumps({"doc_id": str(number), "text": text, "mentions": [own]}))
    path.write_text("\n".join(lines), encoding="utf8")
    return path


def config_of(tmp_path: Path, assets: object, encoder: object, gold: Path) -> Path:
    path = tmp_path / "config.cfg"
    values = {"assets": str(assets), "encoder": str(encoder), "gold": str(gold)}
    text = CONFIG.format(**{key: json.dumps(value) for key, value in values.items()})
    path.write_text(text, encoding="utf8")
    return path


@pytest.fixture
def trainable(tiny_assets):
    """A pipeline whose linker can be trained, initialised."""
    nlp = spacy.blank("en")
    encoder = {
        "@architectures": "spacy-medlink.TransformerBiEncoder.v1",
        "name": str(tiny_assets.path / "encoder"),
    }
    config = {"assets": str(tiny_assets.path), "tiers": ["dense"], "encoder": encoder}
    nlp.add_pipe("medical_linker", config={**config, "calibrator": False})
    nlp.initialize()
    return nlp


def examples_of(nlp, gold):
    return list(gold_reader(str(gold))(nlp))


def fits(linker) -> None:
    """The index is the encoder's own: every name is found by its own vector."""
    names = list(linker.kb.iter_texts())
    vectors = linker.engine.encoder.encode(names)
    stored = linker.assets.dense.vectors(np.arange(len(names)))
    assert (vectors * stored).sum(axis=1).min() > 0.999
    found = linker.assets.manifest["encoder"]["fingerprint"]
    assert linker.assets.encoder is not None and found


def test_spacy_train(tmp_path, tiny_assets, gold):
    config = config_of(tmp_path, tiny_assets.path, tiny_assets.path / "encoder", gold)
    train(config, tmp_path / "out", overrides={})
    nlp = spacy.load(tmp_path / "out" / "model-last")
    scores = nlp.evaluate(examples_of(nlp, gold))
    untrained = spacy.blank("en")
    untrained.add_pipe(
        "medical_linker", config={"assets": str(tiny_assets.path), "tiers": ["dense"]}
    )
    before = untrained.evaluate(examples_of(untrained, gold))
    assert scores["acc@1"] > before["acc@1"] + 0.3
    assert scores["nel_micro_f"] == pytest.approx(scores["acc@1"])
    fits(nlp.get_pipe("medical_linker"))
    best = spacy.load(tmp_path / "out" / "model-best")
    assert best.meta["performance"]["acc@1"] > before["acc@1"]
    fits(best.get_pipe("medical_linker"))


def test_training_can_go_on_from_what_was_saved(tmp_path, trainable, gold):
    nlp = trainable
    sgd = nlp.create_optimizer()
    losses = [nlp.update(examples_of(nlp, gold), sgd=sgd)["medical_linker"] for _ in range(12)]
    assert losses[-1] < 0.7 * losses[0]
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    linker = again.get_pipe("medical_linker")
    fits(linker)
    more = again.update(examples_of(again, gold), sgd=again.resume_training())
    assert more["medical_linker"] < 0.5 * losses[0]
    fits(linker)


def test_the_index_follows_only_when_it_is_asked_for(trainable, gold):
    linker = trainable.get_pipe("medical_linker")
    before = linker.assets.path
    trainable.update(examples_of(trainable, gold), sgd=trainable.create_optimizer())
    assert linker._is_stale and before.is_dir()
    fits(linker)
    assert linker.assets.path != before and not linker._is_stale
    same = linker.assets.path
    list(trainable.pipe(["We saw lung clot there."]))
    assert linker.assets.path == same


def test_stale_linkers_pickle_and_copy(trainable, gold):
    trainable.update(examples_of(trainable, gold), sgd=trainable.create_optimizer())
    copied = pickle.loads(pickle.dumps(trainable))
    texts = [mention for mention, _ in MENTIONS]
    own, other = (nlp.get_pipe("medical_linker").link_texts(texts) for nlp in (trainable, copied))
    assert [link.id for link in own] == [link.id for link in other]
    fits(copied.get_pipe("medical_linker"))


def test_another_encoder_makes_the_index_anew(tmp_path, tiny_assets, tiny_kb):
    (tmp_path / "other").mkdir()
    write_tiny_encoder(tmp_path / "other", seed=7)
    nlp = spacy.blank("en")
    encoder = {
        "@architectures": "spacy-medlink.TransformerBiEncoder.v1", "name": str(tmp_path / "other"),
    }  # fmt: skip
    config = {"assets": str(tiny_assets.path), "encoder": encoder}
    linker = nlp.add_pipe("medical_linker", config=config)
    with pytest.raises(MedlinkError, match="E204"):
        _ = linker.engine
    nlp.initialize()
    fits(linker)


def test_without_an_encoder_nothing_is_trained(tiny_assets, gold):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config={"assets": str(tiny_assets.path)})
    nlp.initialize()
    assert not linker.is_trainable
    assert nlp.update(examples_of(nlp, gold), sgd=nlp.create_optimizer()) == {}


def test_starter_assets_have_nothing_to_train(tmp_path, tiny_encoder, gold):
    nlp = spacy.blank("en")
    encoder = {
        "@architectures": "spacy-medlink.TransformerBiEncoder.v1", "name": str(tiny_encoder),
    }  # fmt: skip
    linker = nlp.add_pipe("medical_linker", config={"encoder": encoder})
    with pytest.warns(UserWarning, match="W101"), pytest.raises(MedlinkError, match="E307"):
        linker.update(examples_of(nlp, gold))


def test_batches_that_teach_nothing(trainable):
    doc = trainable.make_doc("nothing here")
    other = trainable.make_doc("odd thing")
    other.set_ents([Span(other, 0, 2, label="X", kb_id="HP:9999999")])
    examples = [Example(trainable.make_doc(one.text), one) for one in (doc, other)]
    assert trainable.update(examples, sgd=trainable.create_optimizer()) == {"medical_linker": 0.0}
    assert trainable.evaluate([examples[0]])["acc@1"] is None


def test_get_loss_is_that_of_update(trainable, gold):
    linker = trainable.get_pipe("medical_linker")
    examples = examples_of(trainable, gold)
    vectors = linker.model.predict(linker.lesson(examples).texts)
    loss, gradient = linker.get_loss(examples, vectors)
    assert gradient.shape == vectors.shape and np.abs(gradient).sum() > 0
    assert linker.update(examples)["medical_linker"] == pytest.approx(loss, rel=0.05)


@pytest.mark.filterwarnings("ignore:.*W331")
def test_scores_of_the_entities_that_are_found(tiny_assets):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path)})
    config = {"assets": str(tiny_assets.path), "use_gold_ents": False}
    nlp.add_pipe("medical_linker", config=config)
    doc = nlp.make_doc("asthma and hot body")
    doc.set_ents([Span(doc, 0, 1, "X", kb_id="HP:0002099"), Span(doc, 2, 4, "X", "HP:0001945")])
    doc.set_ents([Span(doc, 0, 1, "X", kb_id="HP:0002099"),
                  Span(doc, 2, 4, "X", kb_id="HP:0001945")])  # fmt: skip
    example = Example(nlp.make_doc(doc.text), doc)
    scores = nlp.evaluate([example])
    assert scores["acc@1"] == scores["nel_micro_r"] == 0.5
    assert scores["nel_micro_p"] == 1.0


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    mentions, names = (rng.normal(size=(n, 6)).astype(np.float32) for n in (5, 9))
    right, ignored = rng.random((5, 9)) < 0.3, rng.random((5, 9)) < 0.2
    right[2] = False
    loss, by_mentions, by_names = contrast(mentions, names, right, ignored, 0.5)
    first, second = (torch.from_numpy(one).double().requires_grad_() for one in (mentions, names))
    scores = (first @ second.T / 0.5).masked_fill(torch.from_numpy(ignored), -torch.inf)
    odds = torch.log_softmax(scores, dim=1)
    own = torch.from_numpy(right & ~ignored)
    learning = own.any(dim=1)
    wanted = -odds.masked_fill(~own, -torch.inf)[learning].logsumexp(dim=1).mean()
    wanted.backward()
    assert 0 < learning.sum() < 5
    assert loss == pytest.approx(wanted.item(), rel=1e-5)
    np.testing.assert_allclose(by_mentions, first.grad, atol=1e-5)
    np.testing.assert_allclose(by_names, second.grad, atol=1e-5)


def test_gold_reader(tmp_path):
    nlp = spacy.blank("en")
    lines = [
        {"text": "Old heart attack.", "mentions": [
            {"start": 4, "end": 16, "mention": "heart attack", "ids": ["A", "B"], "type": "DIS"},
            {"start": 10, "end": 16, "mention": "attack", "ids": ["C"]},
            {"start": 0, "end": 2, "mention": "Ol", "ids": []},
        ]},
        {"mention": "a bare one", "ids": []},
    ]  # fmt: skip
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf8")
    with pytest.warns(UserWarning, match=r"W105.* 2 of the 4 mentions"):
        first, second = registry.readers.get("spacy-medlink.GoldReader.v1")(str(path))(nlp)
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in first.reference.ents] == [
        ("heart attack", "DIS", "A")
    ]
    assert [(ent.text, ent.kb_id_) for ent in second.reference.ents] == [("a bare one", "NIL")]
    assert not first.predicted.ents


def test_synonym_reader(tiny_kb):
    nlp = spacy.blank("en")
    found: dict[str, list[str]] = {}
    for example in synonym_reader(str(tiny_kb.path), 3)(nlp):
        (ent,) = example.reference.ents
        found.setdefault(ent.kb_id_, []).append(ent.text)
    assert found["HP:0000822"][0] == "Hypertension"
    assert all(2 <= len(names) <= 3 for names in found.values())
    assert set(found) == {concept.id for concept in tiny_kb if len(concept.names) > 1}
    with pytest.raises(MedlinkError, match="E302"):
        synonym_reader(str(tiny_kb.path), 1)


BLANK = spacy.blank("en")


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(2, 4), st.integers(0, 8))
def test_synonym_batcher(ids, together, more):
    nlp, examples = BLANK, []
    for number, id in enumerate(ids):
        doc = nlp.make_doc(f"name{number}")
        doc.set_ents([Span(doc, 0, 1, label="X", kb_id=str(id))])
        examples.append(Example(nlp.make_doc(doc.text), doc))
    batches = list(synonym_batcher(together + more, together)(examples))
    flat = [example for batch in batches for example in batch]
    assert sorted(map(id_of, flat)) == sorted(map(id_of, examples))
    for batch in batches:
        assert len(batch) <= max(together + more, 2 * together - 1)
        for one in set(map(concept_of, batch)):
            own = sum(concept_of(example) == one for example in batch)
            assert own >= min(together, ids.count(int(one)))


def id_of(example):
    return example.reference.text


def concept_of(example):
    return example.reference.ents[0].kb_id_
