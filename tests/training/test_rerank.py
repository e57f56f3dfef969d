"""Training a reranker: it learns to tell PE from PE by context, or is left out with a word."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from spacy_medlink.assets import Assets
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Mention
from training.loop.interruption import StoppedError
from training.loop.learner import Learner
from training.loop.metrics import read_log
from training.loop.trainer import METRICS
from training.recipe.reading import read_recipe
from training.recipe.settings import Recipe
from training.reranking.rerank import lists_of, rerank
from training.train import main

LUNG, HEART = "HP:0002204", "HP:0001698"
CONFIG = Path(__file__).parents[2] / "training" / "configs" / "rerank.cfg"


def recipe_of(**changes: object) -> Recipe:
    quick = {
        "reranking.top": 4, "training.epochs": 8, "reranking.batch": 4, "training.patience": 0,
        "optimizer.learning_rate": 3e-3, "objective.learning_rate": 3e-2,
        "training.precision": "fp32",
    }  # fmt: skip
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return read_recipe(CONFIG, {**quick, **changed})


RECIPE = recipe_of()
CONTEXTS = [("lung ", LUNG), ("heart ", HEART)]


def write_gold(path: Path, count: int, contexts=CONTEXTS, mention="PE") -> Path:
    """Mentions in contexts, `count` of each."""
    lines = []
    for number in range(count):
        for left, id in contexts:
            text = f"{'a ' * (number % 3)}{left}{mention}{' a' * (number % 2)}"
            start = text.index(mention)
            lines.append({"doc_id": f"{number} {left}", "lang": "en", "text": text, "mentions": [
                {"start": start, "end": start + len(mention), "mention": mention, "ids": [id]}
            ]})  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


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


def test_it_learns_from_context(tiny_assets, tmp_path):
    train, dev = write_gold(tmp_path / "t.jsonl", 12), write_gold(tmp_path / "d.jsonl", 6)
    said: list[str] = []
    recipe = RECIPE
    made = rerank(
        recipe, assets=tiny_assets.path, train=train, dev=dev, output=tmp_path / "new",
        run=tmp_path / "run", say=said.append,
    )  # fmt: skip
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
    again = rerank(
        recipe, assets=tiny_assets.path, train=train, dev=dev, output=tmp_path / "again",
        run=tmp_path / "run", resume=True,
    )  # fmt: skip
    assert again.manifest["reranker"]["fingerprint"] == facts["fingerprint"]
    with pytest.raises(MedlinkError, match="E505"):
        rerank(
            recipe, assets=tiny_assets.path, train=dev, dev=dev, output=tmp_path / "other",
            run=tmp_path / "run", resume=True,
        )  # fmt: skip


def test_a_training_that_was_stopped_goes_on_where_it_was(tiny_assets, tmp_path, monkeypatch):
    gold, learn = write_gold(tmp_path / "g.jsonl", 15), Learner.learn

    def train(output, **settings):
        return rerank(
            RECIPE, assets=tiny_assets.path, train=gold, dev=None, output=tmp_path / output,
            **settings,
        )  # fmt: skip

    def stopped(self, step, rate):
        if step == 20:  # amid an epoch of 6
            signal.raise_signal(signal.SIGINT)
        return learn(self, step, rate)

    whole = train("whole", run=tmp_path / "run")
    monkeypatch.setattr(Learner, "learn", stopped)
    with pytest.raises(StoppedError, match="--resume"):
        train("broken", run=tmp_path / "broken_run")
    monkeypatch.setattr(Learner, "learn", learn)
    resumed = train("broken", run=tmp_path / "broken_run", resume=True)
    facts = whole.manifest["reranker"]
    assert resumed.manifest["reranker"]["fingerprint"] == facts["fingerprint"]
    lines = [read_log(tmp_path / name / METRICS) for name in ("run", "broken_run")]
    dev = [[line for line in own if "dev" in line] for own in lines]
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


def test_names_play_the_mentions(tiny_assets, tmp_path):
    made = rerank(
        recipe_of(training__epochs=1), assets=tiny_assets.path, train=None, dev=None,
        output=tmp_path / "new", run=tmp_path / "run",
    )  # fmt: skip
    noted = made.manifest["reranker"] or made.manifest["left_out"]["reranker"]
    assert noted
    assert (tmp_path / "run" / "metrics.jsonl").is_file()


def test_a_fifth_of_the_training_documents_chooses(tiny_assets, tmp_path):
    gold = write_gold(tmp_path / "g.jsonl", 15)
    said: list[str] = []
    made = rerank(
        RECIPE, assets=tiny_assets.path, train=gold, dev=None, output=tmp_path / "new",
        run=tmp_path / "run", say=said.append,
    )  # fmt: skip
    assert "24 mentions to train on, 6 to choose by" in said
    facts = made.manifest["reranker"]
    assert facts["chosen_on"]["file"] == "g.jsonl"
    assert facts["chosen_on"]["reranked"]["acc@1"] == 1.0
    # With names beside there is more to train on, and as much to choose by.
    recipe = recipe_of(training__epochs=1, reranking__beside=5, reranking__weight=1.0)
    more = rerank(
        recipe, assets=tiny_assets.path, train=gold, dev=None, output=tmp_path / "more",
        run=tmp_path / "more_run", say=said.append,
    )  # fmt: skip
    (counts,) = (line for line in said[1:] if "to choose by" in line and line != said[0])
    assert 24 < int(counts.split()[0]) <= 29 and counts.endswith("6 to choose by")
    assert facts["gate"] and "gate" not in more.manifest["reranker"], "a wanted order is the order"


def test_mentions_of_no_concept_teach_a_class_of_none(tiny_assets, tmp_path):
    gold = write_gold(tmp_path / "g.jsonl", 15)
    lines = gold.read_text("utf-8").splitlines()
    nil = [json.loads(line) | {"doc_id": f"nil {place}"} for place, line in enumerate(lines)]
    for document in nil:
        document["mentions"][0]["ids"] = []
    text = "".join(json.dumps(document) + "\n" for document in nil)
    gold.write_text("\n".join(lines) + "\n" + text, encoding="utf-8")
    rest, held = lists_of(tiny_assets, recipe_of(objective__loss="listwise_nil"), gold, None)
    assert len(rest) + len(held) == 60
    assert sum(not one.right.any() for one in [*rest, *held]) == 30


def test_dev_needs_train(tiny_assets, tmp_path):
    command = [sys.executable, "-m", "training.train", CONFIG, "--base", tiny_assets.path,
               "--dev", CONFIG, "--output", tmp_path / "new"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--dev needs --train" in done.stderr


def test_a_reranker_trains_in_one_process(tiny_assets, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(typer.BadParameter, match="one process"):
        main(CONFIG, str(tiny_assets.path), tmp_path / "new")


def test_options_are_those_of_the_kind(tiny_assets, tmp_path):
    for more, said in (
        ({"kb": tmp_path / "kb"}, "does not use --kb"),
        ({"text": tmp_path / "text"}, "does not use --text"),
    ):
        with pytest.raises(typer.BadParameter, match=said):
            main(CONFIG, str(tiny_assets.path), tmp_path / "new", **more)
    with pytest.raises(typer.BadParameter, match="needs --train"):
        main(CONFIG.with_name("finetune.cfg"), "base", tmp_path / "new", kb=tmp_path / "kb")


def test_without_annotated_text_that_teaches_the_assets_stay_as_they_are(tiny_assets, tmp_path):
    empty, said = tmp_path / "empty.jsonl", list[str]()
    empty.write_text("", encoding="utf-8")
    gold = write_gold(tmp_path / "gold.jsonl", 2)
    for train, dev in ((empty, gold), (gold, empty)):
        made = rerank(
            RECIPE, assets=tiny_assets.path, train=train, dev=dev, output=tmp_path / "new",
            run=tmp_path / "run", say=said.append, if_any=True,
        )  # fmt: skip
        assert made.manifest["reranker"] is None
        assert "no annotated mention" in made.manifest["left_out"]["reranker"]
    assert len(said) == 2 and "No reranker" in said[0]
    with pytest.raises(MedlinkError, match="E404"):
        rerank(
            RECIPE, assets=tiny_assets.path, train=empty, dev=gold, output=tmp_path / "new",
            run=tmp_path / "run",
        )  # fmt: skip
