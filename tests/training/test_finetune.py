"""Fine-tuning on annotated text: what is read, every loss, what is shipped, going on."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer import Typer
from typer.testing import CliRunner

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.errors import MedlinkError
from tests.lines import note, write_lines
from training.choosing import yardstick
from training.data.candidates import Candidates
from training.data.mention_sampler import NearNames, by_frequency, mention_pairs
from training.data.mentions import join, read_mentions
from training.data.names import read_names
from training.data.sampler import AddingSampler, ShuffledSampler
from training.kinds.encoder_training import Inputs
from training.kinds.finetuning import Finetuning
from training.objectives.marginal import MarginalObjective
from training.objectives.mention_memory import MentionMemoryObjective
from training.recipe.reading import read_recipe
from training.recipe.settings import Recipe
from training.run import train as train_by
from training.train import main

APP = Typer()
APP.command()(main)
RECIPES = {
    path.stem: path
    for path in (Path(__file__).parents[2] / "training").rglob("configs/finetune*.cfg")
}
TRAIN = [
    ("elevated glucose", "HP:0000819"), ("elevated Glucose", "HP:0000819"),
    ("raised pressure", "HP:0000822"), ("pressure of blood raised", "HP:0000822"),
    ("cardiac infarct", "HP:0001658"), ("infarct", "HP:0001658"), ("coronary", "HP:0001658"),
    ("irregular heart beat", "HP:0005110"), ("wheezing disease", "HP:0002099"),
    ("lung clot", "HP:0002204"), ("heart attack", "HP:0001658"), ("lost", None),
    ("unknown", "HP:9999999"), ("adult diabetes", "HP:0005978"),
]  # fmt: skip
DEV = [("infarct of the heart", "HP:0001658"), ("raised blood pressure", "HP:0000822"),
       ("lung clots", "HP:0002204"), ("wheezing disease", "HP:0002099"),
       ("out of it", "HP:9999999")]  # fmt: skip


def write(path: Path, mentions: list[tuple[str, str | None]]) -> Path:
    lines = (note(text, (text, *([id] if id else [])), doc_id=str(number))
             for number, (text, id) in enumerate(mentions))  # fmt: skip
    return write_lines(path, *lines)


@pytest.fixture
def train(tmp_path):
    return write(tmp_path / "train.jsonl", TRAIN)


@pytest.fixture
def dev(tmp_path):
    return write(tmp_path / "dev.jsonl", DEV)


def recipe_of(name: str, **changes) -> Recipe:
    quick = {
        "optimizer.learning_rate": 2e-3, "training.precision": "fp32", "training.epochs": 8.0,
        "training.eval_every": 4, "selection.interpolation": [1.0], "mentions.batch": 4,
        "encoder.dropout": 0.0,
    }  # fmt: skip
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return read_recipe(RECIPES[name], {**quick, **changed})


def test_what_is_read(train, tiny_kb):
    mentions = read_mentions(train, tiny_kb)
    assert mentions.left_out == {"no concept": 1, "concept not in the knowledge base": 1}
    assert len(mentions) == 11 and mentions.counts.sum() == 12
    place = mentions.texts.index("elevated glucose")
    assert mentions.counts[place] == 2
    assert mentions.concepts[place] == tiny_kb["HP:0000819"].row


def test_a_string_with_several_concepts_goes_with_the_most_frequent(tmp_path, tiny_kb):
    ids = ["HP:0002099", "HP:0001658", "HP:0001658", "HP:0000822", "HP:0000822"]
    path = write(tmp_path / "gold.jsonl", [("odd", id) for id in ids])
    mentions = read_mentions(path, tiny_kb)
    rows = [tiny_kb[id].row for id in ids]
    assert mentions.concepts.tolist() == [min(rows[1], rows[3])]
    assert mentions.counts.tolist() == [2]


@pytest.mark.parametrize(
    ("occurrences", "expected"),
    [
        ("each", {("odd", "HP:0002099"): 1, ("odd", "HP:0001658"): 2, ("fever", "HP:0001945"): 1}),
        ("once", {("odd", "HP:0002099"): 1, ("odd", "HP:0001658"): 1, ("fever", "HP:0001945"): 1}),
    ],
)
def test_an_epoch_has_each_occurrence_or_each_pair_once(
    tmp_path, tiny_kb, tiny_encoder, occurrences, expected
):
    said = [("odd", "HP:0002099"), *[("odd", "HP:0001658")] * 2, ("fever", "HP:0001945")]
    path = write(tmp_path / "gold.jsonl", said)
    recipe = recipe_of("finetune_biosyn", mentions__occurrences=occurrences, mentions__batch=3)
    made = Finetuning(recipe, tiny_kb, BiEncoder.load(tiny_encoder), path, path)
    sampler = made._sampler()
    for epoch in range(2):
        steps = range(epoch * sampler.steps_per_epoch, (epoch + 1) * sampler.steps_per_epoch)
        drawn = np.concatenate([sampler.batch(step) for step in steps])
        drawn = drawn[made.names.rows[drawn] < 0]  # the mentions; candidates are names
        ids = [tiny_kb.concept_at(row).id for row in made.names.concepts[drawn].tolist()]
        texts = [made.mentions.texts[-1 - row] for row in made.names.rows[drawn]]
        # "fever" is a name of its concept, too.
        assert Counter(zip(texts, ids, strict=True)) == expected


def test_nothing_to_learn_is_an_error(tmp_path, tiny_kb):
    path = write(tmp_path / "gold.jsonl", [("unknown", "HP:9999999")])
    with pytest.raises(MedlinkError, match="E407"):
        read_mentions(path, tiny_kb)


@pytest.fixture
def joined(train, tiny_kb, tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    names = read_names(tiny_kb)
    mentions = read_mentions(train, tiny_kb)
    return names, mentions, join(names, mentions), encoder


def test_mentions_among_names(joined, tiny_kb):
    names, mentions, both, _ = joined
    # "heart attack" is a name of its concept already.
    assert both.is_mention.sum() == len(mentions) - 1
    assert (np.diff(both.concepts) >= 0).all()
    assert both.rows[~both.is_mention].tolist() == names.rows.tolist()
    assert not both.trainable[both.is_mention].any()
    for position, row in enumerate(both.rows.tolist()):
        text = tiny_kb.name_at(row).text if row >= 0 else mentions.texts[-1 - row]
        assert both.texts[position] == text
        if row < 0:
            assert both.concepts[position] == mentions.concepts[-1 - row]


def test_pairs_of_mentions(joined):
    _, _, both, _ = joined
    pairs = mention_pairs(both, 2, 0)
    assert both.is_mention[pairs[:, 0]].all() and both.trainable[pairs[:, 1]].all()
    assert (both.concepts[pairs[:, 0]] == both.concepts[pairs[:, 1]]).all()
    assert np.unique(pairs[:, 0], return_counts=True)[1].max() == 2
    assert set(pairs[:, 0]) == set(np.flatnonzero(both.is_mention))


def test_frequent_mentions_come_more_often(joined):
    _, mentions, both, _ = joined
    counts = mentions.counts.copy()
    number = mentions.texts.index("lung clot")
    counts[number] = 9
    sampler = ShuffledSampler(by_frequency(both, counts), 4, 0)
    drawn = [both.rows[sampler.batch(step)] for step in range(sampler.steps_per_epoch)]
    assert all(len(rows) == len(set(rows.tolist())) for rows in drawn)
    times = dict(zip(*np.unique(np.concatenate(drawn), return_counts=True), strict=True))
    assert set(times) == set(both.rows[both.is_mention]) and 1 < times[-1 - number] <= 3


def candidates_of(joined, k=5, ratio=0.5):
    _, mentions, both, encoder = joined
    texts = [str(row) if row >= 0 else mentions.texts[-1 - row] for row in both.rows.tolist()]

    def encode(wanted):
        with torch.inference_mode():
            return encoder.forward(encoder.tokenize(both.texts_at(wanted))).float().numpy()

    return Candidates(replace(both, texts=texts), encode, k, ratio), encode


def memory_of(joined):
    _, _, both, _ = joined
    _, encode = candidates_of(joined)
    vectors, settings = encode(np.flatnonzero(~both.is_mention)), {"temperature": 0.1, "renewal": 0}
    return MentionMemoryObjective(both, vectors, torch.device("cpu"), encode, **settings), encode


def test_dense_candidates_are_the_nearest_names(joined):
    _, _, both, _ = joined
    candidates, encode = candidates_of(joined, ratio=1.0)
    candidates.renew(0)
    found, _ = candidates.of(candidates.mentions)
    names = np.flatnonzero(~both.is_mention)
    similar = encode(candidates.mentions) @ encode(names).T
    nearest = names[np.argsort(-similar, axis=1, kind="stable")[:, :5]]
    assert [set(row) for row in found.tolist()] == [set(row) for row in nearest.tolist()]


def test_marginal_loss_is_that_of_its_definition(joined):
    _, _, both, _ = joined
    candidates, encode = candidates_of(joined, k=12)
    candidates.renew(0)
    objective = MarginalObjective(
        both, candidates, torch.device("cpu"), temperature=0.1, sparse_weight=0.3
    )
    found, spelling = candidates.of(candidates.mentions)
    positions = np.union1d(candidates.mentions, found)
    vectors = torch.from_numpy(encode(positions)).requires_grad_()
    labels = torch.from_numpy(both.concepts[positions])
    loss, right = objective(vectors, Batch(torch.from_numpy(positions), labels, labels))
    losses, count = [], 0
    for mention, own, scores in zip(candidates.mentions, found, spelling, strict=True):
        dense = encode([mention]) @ encode(own).T
        odds = np.exp((dense[0] + 0.3 * scores) / 0.1)
        synonyms = both.concepts[own] == both.concepts[mention]
        count += synonyms.sum()
        if synonyms.any():
            losses.append(-np.log(odds[synonyms].sum() / odds.sum()))
    assert right == count and len(losses) > 0
    assert loss.item() == pytest.approx(np.mean(losses), rel=1e-4)
    loss.backward()
    assert vectors.grad is not None and objective.parameters()[0].grad is not None


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_recipe_learns(name, train, dev, tiny_kb, tiny_encoder, tmp_path):
    recipe = recipe_of(name, training__epochs=16.0 if "biosyn" in name else 8.0)
    study = Finetuning(recipe, tiny_kb, BiEncoder.load(tiny_encoder), train, dev)
    result = study.run(tmp_path / "run")
    assert result is not None
    own = Finetuning(recipe, tiny_kb, BiEncoder.load(tiny_encoder), train, train).yardstick
    assert own.whole(result.encoder)["dev"]["mrr"] > own.base["dev"]["mrr"] + 0.1
    figures = result.figures
    assert figures["data"]["left_out_no_concept"] == 1 and figures["data"]["not_in_kb"] == 1
    assert figures["shipped"]["dev"]["acc@1"] >= figures["base"]["dev"]["acc@1"]
    assert figures["base"]["unseen"]["n"] == 4 and figures["base"]["dev"]["n"] == 5


def test_the_same_weights_are_measured_once(train, dev, tiny_kb, tiny_encoder, monkeypatch):
    study = Finetuning(recipe_of("finetune"), tiny_kb, BiEncoder.load(tiny_encoder), train, dev)
    own, encoder = study.yardstick, BiEncoder.load(tiny_encoder)
    assert own.fast(encoder) == own.base["dev"]  # the shortlist has all names
    encoded = []
    monkeypatch.setattr(yardstick, "encode_names", lambda *_: encoded.append(1) or own.vectors)
    own.fast(encoder)
    assert not encoded
    encoder.module.get_parameter("embeddings.LayerNorm.bias").data.add_(1)
    own.fast(encoder)
    own.fast(encoder)
    assert len(encoded) == 1


@pytest.mark.parametrize("name", ["finetune", "finetune_biosyn"])
def test_going_on_gives_the_weights_of_an_unbroken_run(
    name, train, dev, tiny_kb, tiny_encoder, tmp_path
):
    def weights(directory, resume=False, **changes):
        recipe = recipe_of(name, **changes)
        study = Finetuning(recipe, tiny_kb, BiEncoder.load(tiny_encoder), train, dev)
        trainer = study.trainer(directory)
        trainer.train(resume)
        return trainer

    changes = {"optimizer__decay": "constant", "optimizer__warmup": 0.0}
    unbroken = weights(tmp_path / "one", training__epochs=2.0, **changes).weights()
    part = weights(tmp_path / "two", training__epochs=1.4, **changes)
    whole = weights(tmp_path / "two", resume=True, training__epochs=2.0, **changes)
    assert 0 < part.progress.step < whole.progress.step
    for key, tensor in whole.weights().items():
        assert torch.equal(tensor, unbroken[key]), key


@pytest.mark.parametrize("name", ["finetune_biosyn", "finetune_medical_crossing"])
def test_the_weight_of_spelling_is_learned_at_its_own_rate(
    name, train, dev, tiny_kb, tiny_encoder, tmp_path
):
    """BioSyn's code gives it 0.01 and no decay; at the encoder's rate it would stay near 0."""
    recipe = recipe_of(name, optimizer__learning_rate=1e-5, training__epochs=20.0)
    study = Finetuning(recipe, tiny_kb, BiEncoder.load(tiny_encoder), train, dev)
    trainer = study.trainer(tmp_path / "run")
    trainer.train()
    encoder, objective = trainer._learner.optimizer.param_groups
    assert (encoder["lr"], encoder["weight_decay"]) == (1e-5, 0.01)
    assert (objective["lr"], objective["weight_decay"]) == (0.01, 0)
    (weight,) = trainer._learner._others
    assert weight.item() > 20 * trainer.progress.step * 1e-5


def test_the_command(train, dev, tiny_kb, tiny_encoder, tmp_path):
    arguments = [
        str(RECIPES["finetune"]), "--kb", str(tiny_kb.path), "--base", str(tiny_encoder),
        "--train", str(train), "--dev", str(dev), "--output", str(tmp_path / "out"),
        "--set", "training.epochs=2", "--set", "optimizer.learning_rate=0.002",
    ]  # fmt: skip
    result = CliRunner().invoke(APP, arguments)
    assert result.exit_code == 0 and "12 mentions" in result.output, result.output
    assert (tmp_path / "out" / "metrics.json").is_file()
    assert BiEncoder.load(tmp_path / "out").encode(["fever"]).shape == (1, 32)


def test_names_of_the_batch_learn_too(joined):
    """The gradient is that of a softmax in which the names of the batch are not constants."""
    _, _, both, _ = joined
    objective, encode = memory_of(joined)
    everything = np.arange(len(both))
    mentions = np.flatnonzero(both.is_mention)[:4]
    batch = np.union1d(mentions, np.flatnonzero(~both.is_mention)[::3])
    vectors = torch.from_numpy(encode(batch) + 0.05).requires_grad_()
    concepts, strings = (torch.from_numpy(one[batch].view(np.int64))
                         for one in (both.concepts, both.strings))  # fmt: skip
    loss, _ = objective(vectors, Batch(torch.from_numpy(batch), concepts, strings))
    loss.backward()
    live = torch.from_numpy(encode(batch) + 0.05).requires_grad_()
    all_vectors = torch.from_numpy(encode(everything)).index_copy(0, torch.from_numpy(batch), live)
    losses = []
    for row, position in enumerate(batch.tolist()):
        same = both.concepts == both.concepts[position]
        twins = both.strings == both.strings[position]
        right = same & both.trainable & ~twins
        hidden = both.is_mention | twins
        odds = (live[row] @ all_vectors.T / 0.1).masked_fill(torch.from_numpy(hidden), -torch.inf)
        if right.any():
            losses.append(-torch.log_softmax(odds, 0)[torch.from_numpy(right)].logsumexp(0))
    torch.stack(losses).mean().backward()
    assert loss.item() == pytest.approx(torch.stack(losses).mean().item(), rel=1e-4)
    torch.testing.assert_close(vectors.grad, live.grad, atol=1e-5, rtol=1e-3)


def test_near_names_are_wrong_and_near(joined):
    _, mentions, both, _ = joined
    objective, encode = memory_of(joined)
    drawn = ShuffledSampler(by_frequency(both, mentions.counts), 3, 0)
    sampler = AddingSampler(drawn, NearNames(both, objective.nearest_wrong, 1, 0))
    for step in range(sampler.steps_per_epoch):
        batch = sampler.batch(step)
        assert batch.tolist() == sampler.batch(step).tolist() == sorted(set(batch.tolist()))
        for position in batch[both.is_mention[batch]]:
            others = batch[~both.is_mention[batch]]
            assert (both.concepts[others] == both.concepts[position]).any()
            wrong = (both.concepts != both.concepts[position]) & ~both.is_mention
            wrong &= both.strings != both.strings[position]
            similar = np.where(wrong, encode(np.arange(len(both))) @ encode([position])[0], -9)
            assert similar.argmax() in batch


@pytest.mark.parametrize("empty", ["train", "dev"])
@pytest.mark.parametrize(
    ("line", "why"),
    [("", "no annotated mention"),
     ('{"mention": "plague", "ids": ["XX:1"]}\n', "knowledge base has"),
     ('{"mention": "plague", "ids": []}\n', "knowledge base has")],
)  # fmt: skip
def test_without_mentions_that_teach_the_base_is_handed_on(
    empty, line, why, train, dev, tiny_kb, tiny_encoder, tmp_path
):
    nothing, said = tmp_path / "nothing.jsonl", []
    nothing.write_text(line, encoding="utf-8")
    files = {"train": train, "dev": dev, empty: nothing}
    inputs = Inputs(str(tiny_encoder), tmp_path / "out", tiny_kb.path, **files)
    figures = train_by(recipe_of("finetune"), inputs, say=said.append, if_any=True)
    assert why in figures["left_out"] and "left out" in said[0]
    assert json.loads((tmp_path / "out/metrics.json").read_text("utf-8")) == figures
    handed_on = BiEncoder.load(tmp_path / "out")
    assert handed_on.fingerprint() == BiEncoder.load(tiny_encoder).fingerprint()
    if empty == "train" or "XX:1" not in line:  # what the knowledge base lacks counts as wrong
        with pytest.raises(MedlinkError):
            train_by(recipe_of("finetune"), replace(inputs, output=tmp_path / "other"))
