"""The parts of the embedded default are placed together or alone."""

import pytest

from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, main

pytest.importorskip(MODEL_PACKAGE)
pytest.importorskip(ONTOLOGY_PACKAGE)


@pytest.mark.parametrize("parts", [("model",), ("ontology",), ("model", "ontology")])
def test_each_part_alone_or_both(call, tmp_path, parts):
    given = [word for part in parts for word in (f"--{part}", tmp_path / part)]
    code, said, _ = call(main, *given)
    assert code == 0 and said.count("\n") == len(parts)
    assert {path.name for path in tmp_path.iterdir()} == set(parts)


def test_a_knowledge_base_is_for_the_multilingual_base(call, tmp_path):
    code, _, problem = call(main, "--model", tmp_path / "base", "--kb", tmp_path / "names.kb")
    assert code == 2 and "--multilingual" in problem
    assert not (tmp_path / "base").exists()


def test_nothing_to_place_is_usage(call):
    code, _, problem = call(main)
    assert code == 2 and "--model" in problem
