"""`spacy train`: the linker learns, its index follows, and what is saved is whole."""

import json
import pickle
import shutil
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

from spacy_medlink import use_tokenizer
from spacy_medlink.assets import build_assets
from spacy_medlink.components.examples import gold_reader, synonym_batcher, synonym_reader
from spacy_medlink.components.linker.text_batch import make_batch
from spacy_medlink.components.linker.trainer import Trainer
from spacy_medlink.encoders.architectures import transformer_bi_encoder
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.errors import MedlinkError
from tests.lines import note, said, write_lines
from tests.pipelines import architecture, pipeline
from tests.tiny import write_tiny_encoder
from training.package import main as make_pipeline
from training.recipe.settings import ObjectiveSettings

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

[components.medical_linker.model]
@architectures = "spacy-medlink.TransformerBiEncoder.v1"
name = {encoder}

[components.medical_linker.objective]
@misc = "spacy-medlink.BatchObjective.v1"
miner = "multi_similarity"
loss = "multi_similarity"
loss_settings = {{"alpha": 1.0}}

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


def notes_of(mentions, **facts):
    for number, (mention, id) in enumerate(mentions):
        text = f"We saw {mention} there."
        yield note(text, said(text, mention, id, **facts), doc_id=str(number))


@pytest.fixture
def gold(tmp_path):
    return write_lines(tmp_path / "gold.jsonl", *notes_of(MENTIONS))


def config_of(tmp_path: Path, assets: object, encoder: object, gold: Path) -> Path:
    path = tmp_path / "config.cfg"
    values = {"assets": str(assets), "encoder": str(encoder), "gold": str(gold)}
    text = CONFIG.format(**{key: json.dumps(value) for key, value in values.items()})
    path.write_text(text, encoding="utf8")
    return path


@pytest.fixture
def trainable(tiny_assets):
    """A pipeline whose linker can be trained, initialised."""
    return trainable_with(tiny_assets)


def trainable_with(tiny_assets, **settings):
    own = {"tiers": ["dense"], "model": architecture(tiny_assets.path / "encoder")}
    nlp = pipeline(tiny_assets, mentions=False, calibrator=False, **own, **settings)
    nlp.initialize()
    return nlp


def examples_of(nlp, gold):
    return list(gold_reader(str(gold))(nlp))


def fits(linker) -> None:
    """The index is the encoder's own: every name is found by its own vector."""
    names = list(linker.kb.iter_texts())
    vectors = linker.engine.parts.encoder.encode(names)
    stored = linker.assets.dense.vectors(np.arange(len(names)))
    assert (vectors * stored).sum(axis=1).min() > 0.999
    found = linker.assets.manifest["encoder"]["fingerprint"]
    assert linker.assets.encoder is not None and found


def test_spacy_train(tmp_path, tiny_assets, gold):
    config = config_of(tmp_path, tiny_assets.path, tiny_assets.path / "encoder", gold)
    train(config, tmp_path / "out", overrides={})
    nlp = spacy.load(tmp_path / "out" / "model-last")
    scores = nlp.evaluate(examples_of(nlp, gold))
    untrained = pipeline(tiny_assets, mentions=False, tiers=["dense"])
    before = untrained.evaluate(examples_of(untrained, gold))
    assert scores["acc@1"] > before["acc@1"] + 0.3
    assert scores["nel_micro_f"] == pytest.approx(scores["acc@1"])
    fits(nlp.get_pipe("medical_linker"))
    best = spacy.load(tmp_path / "out" / "model-best")
    assert best.meta["performance"]["acc@1"] > before["acc@1"]
    fits(best.get_pipe("medical_linker"))


def test_training_can_go_on_from_what_was_saved(tmp_path, trainable, gold):
    nlp, examples = trainable, examples_of(trainable, gold)
    before = nlp.evaluate(examples)["acc@1"]
    sgd = nlp.create_optimizer()
    losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]
    assert nlp.evaluate(examples)["acc@1"] > before + 0.3
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    linker = again.get_pipe("medical_linker")
    fits(linker)
    more = again.update(examples_of(again, gold), sgd=again.resume_training())
    assert more["medical_linker"] < 0.5 * losses[0]
    assert linker.rebuild_index()
    fits(linker)


