"""The verb, from recipe and knowledge base to an encoder directory."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from spacy_medlink.assets.vector_store import known_beside
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.types import Concept, Name
from tests.tables import table
from training import verbs
from training.choosing.yardstick import Yardstick
from training.data.holdout import Holdout
from training.loop import encoding
from training.loop.learner import Learner, Learnt
from training.train import main

from .conftest import SETTINGS

APP = Typer()
APP.command()(main)


@pytest.fixture
def arguments(tiny_kb: KnowledgeBase, tiny_encoder: Path, tmp_path: Path) -> list[str]:
    """The command line that trains the tiny encoder on the tiny knowledge base."""
    file = tmp_path / "recipe.cfg"
    file.write_text('[recipe]\nkind = "pretrain"\n', encoding="utf-8")
    paths = {"--kb": tiny_kb.path, "--base": tiny_encoder, "--output": tmp_path / "sap"}
    settings = [f"--set={key}={json.dumps(value)}" for key, value in SETTINGS.items()]
    return [str(file), *(f"{key}={value}" for key, value in paths.items()), *settings]


def _run(arguments: list[str], *more: str) -> Result:
    return CliRunner().invoke(APP, [*arguments, *more])


def _figures(path: Path) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((path / "sap" / "metrics.json").read_text("utf-8"))
    return figures


def test_it_writes_an_encoder_its_figures_and_the_hold_out(arguments, tmp_path, tiny_kb):
    result = _run(arguments)
    assert result.exit_code == 0, result.output
    encoder = BiEncoder.load(tmp_path / "sap")
    assert encoder.encode(["fever"]).shape == (1, encoder.dim)
    holdout = Holdout.load(tmp_path / "sap" / "holdout", tiny_kb)
    figures = _figures(tmp_path)
    for system in ("base", "shipped"):
        assert figures[system]["dev"]["n"] == len(holdout.dev)
        assert figures[system]["test"]["n"] == len(holdout.test)
    assert figures["training"]["names_per_s"] > 0
    assert figures["recipe"]["optimizer"]["learning_rate"] == 2e-3
    assert _figures(tmp_path)["training"]["losses"]
    assert "6 held out" in result.output
    assert "names/s" in result.output
    assert not list(tmp_path.glob(".sap*"))


def test_names_are_encoded_once(arguments, tmp_path, tiny_kb, tiny_encoder, monkeypatch):
    """What a training encoded lies beside its encoder, and the next one and a build find it."""
    assert _run(arguments).exit_code == 0
    first = tmp_path / "sap"
    for path in (tiny_encoder, first):
        (found,) = known_beside(BiEncoder.load(path), [first])
        is_known, vectors = found.take([*tiny_kb.iter_texts()])
        held_out = len(Holdout.load(first / "holdout", tiny_kb).rows)
        assert (~is_known).sum() <= held_out
        expected = BiEncoder.load(path).encode([*tiny_kb.iter_texts()])[is_known]
        np.testing.assert_allclose(vectors, expected, atol=2e-2)
    encoded: list[str] = []

    def noted(items: range, total: int, what: str) -> range:
        encoded.extend([what] * total)
        return items

    monkeypatch.setattr(encoding, "show_progress", noted)
    second = [one.replace(str(tiny_encoder), str(first)) for one in arguments]
    second = [one.replace(f"--output={first}", f"--output={tmp_path / 'two'}") for one in second]
    assert _run(second).exit_code == 0
    assert "Encoding names" in encoded
    assert "Encoding names with the base" not in encoded


def test_an_encoder_that_loses_is_not_shipped(arguments, tmp_path, tiny_encoder, monkeypatch):
    bad = {"acc@1": -1.0, "acc@5": 0.0, "acc@20": 0.0}
    monkeypatch.setattr(Yardstick, "whole", lambda self, encoder: {"dev": bad, "test": bad})
    result = _run(arguments)
    assert result.exit_code == 0, result.output
    assert "the base is kept" in result.output
    assert _figures(tmp_path)["trained_part"] == 0
    shipped, base = BiEncoder.load(tmp_path / "sap"), BiEncoder.load(tiny_encoder)
    assert shipped.fingerprint() == base.fingerprint()
    assert _figures(tmp_path)["shipped"] == _figures(tmp_path)["base"]


def test_an_encoder_that_wins_is_shipped(arguments, tmp_path, tiny_encoder, monkeypatch):
    good = {"acc@1": 101.0, "acc@5": 101.0, "acc@20": 101.0}
    monkeypatch.setattr(Yardstick, "whole", lambda self, encoder: {"dev": good, "test": good})
    result = _run(arguments, "--set=encoder.pooling=cls", "--set=encoder.max_length=9")
    assert result.exit_code == 0, result.output
    assert "the trained encoder" in result.output
    shipped = BiEncoder.load(tmp_path / "sap")
    assert shipped.fingerprint() != BiEncoder.load(tiny_encoder).fingerprint()
    assert (shipped.pooling, shipped.max_length) == ("cls", 9)
    assert _figures(tmp_path)["shipped"]["test"] == good


def test_ctrl_c_exits_130_and_resume_ends_the_work(arguments, tmp_path, monkeypatch):
    _run([*arguments, f"--output={tmp_path / 'whole'}"])
    learn = Learner.learn

    def interrupted(self: Learner, step: int, rate: float) -> Learnt:
        if step == 4:
            signal.raise_signal(signal.SIGINT)
        return learn(self, step, rate)

    monkeypatch.setattr(Learner, "learn", interrupted)
    stopped = _run(arguments)
    assert stopped.exit_code == 130
    assert "--resume" in stopped.output
    assert not (tmp_path / "sap").exists()
    monkeypatch.undo()
    assert _run(arguments, "--resume").exit_code == 0
    first, second = (BiEncoder.load(tmp_path / name) for name in ("sap", "whole"))
    assert first.fingerprint() == second.fingerprint()
    assert _figures(tmp_path)["training"]["steps"] > 4


def test_a_budget_is_kept(arguments, tmp_path):
    result = _run(arguments, "--set=training.max_minutes=0.01", "--set=training.epochs=100000")
    assert result.exit_code == 0, result.output
    assert _figures(tmp_path)["training"]["seconds"] < 20


def _message(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run as from the command line, where an error is a line and exit code 1."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr("sys.argv", ["pretrain", *arguments])
        verbs.run_verb(main)
    assert end.value.code == 1
    return capsys.readouterr().err


@table(__file__, "bad_input_is_a_line_and_exit_code_1")
def test_bad_input_is_a_line_and_exit_code_1(arguments, tmp_path, capsys, more, code):
    assert f"[{code}]" in _message([*arguments, more], capsys)
    assert not (tmp_path / "sap").exists()


def test_a_kb_without_synonyms_is_an_error(arguments, tmp_path, capsys):
    build_kb(tmp_path / "kb", [Concept(id, id, (Name(id),)) for id in ("a", "b", "c")])
    assert "[E530]" in _message([*arguments, f"--kb={tmp_path / 'kb'}"], capsys)
