"""The directory of a model runs no code, reaches no network and writes no file."""

import json
import os
from pathlib import Path

import pytest

from tests.children import python
from tests.encoders.hostile import write_hostile, write_kernels

ROOT = Path(__file__).parents[2]


def test_one_function_loads_models():
    """A second way in would be one without the checks."""
    loaders = ("from_pretrained(", "trust_remote_code=True", "torch.load(", "hf_hub_download(")
    calls = [
        (str(path.relative_to(ROOT)), word)
        for room in ("spacy_medlink", "training", "benchmarks")
        for path in (ROOT / room).rglob("*.py")
        for word in loaders
        for line in path.read_text("utf8").splitlines()
        if word in line and "`" not in line
    ]
    loading = "spacy_medlink/encoders/loading.py"
    assert calls == [(loading, "from_pretrained("), (loading, "from_pretrained(")]


@pytest.mark.slow
def test_hostile_directories(tmp_path, tiny_encoder):
    """Each is refused with a code, or loads harmlessly, whoever answers questions with yes."""
    hostile, stubs, home = tmp_path / "hostile", tmp_path / "stubs", tmp_path / "home"
    home.mkdir()
    directories = write_hostile(tiny_encoder, hostile)
    assert len(directories) >= 200
    write_kernels(stubs)
    names = {name: str(path) for name, path in directories.items()}
    (tmp_path / "directories.json").write_text(json.dumps(names))
    own = {"HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    own["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(stubs)])
    script = ("-m", "tests.encoders.hostile", tiny_encoder, hostile, tmp_path)
    python(*script, input="y\n" * 10_000, env=os.environ | own, timeout=280)
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told) == 4 * len(directories)
    coded = ("E2", "loaded")
    assert not {name: one for name, one in told.items() if not one["ended"].startswith(coded)}
    assert not {name: one["watched"] for name, one in told.items() if one["watched"]}
    assert not (hostile / "ran").exists()
    assert not (stubs / "asked").exists()
    assert not list(home.rglob("*"))