@pytest.fixture(params=["torch", "onnx", "static"])
def packaged(request, tmp_path, tiny_kb, tiny_encoder):
    """A pipeline as `training.package` saves it, with each kind of encoder."""
    encoder = BiEncoder.load(tiny_encoder)
    if request.param == "static":
        encoder.module.encoder.layer = encoder.module.encoder.layer[:0]
        encoder.module.config.num_hidden_layers = 0
    encoder.save(tmp_path / "encoder")
    runtime = "onnx" if request.param == "onnx" else None
    build_assets(tmp_path / "assets", tiny_kb.path, tmp_path / "encoder", runtime=runtime)
    make_pipeline(
        tmp_path / "assets", tmp_path / "packaged", lang="en", cui_scheme=None, name="x",
        version="1",
    )  # fmt: skip
    shutil.rmtree(tmp_path / "assets")
    shutil.rmtree(tmp_path / "encoder")
    return tmp_path / "packaged"


def test_a_packaged_pipeline_learns_and_links_by_the_same_runtime(tmp_path, packaged, gold):
    nlp = spacy.load(packaged)
    linker = nlp.get_pipe("medical_linker")
    runtime = type(linker.engine.parts.encoder)
    examples = examples_of(nlp, gold)
    before = nlp.evaluate(examples)["acc@1"]
    assert linker.is_trainable and not linker.model.shims, "linking does not load it to train it"
    sgd = nlp.resume_training()
    nlp.update([Example(nlp.make_doc("Nothing."), nlp.make_doc("Nothing."))], sgd=sgd)
    assert not linker.model.shims and not linker.rebuild_index(), "nothing to learn changes nothing"
    sgd.learn_rate = 0.003
    losses = [nlp.update(examples, sgd=sgd)["medical_linker"] for _ in range(20)]
    assert losses[-1] < 0.7 * losses[0]
    after = nlp.evaluate(examples)["acc@1"]
    assert after > before + 0.2
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    assert again.evaluate(examples)["acc@1"] == after
    for loaded in (nlp, again, pickle.loads(pickle.dumps(nlp))):
        linker = loaded.get_pipe("medical_linker")
        assert type(linker.engine.parts.encoder) is runtime
        fits(linker)
    more = again.update(examples, sgd=again.resume_training())["medical_linker"]
    assert more < 0.7 * losses[0]
    assert linker.link_texts(["fever"])[0].id == "HP:0001945"


@pytest.mark.parametrize("packaged", ["static"], indirect=True)
def test_spacy_train_goes_on_from_a_packaged_pipeline(tmp_path, packaged, gold):
    text = CONFIG.format(assets="null", encoder="null", gold=json.dumps(str(gold)))
    head, tail = text.split("[components.medical_linker]")[0], text[text.index("[corpora]") :]
    config = tmp_path / "config.cfg"
    source = f"[components.medical_linker]\nsource = {json.dumps(str(packaged))}\n\n"
    config.write_text(head + source + tail, encoding="utf8")
    train(config, tmp_path / "out", overrides={})
    before, after = (
        nlp.evaluate(examples_of(nlp, gold))["acc@1"]
        for nlp in (spacy.load(packaged), spacy.load(tmp_path / "out" / "model-last"))
    )
    assert after > before + 0.2


def test_other_assets_bring_their_own_encoder(tmp_path, tiny_assets, tiny_kb, gold):
    """What was learned over the last ones is not theirs."""
    nlp = pipeline(tiny_assets, mentions=False, model=architecture(None))
    linker = nlp.get_pipe("medical_linker")
    nlp.initialize()
    nlp.update(examples_of(nlp, gold), sgd=nlp.create_optimizer())
    linker.initialize(lambda: [], assets=str(tiny_assets.path))
    assert not linker.rebuild_index()
    fingerprint = tiny_assets.manifest["encoder"]["fingerprint"]
    assert linker.opened.encoder().fingerprint() == fingerprint
    nlp.update(examples_of(nlp, gold), sgd=nlp.create_optimizer())
    assert linker.rebuild_index()
    fits(linker)


def test_without_torch_a_packaged_pipeline_says_what_training_needs(monkeypatch, trainable, gold):
    def lacks(*_):
        raise ImportError("No module named 'torch'", name="torch")

    monkeypatch.setattr(Trainer, "update", lacks)
    with pytest.raises(MedlinkError, match=r"E614.*training a linker.*'\.\[torch\]'"):
        trainable.update(examples_of(trainable, gold))


