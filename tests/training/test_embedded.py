"""The parts of the embedded default are placed together or alone."""

import re
from pathlib import Path

import pytest

from tests.children import python
from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, main

ROOT = Path(__file__).parents[2]
pytest.importorskip(MODEL_PACKAGE)
pytest.importorskip(ONTOLOGY_PACKAGE)


@pytest.mark.parametrize("parts", [("model",), ("ontology",), ("model", "ontology")])
def test_each_part_alone_or_both(call, tmp_path, parts):
    given = [word for part in parts for word in (f"--{part}", tmp_path / part)]
    code, said, _ = call(main, *given)
    assert code == 0 and said.count("\n") == len(parts)
    assert {path.name for path in tmp_path.iterdir()} == set(parts)


def test_what_make_run_will_take_is_said_at_its_start(call, tmp_path):
    parts = ("--model", tmp_path / "base", "--ontology", tmp_path / "hp.obo")
    minutes = []
    for names in (1_000, 100_000):
        work = ("--trained", names, "--trained", 1, "--taught", names)
        _, said, _ = call(main, *parts, *work, "--overwrite")
        minutes.append(int(re.findall(r"about (\d+) minutes", said)[0]))
    assert 2 <= minutes[0] < minutes[1]


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), ([], 1)])
def test_training_without_torch(words, code):
    """Its options are shown; training says what is missing."""
    given = words or ["training/configs/starter.cfg", "--base", "x", "--output", "y", "--kb", "z"]
    start = (
        "import runpy, sys; sys.modules['torch'] = None; sys.argv = ['train', *sys.argv[1:]];"
        "runpy.run_module('training.train', run_name='__main__')"
    )
    done = python("-c", start, *given, code=code)
    assert ("--resume" in done.stdout) if words else ("E614" in done.stderr)
    assert "Traceback" not in done.stderr


def test_a_knowledge_base_is_for_the_multilingual_base(call, tmp_path):
    code, _, problem = call(main, "--model", tmp_path / "base", "--kb", tmp_path / "names.kb")
    assert code == 2 and "--multilingual" in problem
    assert not (tmp_path / "base").exists()


def test_nothing_to_place_is_usage(call):
    code, _, problem = call(main)
    assert code == 2 and "--model" in problem
