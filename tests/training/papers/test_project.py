"""The workflows of the papers: every command of theirs is one that its program understands."""

import contextlib
import importlib
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from weasel.util import load_project_config

from training import represent
from training.papers.layout import read_layout
from training.papers.published import papers, read_published

ROOT = Path(__file__).parents[3]
PROJECT = ROOT / "training" / "papers"
CONFIG: dict[str, Any] = load_project_config(PROJECT)
COMMANDS = {command["name"]: command for command in CONFIG["commands"]}
WORKFLOWS = {"tables", "tables_train", *papers()}
SCRIPTS = [
    script
    for workflow in sorted(WORKFLOWS)
    for name in CONFIG["workflows"][workflow]
    for script in COMMANDS[name]["script"]
]

CONFIGS = sorted({word for script in SCRIPTS for word in shlex.split(script) if ".cfg" in word})


def _function(words: list[str]) -> tuple[Any, list[str]]:
    """Find the typer function of a command, and its arguments."""
    if words[0] == "medlink":
        from spacy_medlink.cli import build, kb_build

        kind = 2 if words[1] == "kb" else 1
        return (kb_build if kind == 2 else build).command, words[kind + 1 :]
    assert words[:2] == ["python", "run.py"]
    if words[2] == "training.represent":
        return represent.VERBS[words[3]], words[4:]
    module = importlib.import_module(words[2])
    with contextlib.suppress(ModuleNotFoundError):
        module = importlib.import_module(f"{words[2]}.__main__")
    return module.main, words[3:]


@pytest.mark.parametrize("script", SCRIPTS)
def test_options_exist(script: str) -> None:
    function, arguments = _function(shlex.split(script))
    app = typer.Typer()
    app.command()(function)
    typer.main.get_command(app).make_context("command", arguments)


def test_tables_are_of_published_systems() -> None:
    for script in SCRIPTS:
        words = shlex.split(script)
        if words[2] != "training.papers" or "--corpus" not in words:
            continue
        layout = read_layout(PROJECT / words[3])
        corpus = words[words.index("--corpus") + 1]
        known = {one.system for one in read_published(layout.paper, corpus)}
        named = {
            value.partition("=")[0]
            for option, value in pairwise(words)
            if option in ("--encoder", "--linker")
        }
        assert named - {"SapBERT (released)"} <= known, script


def test_every_paper_has_a_workflow_whose_steps_follow_each_other() -> None:
    for workflow in WORKFLOWS:
        steps = [COMMANDS[name] for name in CONFIG["workflows"][workflow]]
        made = {path for step in steps for path in step.get("outputs", [])}
        seen: set[str] = set()
        for step in steps:
            assert not {path for path in step.get("deps", []) if path in made - seen}, step["name"]
            seen.update(step.get("outputs", []))
        assert any("training.papers" in line for step in steps for line in step["script"])


@pytest.mark.parametrize(
    "name", sorted({p for s in SCRIPTS for p in shlex.split(s) if ".cfg" in p})
)
def test_recipes_and_layouts_are_there(name: str) -> None:
    assert (PROJECT / name).is_file()


def test_modules_of_the_checkout_run_from_the_papers_directory(tmp_path: Path) -> None:
    """`training` is not installed; `python -m training.show` would not find it there."""
    page = tmp_path / "table.md"
    page.write_text("a table", encoding="utf-8")
    command = [sys.executable, "run.py", "training.show", str(page)]
    paths = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=PROJECT, env=paths, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stdout.strip()) == (0, "a table"), done.stderr