def test_an_encoder_of_the_assets_has_its_own_pooling():
    with pytest.raises(MedlinkError, match=r"E302.*pooling"):
        transformer_bi_encoder(None, pooling="cls")


def test_the_index_is_rebuilt_by_name_and_before_links_are_made(trainable, gold, monkeypatch):
    linker = trainable.get_pipe("medical_linker")
    rebuilt = []
    monkeypatch.setattr(
        Trainer,
        "_rebuilt",
        lambda own, old, make=Trainer._rebuilt: rebuilt.append(1) or make(own, old),
    )
    doc = examples_of(trainable, gold)[0].reference
    sgd = trainable.create_optimizer()
    asking = [
        lambda: linker.rebuild_index(), lambda: list(trainable.pipe(["We saw lung clot there."])),
        lambda: linker.predict([doc]), lambda: linker.link_texts(["lung clot"]),
        lambda: linker.link_spans(doc, list(doc.ents)), lambda: linker.explain("lung clot"),
        lambda: linker.to_bytes(), lambda: trainable.evaluate(examples_of(trainable, gold)),
    ]  # fmt: skip
    for number, ask in enumerate(asking):
        trainable.update(examples_of(trainable, gold), sgd=sgd)
        path = linker.assets.path
        _ = linker.kb, linker.engine, linker.settings, repr(linker), linker.model
        assert len(rebuilt) == number and linker.assets.path == path, "reading rebuilds nothing"
        ask()
        assert len(rebuilt) == number + 1 and linker.assets.path != path
        ask()
        assert len(rebuilt) == number + 1 and not linker.rebuild_index()
    fits(linker)


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
    nlp = pipeline(tiny_assets, mentions=False, model=architecture(tmp_path / "other"))
    linker = nlp.get_pipe("medical_linker")
    with pytest.raises(MedlinkError, match="E204"):
        _ = linker.engine
    nlp.initialize()
    fits(linker)


def test_without_an_encoder_nothing_is_trained(tiny_assets, gold):
    nlp = pipeline(tiny_assets, mentions=False)
    linker = nlp.get_pipe("medical_linker")
    nlp.initialize()
    assert not linker.is_trainable
    assert nlp.update(examples_of(nlp, gold), sgd=nlp.create_optimizer()) == {}


def test_starter_assets_have_nothing_to_train(tmp_path, tiny_encoder, gold):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config={"model": architecture(tiny_encoder)})
    with pytest.warns(UserWarning, match="W101"), pytest.raises(MedlinkError, match="E405"):
        linker.update(examples_of(nlp, gold))


def test_batches_that_teach_nothing(trainable):
    doc = trainable.make_doc("nothing here")
    other = trainable.make_doc("odd thing")
    other.set_ents([Span(other, 0, 2, label="X", kb_id="HP:9999999")])
    examples = [Example(trainable.make_doc(one.text), one) for one in (doc, other)]
    assert trainable.update(examples, sgd=trainable.create_optimizer()) == {"medical_linker": 0.0}
    assert trainable.evaluate([examples[0]])["acc@1"] is None


def test_gold_ids_may_be_codes_or_retired(trainable):
    def example_of(kb_id):
        doc = trainable.make_doc("type 2 diabetes")
        doc.set_ents([Span(doc, 0, 3, label="X", kb_id=kb_id)])
        return Example(trainable.make_doc(doc.text), doc)

    for id in ("HP:0005978", "HP:0005965", "C0011860", "ICD10CM:E11", "E11"):
        assert trainable.evaluate([example_of(id)])["acc@5"] == 1.0, id
        assert batch_of(trainable, [example_of(id)]) is not None, id
    assert trainable.evaluate([example_of("C9999999")])["acc@5"] == 0.0


def batch_of(nlp, examples):
    trainer = nlp.get_pipe("medical_linker").trainer
    return trainer.batch(trainer.gold(examples))


def objective(**values):
    return {"@misc": "spacy-medlink.BatchObjective.v1", **values}


def first_loss(nlp, gold, drop=0.0):
    linker = nlp.get_pipe("medical_linker")
    return linker.update(examples_of(nlp, gold), drop=drop)["medical_linker"]  # without a step


