"""Training a reranker: it learns to tell PE from PE by context, or is left out with a word."""

import json
import signal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
import typer

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import ENCODER, RERANKER
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Candidate, Mention
from tests.lines import note, write_lines
from training.kinds.encoder_training import Inputs
from training.loop.interruption import StoppedError
from training.loop.learner import Learner
from training.recipe.reading import read_recipe
from training.recipe.settings import Recipe
from training.reranking.lists import RankedList
from training.reranking.rerank import lists_of, rerank
from training.train import main

from .conftest import progress_of

LUNG, HEART = "HP:0002204", "HP:0001698"
CONFIG = Path(__file__).parents[2] / "training" / "configs" / "rerank.cfg"
RECIPES = sorted(CONFIG.parents[1].rglob("configs/rerank*.cfg"), key=lambda path: path.stem)


def recipe_of(config: Path = CONFIG, **changes: object) -> Recipe:
    quick = {
        "reranking.top": 4, "training.epochs": 8, "reranking.batch": 4, "training.patience": 0,
        "optimizer.learning_rate": 3e-3, "objective.learning_rate": 3e-2,
        "training.precision": "fp32",
    }  # fmt: skip
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return read_recipe(config, {**quick, **changed})


RECIPE = recipe_of()
CONTEXTS = [("lung ", LUNG), ("heart ", HEART)]


def write_gold(path: Path, count: int, contexts=CONTEXTS, mention="PE") -> Path:
    """Mentions in contexts, `count` of each."""
    lines = []
    for number, (left, id) in product(range(count), contexts):
        text = f"{'a ' * (number % 3)}{left}{mention}{' a' * (number % 2)}"
        lines.append(note(text, (mention, id), doc_id=f"{number} {left}", lang="en"))
    return write_lines(path, *lines)


@pytest.fixture
def reranked(tiny_assets, tmp_path):
    """Train over the tiny assets; output and run are named within a directory of the test."""

    def train(recipe=RECIPE, output="new", run="run", train=None, dev=None, **settings):
        inputs = Inputs(
            str(tiny_assets.path), tmp_path / output, None, train, dev, None, tmp_path / run
        )
        return rerank(recipe, inputs, **settings)

    return train


def test_candidates_are_those_of_the_wanted_tiers(tiny_assets, tmp_path):
    gold = write_gold(tmp_path / "gold.jsonl", 6)
    for train in (None, gold):
        for lists in lists_of(tiny_assets, recipe_of(reranking__tiers=["dense"]), train, None):
            tiers = {tier for own in lists for one in own.candidates for tier in one.scores}
            assert tiers <= {"dense", "memory"}


def test_all_names_play_mentions_where_so_many_are_wanted(tiny_assets):
    most = {name.text for concept in tiny_assets.kb for name in concept.names}
    rest, apart = lists_of(tiny_assets, recipe_of(reranking__names=10_000), None, None)
    played = [one.mention.text for one in (*rest, *apart)]
    assert len(played) == tiny_assets.kb.n_names and set(played) == most


def test_it_learns_from_context(tmp_path, reranked):
    train, dev = write_gold(tmp_path / "t.jsonl", 12), write_gold(tmp_path / "d.jsonl", 6)
    said: list[str] = []
    made = reranked(train=train, dev=dev, say=said.append)
    facts = made.manifest["reranker"]
    assert facts["weight"] > 0, said
    assert facts["chosen_on"]["retrieval"]["acc@1"] == 0.5
    assert facts["chosen_on"]["reranked"]["acc@1"] == 1.0
    # Retrieval cannot tell the concepts apart, so that all mentions have to be read.
    assert (facts["gate"]["mentions"], facts["gate"]["passing"]) == (12, 0)
    engine = Assets(made.path, verify=True).engine()
    best = engine.rank([Mention("PE", left="lung "), Mention("PE", left="a heart ")], 3)
    assert [made.kb.concept_at(own[0].row).id for own in best] == [LUNG, HEART]
    # Resuming a finished training changes nothing.
    again = reranked(train=train, dev=dev, output="again", resume=True)
    assert again.manifest["reranker"]["fingerprint"] == facts["fingerprint"]
    with pytest.raises(MedlinkError, match="E505"):
        reranked(train=dev, dev=dev, output="other", resume=True)


