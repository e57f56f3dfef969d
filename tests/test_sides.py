"""The core alone: without its sides it builds, links, learns, evaluates and packages."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import spacy_medlink
from tests.children import python
from tests.lines import note, write_lines
from tests.test_layers import SIDES

ASTHMA, GOUT = "Known asthma.", "He has gout."


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the package as it is installed, without its sides."""
    site = tmp_path_factory.mktemp("site")
    package = Path(spacy_medlink.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", *SIDES)
    shutil.copytree(package, site / package.name, ignore=ignored)
    # What finds the modules of an editable installation would find the sides, too.
    (site / "sitecustomize.py").write_text(
        "import sys\n"
        "sys.meta_path[:] = [one for one in sys.meta_path if 'editable' not in str(one)]\n"
    )
    assert not any((site / package.name / side).exists() for side in SIDES)
    return site


def test_the_core_does_its_work_without_the_sides(core: Path, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        return python(*words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(core)}).stdout

    def medlink(*words: str) -> str:
        return run("-m", "spacy_medlink.cli", *words)

    assert str(core) in run("-c", "import spacy_medlink; print(spacy_medlink.__file__)")
    concepts = [("D1", "asthma"), ("D2", "gout"), ("D3", "fever")]
    (tmp_path / "names.csv").write_text(
        "\n".join(["id,name", *(",".join(row) for row in concepts)]), encoding="utf-8"
    )
    gold = note(ASTHMA, (ASTHMA[6:12], "D1")), note(GOUT, (GOUT[7:11], "D2"))
    write_lines(tmp_path / "gold.jsonl", *gold)
    medlink("kb", "build", "names.csv", "--from", "csv", "--output", "my.kb")
    medlink("build", "my.kb", "--output", "assets")
    assert "D1" in medlink("link", "assets", ASTHMA)
    medlink("learn", "assets", "gold.jsonl", "--output", "learned")
    medlink("evaluate", "learned", "gold.jsonl", "--output", "metrics.json")
    assert json.loads((tmp_path / "metrics.json").read_text())
    packaged = (
        "import spacy_medlink, spacy;"
        "spacy_medlink.open_pipeline('learned').to_disk('pipeline');"
        f"print([ent._.cui for ent in spacy.load('pipeline')({GOUT!r}).ents])"
    )
    assert "D2" in run("-c", packaged)


def test_what_lies_in_a_side_is_not_offered_without_it(core: Path, tmp_path: Path) -> None:
    def medlink(*words: str) -> subprocess.CompletedProcess[str]:
        own = os.environ | {"PYTHONPATH": str(core)}
        return python("-m", "spacy_medlink.cli", *words, cwd=tmp_path, env=own, code=None)

    shown = medlink("--help").stdout
    assert " annotate " in shown
    assert " serve " not in shown
    (tmp_path / "x.owl").write_text("", encoding="utf-8")
    refused = medlink("kb", "build", "x.owl", "--from", "owl", "--output", "x.kb")
    assert refused.returncode in (1, 2)
    assert "owl" in refused.stderr
    assert "Traceback" not in refused.stderr
