"""What CONTRIBUTING shows of a loss, a corpus and a recipe runs as it stands there."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.encoders.objectives.batch import LOSSES
from tests.docs.markdown import ROOT, blocks_of
from training.corpora.__main__ import main as convert
from training.corpora.registry import CORPORA
from training.train import main as train

SHOWN = [
    block for block in blocks_of(ROOT / "CONTRIBUTING.md") if "test_contributing" in block.not_run
]
VERBS = {"training.corpora": convert, "training.train": train}


@pytest.fixture
def registries():
    """Whatever the blocks add to the registries goes when the test ends."""
    before: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (registry, dict(registry)) for registry in (LOSSES, CORPORA)
    ]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


def test_a_loss_a_corpus_and_a_recipe(
    call, registries, tiny_kb, tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "training" / "configs", tmp_path / "training" / "configs")
    shutil.copytree(tiny_encoder, tmp_path / "my_model")
    shutil.copy(tiny_kb.path, tmp_path / "my.kb")
    Path("phrases.tsv").write_text("HP:0002099\twheezy chest\nno phrase\n", encoding="utf-8")
    space: dict[str, Any] = {}
    said = []
    for block in SHOWN:
        if block.language == "python":
            exec(compile(block.text, block.place, "exec"), space)
        elif block.language == "ini":
            Path("my_recipe.cfg").write_text(block.text, encoding="utf-8")
        else:
            for line in block.text.splitlines():
                words = shlex.split(line)
                assert words[:2] == ["python", "-m"]
                few = ["--set=holdout.fraction=0.3"] if words[2] == "training.train" else []
                code, out, err = call(VERBS[words[2]], *words[3:], *few)
                assert code == 0, err
                said.append(out)
    assert len(SHOWN) == 5 and len(said) == 2
    assert "fault: 1 lines without id and phrase" in said[0]
    gold = json.loads(Path("phrases.jsonl").read_text("utf-8"))
    assert (gold["mention"], gold["ids"]) == ("wheezy chest", ["HP:0002099"])
    figures = json.loads(Path("trained/metrics.json").read_text("utf-8"))
    assert figures["recipe"]["objective"]["loss"] == "supervised_contrastive"
    assert figures["recipe"]["objective"]["loss_settings"] == {"temperature": 0.2}
    assert figures["training"]["names"] >= 500 and figures["trained_part"] in (0, 1)