def test_the_default_is_sap_by_the_functions_of_training(tiny_assets, trainable, gold):
    linker, sap = trainable.get_pipe("medical_linker"), {"margin": 0.2}
    texts = batch_of(trainable, examples_of(trainable, gold))
    vectors = torch.from_numpy(linker.model.predict(texts.texts))
    columns = (np.arange(len(vectors)), texts.labels, texts.strings)
    batch = Batch(*map(torch.from_numpy, columns))
    recipe = ObjectiveSettings(miner="hard_pairs", loss="multi_similarity", miner_settings=sap)
    made = recipe.in_batch().make()
    assert first_loss(trainable, gold) == pytest.approx(float(made(vectors, batch)[0]), rel=0.02)
    spelled = trainable_with(
        tiny_assets, objective=objective(miner="hard_pairs", miner_settings=sap)
    )
    assert first_loss(spelled, gold) == pytest.approx(first_loss(trainable, gold))


def test_the_config_chooses_the_objective(tiny_assets, trainable, gold):
    other = trainable_with(tiny_assets, objective=objective(loss="info_nce", miner="none"))
    assert first_loss(other, gold) > 2 * first_loss(trainable, gold)
    copied = pickle.loads(pickle.dumps(other))
    assert first_loss(copied, gold) == pytest.approx(first_loss(other, gold))


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"loss": "sap"}, "multi_similarity, cosine"),
        ({"miner": "sap"}, "none, hard_pairs"),
        ({"miner_settings": {"alpha": 1.0}}, "margin"),
    ],
)
def test_objectives_that_there_are_not(tiny_assets, values, rule):
    with pytest.raises(MedlinkError, match=f"E302.*must be one of {rule}"):
        trainable_with(tiny_assets, objective=objective(**values))


def test_dropout_is_honoured_and_only_in_training(trainable, gold):
    linker = trainable.get_pipe("medical_linker")
    texts = [mention for mention, _ in MENTIONS]
    vectors = linker.model.predict(texts)
    without = first_loss(trainable, gold)
    assert first_loss(trainable, gold) == without
    torch.manual_seed(0)
    dropped = [first_loss(trainable, gold, drop=0.5) for _ in range(2)]
    assert len({without, *dropped}) == 3
    assert first_loss(trainable, gold) == without
    np.testing.assert_array_equal(linker.model.predict(texts), vectors)


def test_concepts_that_a_mention_may_both_mean_are_not_told_apart(tiny_kb):
    one, other = tiny_kb.row_of("HP:0002204"), tiny_kb.row_of("HP:0001698")
    batch = make_batch([("PE", frozenset({one, other})), ("lung clot", frozenset({one}))], tiny_kb)
    assert len(set(batch.labels)) == 1 and "Pericardial effusion" in batch.texts
    assert len(set(batch.strings)) == len(batch.texts)


def test_gold_reader(tmp_path):
    nlp = spacy.blank("en")
    text = "Old heart attack."
    first = said(text, "heart attack", "A", "B", type="DIS")
    lines = note(text, first, ("attack", "C"), ("Ol",)), {"mention": "a bare one", "ids": []}
    path = write_lines(tmp_path / "gold.jsonl", *lines)
    with pytest.warns(UserWarning, match=r"W105.* 2 of the 4 mentions"):
        first, second = registry.readers.get("spacy-medlink.GoldReader.v1")(str(path))(nlp)
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in first.reference.ents] == [
        ("heart attack", "DIS", "A")
    ]
    assert [(ent.text, ent.kb_id_) for ent in second.reference.ents] == [("a bare one", "NIL")]
    assert not first.predicted.ents


@pytest.mark.filterwarnings("ignore:.*W107")
@pytest.mark.parametrize(("tokenizer", "recall"), [(True, 1.0), (False, 0.5)])
def test_gold_mentions_within_a_token_count(tiny_assets, tmp_path, tokenizer, recall):
    """The tagger's tokens must stay: "asthma;fever" can be one mention alone."""
    names = ("asthma", "fever", "HTN", "DM")
    made = note("He has asthma;fever and HTN;DM.", *((name, "A") for name in names))
    path = write_lines(tmp_path / "gold.jsonl", made)
    nlp = spacy.blank("en")
    if tokenizer:
        use_tokenizer(nlp)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("medical_mentions", config={"assets": str(tiny_assets.path)})
    examples = list(gold_reader(str(path))(nlp))
    assert [ent.text for ent in examples[0].reference.ents] == [*names]
    scores = nlp.evaluate(examples)
    assert (scores["mentions_p"], scores["mentions_r"]) == (1.0, recall)


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
