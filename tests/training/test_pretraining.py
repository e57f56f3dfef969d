"""Whole experiments on the tiny knowledge base: every objective and option trains and ships."""

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.batch import LOSSES, MINERS
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from tests.tiny import TINY_RECORDS, kb_of
from training.kinds.pretraining import Pretraining
from training.loop.checkpoint import copy_weights

from .conftest import MakeRecipe, progress_of

SHORT = {"training__epochs": 1.0, "sampler__batch_pairs": 8, "training__eval_every": 100}
MUCH = {"training__epochs": 16.0, "training__eval_every": 1000, "optimizer__learning_rate": 1e-2}
SHIP = {"selection__min_gain": -101.0}  # whatever it has learnt
BITEXT = "Herz\theart\nLunge\tlung\nfièvre\tfever\nKopf\thead\nBlut\tblood\nBlut\tBlut\n"


def _losses(directory: Path) -> list[float]:
    return [line["loss"] for line in progress_of(directory)["losses"]]


@pytest.mark.parametrize(
    ("loss", "miner", "pooling"), [*zip(LOSSES, cycle(MINERS), cycle(["cls", "mean"]))]
)
def test_every_loss_trains(experiment, tmp_path, loss, miner, pooling):
    """With each miner, too; tests/encoders/objectives tries all of them together."""
    changes = {"objective__loss": loss, "objective__miner": miner, "encoder__pooling": pooling}
    trainer = experiment(**SHORT, **changes).trainer(tmp_path)
    before = trainer.weights()
    trainer.train()
    assert np.isfinite(_losses(tmp_path)).all()
    changed = sum(not torch.equal(before[name], own) for name, own in trainer.weights().items())
    assert changed > len(before) / 2


CODER: dict[str, Any] = {
    "objective__miner": "multi_similarity", "objective__miner_settings": {"epsilon": 0.1},
    "sampler__names_per_concept": 8, "sampler__batch_pairs": 8,
    "relations__weight": 1.0, "types__weight": 0.1,
    "training__accumulation": 2, "training__epochs": 20.0, "training__eval_every": 1000,
    "optimizer__learning_rate": 5e-3,
}  # fmt: skip


def test_coder_learns_names_relations_and_types(experiment, tmp_path):
    trainer = experiment(**CODER).trainer(tmp_path)
    before = [parameter.detach().clone() for parameter in trainer._learner._others]
    trainer.train()
    losses = _losses(tmp_path)
    assert losses[-1] < losses[0]
    after = trainer._learner._others
    assert len(after) == 3  # relation vectors, weight and bias of the classifier
    assert all(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "settings", [CODER, {"adapter__kind": "mad_x"}, {"adapter__kind": "lora"}],
    ids=["coder", "mad_x", "lora"],
)  # fmt: skip
def test_resumed_is_unbroken(experiment, tmp_path, settings):
    if settings.get("adapter__kind") == "lora":
        pytest.importorskip("peft")
    same = {**settings, "optimizer__decay": "constant", "optimizer__warmup": 0.0}
    part, whole = ({**same, "training__epochs": epochs} for epochs in (2.0, 4.0))
    experiment(**part).trainer(tmp_path / "broken").train()
    resumed = experiment(**whole).trainer(tmp_path / "broken")
    resumed.train(resume=True)
    unbroken = experiment(**whole).trainer(tmp_path / "unbroken")
    unbroken.train()
    assert resumed.progress.step == unbroken.progress.step
    for name, tensor in unbroken.weights().items():
        torch.testing.assert_close(resumed.weights()[name], tensor, rtol=0, atol=0, msg=name)
    learnt = zip(resumed._learner._others, unbroken._learner._others, strict=True)
    assert all(torch.equal(first, second) for first, second in learnt)


@pytest.fixture
def flat_kb(tmp_path):
    """The tiny concepts without their hierarchy and types."""
    concepts = [
        Concept(record.id, record.name, record.names)
        for record in TINY_RECORDS
        if isinstance(record, Concept)
    ]
    return kb_of(tmp_path / "flat.kb", concepts)


@pytest.mark.parametrize(("part", "code"), [("relations", "E407"), ("types", "E407")])
def test_relations_and_types_must_be_there(flat_kb, tiny_encoder, recipe, tmp_path, part, code):
    wanted = recipe(**{f"{part}__weight": 1.0})
    with pytest.raises(MedlinkError, match=rf"{code}.*flat\.kb"):
        Pretraining(wanted, flat_kb, BiEncoder.load(tiny_encoder)).trainer(tmp_path)


