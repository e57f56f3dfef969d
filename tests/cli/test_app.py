"""What all verbs share: help, exit codes, messages without tracebacks."""

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import spacy_medlink
from spacy_medlink.cli.app import app
from spacy_medlink.kb import KnowledgeBase
from tests.cli.conftest import Run


def _verbs(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All verbs, by the words that name them."""
    for name, one in (group or typer.main.get_command(app)).commands.items():
        if hasattr(one, "commands"):
            yield from _verbs(one, (*path, name))
        else:
            yield (*path, name), one


VERBS = dict(_verbs())


def test_options_are_few() -> None:
    """An option comes for one that goes; 110 are wanted."""
    assert (
        sum(one.param_type_name == "option" for verb in VERBS.values() for one in verb.params)
        <= 113
    )


def test_the_contract_of_the_command_line() -> None:
    kb = {("kb", verb) for verb in "build info show search diff add-mentions".split()}
    others = "build learn link annotate evaluate report".split()
    assert {*kb, *((verb,) for verb in others)} <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_explains_itself(run: Run, verb: tuple[str, ...]) -> None:
    """In words: no type of Python, no default twice, nothing without a line of help."""
    said = run(*verb, "--help").stdout
    assert f"Usage: medlink {' '.join(verb)} [OPTIONS]" in said
    assert not re.search(r"[<>{}](?!=)", said.replace("<=", "")), said
    assert "list[" not in said and "......" not in said
    for entry in re.split(r"\n│ (?=[ *]*\S+ {2,})", said):
        assert len(re.findall(r"default:", " ".join(entry.split()))) <= 1, entry
    for one in VERBS[verb].params:
        assert one.hidden or one.help, one.name


def _in_one_line(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_help_begins_with_what_to_do_first_and_cuts_nothing_off(run: Run) -> None:
    groups = {path[:-1] for path in VERBS}
    help = {group: _in_one_line(run(*group, "--help").stdout) for group in groups}
    first, *sections = map(
        help[()].index, ("medlink link starter", " Make a terminology ready ", " Measure ")
    )
    assert first < min(sections)
    for path, verb in VERBS.items():
        summary, _, _ = (verb.help or "").partition("\n\n")
        assert _in_one_line(summary) in help[path[:-1]]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_option_is_without_effect(verb: tuple[str, ...]) -> None:
    """What can be given is read; a flag that can be taken back is not off already."""
    command = VERBS[verb]
    function = inspect.unwrap(command.callback)
    tree = ast.parse(inspect.getsource(function))
    read = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for one in command.params:
        is_own = one.name in inspect.signature(function).parameters  # else of its settings
        assert one.name in read or not is_own, f"{one.name} is never read"
        if one.secondary_opts:
            assert one.default is not False, f"{one.secondary_opts[0]} is so without it, too"


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_what_is_written_is_named_by_one_option(verb: tuple[str, ...]) -> None:
    """`VERB ASSETS_OR_PIPELINE INPUT --output OUT`: no place on the line is an output."""
    places = [one.metavar for one in VERBS[verb].params if one.param_type_name == "argument"]
    assert verb == ("example",) or not {"OUT", "OUTPUT", "DIR"} & set(places)
    if verb[-1] not in (
        "example",
        "info",
        "check",
        "show",
        "search",
        "diff",
        "link",
        "serve",
        "mcp",
    ):
        assert "--output" in {name for one in VERBS[verb].params for name in one.opts}


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"medlink {spacy_medlink.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [("nosuch",), ("kb", "nosuch"), ("kb", "info"), ("link", "--nosuch"), ("kb", "info", "a", "b")],
    ids=" ".join,
)
def test_usage_errors_exit_with_2(run: Run, arguments: tuple[str, ...]) -> None:
    assert "Usage:" in run(*arguments, expect=2).stderr


def test_the_installed_command(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("medlink")), "kb", "info", "no.kb"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("[E101] No knowledge base at no.kb. Build one with")


def test_what_the_system_refuses_is_a_message(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", "secret.kb")

    monkeypatch.setattr(sys.modules["spacy_medlink.cli.kb_info"], "open_kb", refuse)
    stderr = run("kb", "info", "secret.kb", expect=1).stderr
    assert stderr.startswith("[E601] The system refused: [Errno 13] Permission denied: 'secret.kb'")


def test_a_reader_that_goes_away_is_no_error(tiny_kb: KnowledgeBase) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [str(Path(sys.executable).with_name("medlink")), "kb", "info", tiny_kb.path]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert done.stderr == b""
