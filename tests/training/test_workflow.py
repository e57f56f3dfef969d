"""The project's own workflows: their steps are complete, and `train` runs to its end offline."""

import gzip
import importlib
import inspect
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer
from weasel.util import load_project_config

from spacy_medlink.kb.gold import read_gold
from tests.children import python
from training import compare, evaluate, ner, train
from training.papers import reproduce

ROOT = Path(__file__).parents[2]
PROJECTS = [ROOT, ROOT / "training" / "papers"]
CONFIG: dict[str, Any] = load_project_config(ROOT)
SCRIPTS = [
    (project, script)
    for project in PROJECTS
    for command in load_project_config(project)["commands"]
    for script in command["script"]
]
WORKFLOWS = [
    (project, workflow)
    for project in PROJECTS
    for workflow in load_project_config(project)["workflows"]
]


@pytest.mark.parametrize(
    ("project", "script"), SCRIPTS, ids=lambda part: getattr(part, "name", part)
)
def test_options_exist(project, script):
    """Parse without running; a wrong option raises."""
    words = shlex.split(script)
    if words[:3] == ["python", "-m", "spacy"]:
        return
    if words[0] == "medlink":
        count = 2 if words[1] == "kb" else 1
        verb = importlib.import_module(f"spacy_medlink.cli.{'_'.join(words[1 : 1 + count])}")
        function, options = verb.command, words[1 + count :]
    else:
        # Modules of the checkout are found from its top, or by a program of the papers' project.
        assert words[:2] == (["python", "-m"] if project == ROOT else ["python", "run.py"])
        module = importlib.import_module(words[2])
        if hasattr(module, "__path__"):
            module = importlib.import_module(f"{words[2]}.__main__")
        function, options = module.main, words[3:]
    app = typer.Typer()
    app.command()(function)
    typer.main.get_command(app).make_context("command", options)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_substitution_does_not_join_paths(project):
    """Of two neighbours that are nothing but variables the config system makes one path."""
    for command in load_project_config(project)["commands"]:
        for path in (*command.get("deps", ()), *command.get("outputs", ())):
            assert "," not in path and "$" not in path, f"{command['name']}: {path}"


@pytest.mark.parametrize(("project", "workflow"), WORKFLOWS, ids=str)
def test_a_step_reads_what_an_earlier_one_made(project, workflow):
    config = load_project_config(project)
    commands = {command["name"]: command for command in config["commands"]}
    made = {"corpora/collected.json"}  # of `download`, which always runs and so lists no outputs
    for name in config["workflows"][workflow]:
        for path in commands[name].get("deps", ()):
            assert path in made or (project / path).exists(), f"{name} needs {path}"
        made.update(commands[name].get("outputs", ()))