@pytest.fixture
def bitext(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text(BITEXT, encoding="utf-8")
    return path


def _with_bitext(
    recipe: MakeRecipe, kb: KnowledgeBase, encoder: Path, bitext: Path | None, **changes: Any
) -> Pretraining:
    return Pretraining(recipe(**changes), kb, BiEncoder.load(encoder), bitext=bitext)


@pytest.mark.parametrize("order", ["mixed", "alone"])
def test_bitext_is_learnt_with_the_synonyms_or_alone(
    recipe, tiny_kb, tiny_encoder, bitext, tmp_path, order
):
    made = _with_bitext(
        recipe, tiny_kb, tiny_encoder, bitext, bitext__order=order,
        **{**SHORT, "sampler__batch_pairs": 4},
    )  # fmt: skip
    assert len(made.translations) == 5  # "Blut" is "Blut"
    trainer = made.trainer(tmp_path / order)
    sampler, first_translation = trainer._task.sampler, len(made.kb_names)
    kinds = [
        set((sampler.batch(step) >= first_translation).tolist()) for step in range(trainer._steps)
    ]
    if order == "alone":
        assert kinds == [{True}] * 2  # five pairs, four at a time
    else:
        assert {True, False} in kinds
        assert trainer._steps == -(-(len(made.synonyms) + 5) // 4)
    trainer.train()
    assert made.yardstick.facts()["names"] == first_translation, "queries meet no translations"


def test_a_bitext_and_its_recipe_need_each_other(recipe, tiny_kb, tiny_encoder, bitext):
    with pytest.raises(MedlinkError, match=r"E502.*--text"):
        _with_bitext(recipe, tiny_kb, tiny_encoder, None, bitext__order="mixed")
    with pytest.raises(MedlinkError, match=r"E502.*words\.tsv"):
        _with_bitext(recipe, tiny_kb, tiny_encoder, bitext)
    bitext.write_text("Herz\theart\nLunge\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match=r"E401.*words\.tsv, line 2"):
        _with_bitext(recipe, tiny_kb, tiny_encoder, bitext, bitext__order="alone")


@pytest.mark.parametrize(
    "changes",
    [
        {"adapter__kind": "bottleneck", "adapter__reduction": 1},
        {"adapter__kind": "mad_x", "adapter__reduction": 16},
        {"adapter__kind": "lora", "adapter__rank": 2, "adapter__alpha": 4},
    ],
    ids=["bottleneck 1", "MAD-X 16", "lora"],
)
def test_adapters_learn_in_place_of_the_base_and_are_shipped(
    tiny_kb, tiny_encoder, recipe, tmp_path, changes
):
    if changes["adapter__kind"] == "lora":
        pytest.importorskip("peft")
    base = BiEncoder.load(tiny_encoder)
    before, texts = base.encode(["fever", "heart attack"]), ["fever", "heart attack"]
    own = copy_weights(base.module)
    many = sum(parameter.numel() for parameter in base.module.parameters())
    made = Pretraining(recipe(**changes, **SHIP, **MUCH), tiny_kb, base)
    np.testing.assert_allclose(made._encoder.encode(texts), before, atol=1e-2)
    result = made.run(tmp_path / "run")
    assert result is not None
    assert 0 < result.figures["data"]["trained_weights"] < many / 2
    losses = _losses(tmp_path / "run")
    assert losses[-1] < losses[0]
    result.encoder.save(tmp_path / "shipped")
    shipped = BiEncoder.load(tmp_path / "shipped")
    assert shipped.fingerprint() == result.encoder.fingerprint()
    vectors = shipped.encode(texts)
    np.testing.assert_allclose(vectors, result.encoder.encode(texts), atol=1e-3)
    assert np.abs(vectors - before).max() > 1e-2
    saved = json.loads((tmp_path / "shipped" / "medlink_encoder.json").read_text("utf-8"))
    if changes["adapter__kind"] != "lora":
        assert saved["adapter_reduction"] == changes["adapter__reduction"]
        state = shipped.module.state_dict()
        assert all(torch.equal(tensor, state[name]) for name, tensor in own.items())
    else:
        assert state_names(shipped) == set(own)
        assert "adapter_reduction" not in saved


def state_names(encoder: BiEncoder) -> set[str]:
    return set(encoder.module.state_dict())


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        ([], {"en", "es", "fr", "de"}),
        (["en"], {"en"}),
        (["es"], {"es"}),
        (["en", "de"], {"en", "de"}),
    ],
    ids=["all", "English only", "one language", "English plus one"],
)
def test_languages_are_those_of_the_recipe(experiment, tiny_kb, languages, expected):
    try:
        made = experiment(data__languages=languages)
    except MedlinkError as error:
        assert (error.code, languages) == ("E530", ["es"])  # at most one Spanish name a concept
        return
    rows = made.names.rows[np.unique(made.synonyms)]
    assert {tiny_kb.name_at(row).lang for row in rows.tolist()} <= expected
    assert len(made.names) > len(rows) or languages == []


def test_trade_names_can_be_left_out(tmp_path, tiny_encoder, recipe):
    concepts = [
        Concept("A", "aspirin", (Name("aspirin"), Name("acetylsalicylic acid"),
                                 Name("Aspro", tty="TRADE"), Name("Bayer brand", tty="TRADE"))),
        *(record for record in TINY_RECORDS if isinstance(record, Concept)),
    ]  # fmt: skip
    build_kb(tmp_path / "brands.kb", concepts)
    kb, found = KnowledgeBase(tmp_path / "brands.kb"), {}
    for kept in (True, False):
        wanted = recipe(data__trade_names=kept, holdout__fraction=0.1)
        made = Pretraining(wanted, kb, BiEncoder.load(tiny_encoder))
        rows = made.names.rows[np.unique(made.synonyms)].tolist()
        found[kept] = {kb.name_at(row).text for row in rows if kb.name_at(row).tty == "TRADE"}
    assert found[True]
    assert not found[False]


@pytest.mark.parametrize("together", [0, 8])
def test_a_concept_with_ten_thousand_names_does_not_swallow_the_epoch(
    tmp_path, tiny_encoder, recipe, together
):
    many = Concept("BIG", "big 0", tuple(Name(f"big {number}") for number in range(10_000)))
    concepts = [many, *(record for record in TINY_RECORDS if isinstance(record, Concept))]
    build_kb(tmp_path / "kb", concepts)
    wanted = recipe(sampler__names_per_concept=together)
    made = Pretraining(wanted, KnowledgeBase(tmp_path / "kb"), BiEncoder.load(tiny_encoder))
    trainer = made.trainer(tmp_path / "run")
    sampler = trainer._task.sampler
    epoch = np.concatenate([sampler.batch(step) for step in range(sampler.steps_per_epoch)])
    assert 0 < (made.names.concepts[epoch] == 0).sum() <= 100
