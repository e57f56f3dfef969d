"""What all verbs share: help, exit codes, messages without tracebacks."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spacy_medlink
from spacy_medlink.kb import KnowledgeBase
from tests.cli.conftest import Run

VERBS = [
    ("kb", "build"), ("kb", "info"), ("kb", "show"), ("kb", "search"), ("kb", "diff"),
    ("build",), ("link",), ("evaluate",),
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_explains_itself(run: Run, verb: tuple[str, ...]) -> None:
    assert "Usage: medlink" in run(*verb, "--help").stdout


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
    def refuse(**arguments: Any) -> None:
        raise PermissionError(13, "Permission denied", "secret.kb")

    monkeypatch.setattr(sys.modules["spacy_medlink.cli.kb_info"], "describe_knowledge_base", refuse)
    stderr = run("kb", "info", "secret.kb", expect=1).stderr
    assert stderr.startswith("[E601] The system refused: [Errno 13] Permission denied: 'secret.kb'")


def test_a_reader_that_goes_away_is_no_error(tiny_kb: KnowledgeBase) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [str(Path(sys.executable).with_name("medlink")), "kb", "info", tiny_kb.path]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert done.stderr == b""