@pytest.mark.parametrize("config", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_learns_which_pair_is_right(config, tiny_assets, tmp_path, reranked):
    train, dev = (tmp_path / f"{part}.jsonl" for part in ("train", "dev"))
    for path, counts in ((train, range(12)), (dev, range(12, 18))):
        texts = [(f"{word}trouble{' a' * count}", id) for count in counts for word, id in CONTEXTS]
        write_lines(path, *({"mention": text, "ids": [id]} for text, id in texts))
    in_pairs = read_recipe(config).reranking.pairs
    recipe, said = recipe_of(
        config, reranking__layers=None, reranking__top=12, training__epochs=90 if in_pairs else 30,
        reranking__batch=24 if in_pairs else 4, encoder__dropout=0.0, encoder__pooling="mean",
    ), list[str]()  # fmt: skip
    made = reranked(recipe, train=train, dev=dev, say=said.append)
    assert made.manifest["reranker"], said
    on = made.manifest["reranker"]["chosen_on"]
    assert on["reranked"]["acc@1"] >= 0.75 > 0.5 > on["retrieval"]["acc@1"], said
    assert on["file"] == "dev.jsonl" and on["mentions"] == 12
    # What ships was trained: no weight is as it was, but for words that no pair has.
    before = BiEncoder.load(tiny_assets.path / ENCODER).module.state_dict()
    module = CrossEncoder.load(made.path / RERANKER).module
    assert module.head.weight.all() and module.head.bias.all()
    for name, tensor in module.transformer.state_dict().items():
        assert not torch.equal(tensor, before[name]) or "pooler" in name, name


def test_a_paper_chooses_nothing(tmp_path, reranked):
    """Nothing is withheld or measured on the way; a wanted weight is what is measured."""
    gold, said = write_gold(tmp_path / "gold.jsonl", 6), list[str]()
    for stem in ("rerank_clinlinker", "rerank_clinlinker_kb"):
        (config,) = (path for path in RECIPES if path.stem == stem)
        recipe = read_recipe(config, {"training.epochs": 1, "reranking.top": 4})
        made = reranked(recipe, train=gold, output=stem, run=f"{stem}_run", say=said.append)
        facts = made.manifest["reranker"]
        assert facts["weight"] == 1 and "chosen_on" not in facts and "gate" not in facts
        assert not progress_of(tmp_path / f"{stem}_run")["history"]
        assert CrossEncoder.load(made.path / RERANKER).module.head.weight.any(), "of the last step"
    first, second = (line for line in said if "to train on" in line)
    assert first == "12 mentions to train on, 0 to choose by"
    assert "pairs to train on" in second and int(second.split()[0]) > 12


def test_a_wanted_weight_is_what_epochs_are_measured_at(tmp_path, reranked):
    gold = write_gold(tmp_path / "gold.jsonl", 6)
    for weight in (None, 1.0):
        recipe = recipe_of(reranking__weight=weight, training__epochs=2)
        reranked(recipe, train=gold, dev=gold, run=f"run {weight}", overwrite=True)
        lines = progress_of(tmp_path / f"run {weight}")["history"]
        assert len(lines) == 2
        assert all(line["weight"] == (weight or line["weight"]) for line in lines)
        assert all(line["weight"] > 0 for line in lines), "retrieval is no epoch"


def test_pairs_are_taken_apart_and_far_negatives_left_out():
    right = np.array([False, True, False])
    candidates = [Candidate(row, row, 0.5, {"dense": 0.3 + row / 10}) for row in range(2)]
    ranked = RankedList(Mention("PE"), [*candidates, Candidate(2, 2, 0.5, {"ngram": 0.1})], right)
    assert [one.row for one in ranked.near(0.35).candidates] == [1, 2]
    assert [one.row for one in ranked.near(0.45).candidates] == [1, 2], "the right one stays"
    assert [(one.candidates[0].row, *one.right) for one in ranked.apart()] == [
        (0, False), (1, True), (2, False)
    ]  # fmt: skip
    with pytest.raises(MedlinkError, match=r"E502.*binary"):
        recipe_of(reranking__pairs=True)


def test_a_training_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, reranked):
    gold, learn = write_gold(tmp_path / "g.jsonl", 15), Learner.learn

    def stopped(self, step, rate):
        if step == 20:  # amid an epoch of 6
            signal.raise_signal(signal.SIGINT)
        return learn(self, step, rate)

    whole = reranked(train=gold, output="whole")
    monkeypatch.setattr(Learner, "learn", stopped)
    with pytest.raises(StoppedError, match="--resume"):
        reranked(train=gold, output="broken", run="broken_run")
    monkeypatch.setattr(Learner, "learn", learn)
    again = {"output": "broken", "run": "broken_run", "resume": True}
    resumed = reranked(train=gold, **again)
    facts = whole.manifest["reranker"]
    assert resumed.manifest["reranker"]["fingerprint"] == facts["fingerprint"]
    dev = [progress_of(tmp_path / name)["history"] for name in ("run", "broken_run")]
    assert dev[0] == dev[1]
    assert [line["step"] for line in dev[0]] == list(range(6, 49, 6))