def test_every_step_that_trains_takes_the_device():
    config = load_project_config(ROOT, overrides={"vars.device": "cuda:3"})
    scripts = [line for command in config["commands"] for line in command["script"]]
    training = [line for line in scripts if line.split()[2] == "training.train"]
    assert len(training) == 9 and all("--device cuda:3" in line for line in training)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A directory with the project, and nothing that it has ever made."""
    place = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "project.yml", place)
    for name in ("training", "spacy_medlink", "assets"):
        (place / name).symlink_to(ROOT / name)
    return place


def _run(checkout: Path, subcommand: str, *changes: str) -> str:
    command = ["-m", "spacy", "project", "run", subcommand, ".", *changes]
    paths = {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = python(*command, cwd=checkout, env={**os.environ, **paths}, timeout=1500)
    return done.stdout + done.stderr


def _concepts(data_dir: Path, gold: Path, dictionary: str = "medic_2012") -> Iterator[str]:
    """Take the lines of a dictionary that the mentions of a few documents need."""
    wanted = {id for doc in read_gold(gold) for mention in doc.mentions for id in mention.ids}
    with gzip.open(data_dir / f"{dictionary}.kb.jsonl.gz", "rt", encoding="utf8") as lines:
        for line in lines:
            concept = json.loads(line)
            codes = {code for own in concept.get("codes", {}).values() for code in own}
            if wanted & {concept["concept_id"], *codes}:
                yield line


def _first(source: Path, target: Path, count: int) -> None:
    with gzip.open(source, "rt", encoding="utf8") as lines:
        target.write_text("".join(islice(lines, count)), "utf8")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_train_runs_to_its_end_with_and_without_gold(checkout, data_dir):
    """A small part of MEDIC, first without any annotated text, then with files put in place."""
    corpora = checkout / "corpora"
    corpora.mkdir()
    _first(data_dir / "ncbi_disease.train.jsonl.gz", checkout / "train.jsonl", 60)
    lines = list(_concepts(data_dir, checkout / "train.jsonl"))
    assert len(lines) > 30
    (corpora / "medic.kb.jsonl").write_text("".join(lines), "utf8")
    changes = [
        "--vars.terminology=corpora/medic.kb.jsonl", "--vars.format=jsonl", "--vars.kb=medic",
        "--vars.branch=", "--vars.cui_scheme=", "--vars.sap_names=64", "--vars.names=64",
        "--vars.max_minutes=0.1", "--vars.device=-1",
        "--vars.package=medlink_test",
    ]  # fmt: skip
    out = _run(checkout, "train", *changes, "--vars.corpora=mcn")
    assert "mcn is missing. [E713]" in out and "corpora/downloads/mcn" in out
    assert "continues without: mcn" in out
    assert "Training is left out" in out and "The reranker is left out" in out
    assert "No gold mentions were there" in out
    wheel = "en_medlink_test-0.1.0/dist/en_medlink_test-0.1.0-py3-none-any.whl"
    assert (checkout / "packages" / "trained" / wheel).is_file()
    # The user puts the corpus where the message said: only what depends on it runs again.
    _first(data_dir / "ncbi_disease.train.jsonl.gz", corpora / "mcn.train.jsonl", 60)
    _first(data_dir / "ncbi_disease.dev.jsonl.gz", corpora / "mcn.dev.jsonl", 20)
    out = _run(checkout, "train", *changes, "--vars.corpora=mcn")
    for name in ("embedded", "kb", "pretrain"):
        assert f"Skipping '{name}': nothing changed" in out
    for name in ("gold", "finetune", "train-index", "train-rerank", "train-evaluate"):
        assert f"Skipping '{name}'" not in out
    evaluation = json.loads((checkout / "metrics/evaluation.json").read_text("utf8"))
    systems = evaluation["corpora"]["mcn"]["systems"]
    assert systems["linker"]["acc@5"] >= systems["exact"]["acc@5"] > 0
    # And now everything is done.
    out = _run(checkout, "train", *changes, "--vars.corpora=mcn")
    assert out.count("nothing changed") == len(CONFIG["workflows"]["train"]) - 2  # download, show


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("workflow", "corpora", "terminology", "package"),
    [
        ("disease", ("bc5cdr", "ncbi_disease"), "medic_2012", "en_medlink_disease"),
        ("oncology", ("cantemist",), "icdo3_es", "es_medlink_oncology"),
    ],
)
def test_a_pipeline_whose_mentions_an_ner_finds(
    checkout, data_dir, workflow, corpora, terminology, package
):
    """A few documents, from a dictionary and corpora that the user put in place to a wheel."""
    (checkout / "corpora").mkdir(exist_ok=True)
    for corpus in corpora:
        for part, count in (("train", 20), ("dev", 5)):
            source = data_dir / f"{corpus}.{part}.jsonl.gz"
            _first(source, checkout / "corpora" / f"{corpus}.{part}.jsonl", count)
    names = checkout / f"{terminology}.jsonl"
    gold = (checkout / "corpora" / f"{corpus}.train.jsonl" for corpus in corpora)
    lines = [line for one in gold for line in _concepts(data_dir, one, terminology)]
    names.write_text("".join(dict.fromkeys(lines)), "utf8")
    variable = {"disease": "medic", "oncology": "icdo3"}[workflow]
    out = _run(
        checkout, workflow, f"--vars.{variable}={names.name}", "--vars.ner_steps=4",
        "--vars.device=-1",
    )  # fmt: skip
    assert "| strict |" in out
    name = package.partition("_")[2]
    wheel = f"{package}-0.1.0/dist/{package}-0.1.0-py3-none-any.whl"
    assert (checkout / "packages" / wheel).is_file()
    measured = json.loads((checkout / "metrics" / f"{name}.json").read_text("utf8"))
    assert set(measured["end_to_end"]) == {corpus.replace("_", "-") for corpus in corpora}


VERBS = [compare.main, evaluate.main, ner.main, reproduce.main, train.main]


@pytest.mark.parametrize("verb", VERBS)
def test_it_has_a_device_and_takes_a_gpu_by_default(verb):
    assert inspect.signature(verb).parameters["device"].default == "auto"
