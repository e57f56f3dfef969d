"""Commands as they stand in the documentation: run, or checked as far as that goes without."""

import importlib
import re
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from spacy_medlink.cli.app import app
from tests import declared
from tests.docs.markdown import ROOT

_VARIABLE = re.compile(r"[A-Z_]+=")
_TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
_TOOLS = "cd git grep mkdir docker scp rsync torchrun spacy chromium huggingface-cli".split()


def run(words: list[str]) -> str:
    """Run a `medlink` command, and give what it prints."""
    assert words[0] == "medlink", f"{words[0]} is not run in tests: mark the block"
    result = CliRunner().invoke(app, words[1:])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def check(words: list[str], is_whole: bool = True) -> None:
    """Check that a command, its options and what it names exist.

    is_whole (bool): whether it can be typed as it stands: no option that it needs is left out.
    """
    while _VARIABLE.match(words[0]):  # as in `NAME=value command`
        words = words[1:]
    if words[0] == "medlink":
        _check_options(typer.main.get_command(app), words[1:], is_whole)
    elif words[:2] == ["python", "-m"]:
        _check_module(words[2], words[3:], is_whole)
    elif words[0] in ("pip", "make"):
        {"pip": _check_pip, "make": _check_make}[words[0]](words[1:])
    else:
        assert words[0] in _TOOLS, f"unknown tool {words[0]}"


def _check_module(name: str, words: list[str], is_whole: bool) -> None:
    if name.split(".")[0] not in ("training", "benchmarks"):
        assert name.split(".")[0] in ("spacy", "venv", "pip", "pytest"), name
        return
    module = importlib.import_module(name)
    main = getattr(module, "main", None)
    if main is None:  # a package of several verbs
        module = importlib.import_module(f"{name}.__main__")
        assert module
        return
    for path in (word for word in words if word.startswith("training/")):
        assert (ROOT / path).exists(), path
    own = typer.Typer()
    own.command()(main)
    _check_options(typer.main.get_command(own), words, is_whole)


def _check_options(command: Any, words: list[str], is_whole: bool) -> None:
    while getattr(command, "commands", None):
        assert words and words[0] in command.commands, f"no command {words[:1]}"
        command, words = command.commands[words[0]], words[1:]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert given <= {*known, "--help"}, f"no options {given - known}"
    needed = [one.opts for one in command.params if one.required and one.opts[0].startswith("--")]
    # A sentence may name a verb alone, or with the option that it speaks of.
    lacking = [own[0] for own in needed if not given.intersection(own)]
    assert not (is_whole and lacking), f"it needs {', '.join(lacking)}"


def _check_pip(words: list[str]) -> None:
    for word in words:
        if "[" in word:
            assert word.startswith(".["), f"{word}: the project is not on an index"
            wanted = set(word.partition("[")[2].rstrip("]").split(","))
            assert wanted <= set(declared.extras()), word


def _check_make(words: list[str]) -> None:
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf8")))
    named = {word for word in words if "=" not in word}
    assert named <= targets, named - targets


def tree(path: Path) -> list[str]:
    """List the files below a path: what a failing block left behind."""
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