def test_it_is_left_out_where_there_is_nothing_to_gain(tiny_assets, tmp_path, capsys):
    gold = write_gold(tmp_path / "g.jsonl", 3, [("lung ", LUNG)], "Pulmonary embolism")
    changes = ["training.epochs=1", "reranking.top=3"]
    main(CONFIG, str(tiny_assets.path), tmp_path / "new", train_=gold, dev=gold, set_=changes)
    assert "No reranker: it did not help" in capsys.readouterr().out
    made = Assets(tmp_path / "new", verify=True)
    assert made.reranker is None
    assert "did not help" in made.manifest["left_out"]["reranker"]
    assert set(made.files) == set(tiny_assets.files)
    for name in tiny_assets.files[1:]:
        assert made.manifest["files"][name] == tiny_assets.manifest["files"][name]


def test_names_play_the_mentions(tmp_path, reranked):
    made = reranked(recipe_of(training__epochs=1))
    noted = made.manifest["reranker"] or made.manifest["left_out"]["reranker"]
    assert noted
    assert progress_of(tmp_path / "run")["losses"]


def test_a_fifth_of_the_training_documents_chooses(tmp_path, reranked):
    gold = write_gold(tmp_path / "g.jsonl", 15)
    said: list[str] = []
    made = reranked(train=gold, say=said.append)
    assert "24 mentions to train on, 6 to choose by" in said
    facts = made.manifest["reranker"]
    assert facts["chosen_on"]["file"] == "g.jsonl"
    assert facts["chosen_on"]["reranked"]["acc@1"] == 1.0
    # With names beside there is more to train on, and as much to choose by.
    recipe = recipe_of(training__epochs=1, reranking__beside=5, reranking__weight=1.0)
    more = reranked(recipe, train=gold, output="more", run="more_run", say=said.append)
    (counts,) = (line for line in said[1:] if "to choose by" in line and line != said[0])
    assert 24 < int(counts.split()[0]) <= 29 and counts.endswith("6 to choose by")
    assert facts["gate"] and "gate" not in more.manifest["reranker"], "a wanted order is the order"


def test_mentions_of_no_concept_teach_a_class_of_none(tiny_assets, tmp_path):
    gold = write_gold(tmp_path / "g.jsonl", 15)
    lines = [*map(json.loads, gold.read_text("utf-8").splitlines())]
    nil = [note(line["text"], ("PE",), doc_id=f"nil {n}") for n, line in enumerate(lines)]
    write_lines(gold, *lines, *nil)
    rest, held = lists_of(tiny_assets, recipe_of(objective__loss="listwise_nil"), gold, None)
    assert len(rest) + len(held) == 60
    assert sum(not one.right.any() for one in [*rest, *held]) == 30


def test_a_reranker_trains_in_one_process(tiny_assets, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(typer.BadParameter, match="one process"):
        main(CONFIG, str(tiny_assets.path), tmp_path / "new")


def test_options_are_those_of_the_kind(tiny_assets, tmp_path):
    for more, said in (
        ({"kb": tmp_path / "kb"}, "does not use --kb"), ({"dev": CONFIG}, "--dev needs --train"),
        ({"text": tmp_path / "text"}, "does not use --text"),
    ):  # fmt: skip
        with pytest.raises(typer.BadParameter, match=said):
            main(CONFIG, str(tiny_assets.path), tmp_path / "new", **more)
    with pytest.raises(typer.BadParameter, match="needs --train"):
        main(CONFIG.with_name("finetune.cfg"), "base", tmp_path / "new", kb=tmp_path / "kb")


def test_without_annotated_text_that_teaches_the_assets_stay_as_they_are(tmp_path, reranked):
    empty, said = tmp_path / "empty.jsonl", list[str]()
    empty.write_text("", encoding="utf-8")
    gold = write_gold(tmp_path / "gold.jsonl", 2)
    for train, dev in ((empty, gold), (gold, empty)):
        made = reranked(train=train, dev=dev, say=said.append, if_any=True)
        assert made.manifest["reranker"] is None
        assert "no annotated mention" in made.manifest["left_out"]["reranker"]
    assert len(said) == 2 and "No reranker" in said[0]
    with pytest.raises(MedlinkError, match="E404"):
        reranked(train=empty, dev=gold)
