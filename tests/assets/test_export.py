"""An encoder that a build exports links as torch does, and is refused where it would not."""

import json
import sys
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
import spacy
import torch

from spacy_medlink.assets import Assets, build_assets, export
from spacy_medlink.assets.manifest import RUNTIME
from spacy_medlink.assets.quantised import quantise
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.runtime import FILE, RuntimeEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Mention
from spacy_medlink.util import extras
from spacy_medlink.util.held import Held
from tests.children import in_fork, in_threads, python
from tests.components.test_matrix import METHODS, run_once
from tests.lines import write_lines
from tests.mutants import refused

TEXTS = ["fever", "heart attack", "Diabète", "[MASK] fever [SEP]", "血圧 😀", "x" * 300, "", "PE"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exported(tmp_path_factory, tiny_kb, tiny_encoder) -> Assets:
    """Assets whose encoder runs without torch."""
    pytest.importorskip("onnxruntime")
    out = tmp_path_factory.mktemp("onnx") / "assets"
    return build_assets(out, tiny_kb.path, tiny_encoder, runtime="onnx")


@pytest.fixture
def onnx(tmp_path, tiny_kb, tiny_encoder):
    """Build assets with an export to ONNX."""
    pytest.importorskip("onnxruntime")

    def build(**settings):
        return build_assets(tmp_path / "own", tiny_kb.path, tiny_encoder, **settings)

    return build


def links(assets, texts):
    linker = assets.engine(exact_first=False, cache_size=0)
    found = linker.decide([Mention(text) for text in texts])
    return [(one.link.row if one.link else -1, [c.row for c in one.ranking]) for one in found]


def test_it_gives_the_vectors_and_links_of_torch(exported, tiny_encoder, tiny_kb):
    torch_encoder = BiEncoder.load(tiny_encoder)
    encoder = exported.encoder
    assert isinstance(encoder, RuntimeEncoder)
    assert encoder.dim == torch_encoder.dim
    assert encoder.encode([]).shape == (0, 32)
    np.testing.assert_allclose(encoder.encode(TEXTS), torch_encoder.encode(TEXTS), atol=0.02)
    one_by_one = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS * 40)[:8], one_by_one, atol=1e-2)
    with_torch = exported.engine(exact_first=False).with_parts(encoder=torch_encoder)
    names = list(tiny_kb.iter_texts())
    expected = [one.ranking[0].row for one in with_torch.decide([Mention(n) for n in names])]
    assert [ranking[0] for _, ranking in links(exported, names)] == expected


def test_the_manifest_says_what_it_is(exported):
    own = exported.manifest["encoder"]["runtime"]
    assert own["name"] == "onnx" and own["precision"] in ("fp32", "int8")
    assert own["changed"] <= export.MAX_CHANGED[own["precision"]]
    assert own["least_cosine"] >= export.LEAST_COSINE[own["precision"]]
    assert f"{RUNTIME}/{FILE}" in exported.files


@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler"])
def test_settings_of_the_encoder_go_with_it(tiny_kb, tiny_encoder, tmp_path, pooling):
    pytest.importorskip("onnxruntime")
    BiEncoder.load(tiny_encoder, pooling, 8).save(tmp_path / "encoder")
    made = build_assets(tmp_path / "assets", tiny_kb.path, tmp_path / "encoder", runtime="onnx")
    expected = BiEncoder.load(tmp_path / "encoder").encode(TEXTS)
    np.testing.assert_allclose(made.encoder.encode(TEXTS), expected, atol=0.03)


def test_int8_does_not_depend_on_the_batch(tiny_encoder, tmp_path):
    """A mention has the same vector whatever it is encoded with."""
    pytest.importorskip("onnxruntime")
    encoder = BiEncoder.load(tiny_encoder)
    encoder.save(tmp_path / "encoder")
    export._write_onnx(encoder, plain := tmp_path / "plain.onnx")
    (tmp_path / "int8").mkdir()
    quantise(plain, tmp_path / "int8" / "model.onnx")
    own = RuntimeEncoder(Held(tmp_path / "int8"), Held(tmp_path / "encoder"))
    together = own.encode(TEXTS)
    alone = np.concatenate([own.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-3)
    cosines = np.einsum("nd,nd->n", together, encoder.encode(TEXTS))
    assert cosines.min() > 0.97
    sizes = [path.stat().st_size for path in (tmp_path / "int8" / "model.onnx", plain)]
    assert sizes[0] < 0.7 * sizes[1]


def test_threads_and_forked_children(exported):
    encoder = exported.encoder
    expected = encoder.encode(TEXTS * 30)
    for found in in_threads(lambda _: encoder.encode(TEXTS * 30), range(16)):
        np.testing.assert_allclose(found, expected, atol=1e-2)
    np.testing.assert_allclose(in_fork(lambda: encoder.encode(TEXTS * 30)), expected, atol=1e-2)
    np.testing.assert_allclose(encoder.encode(TEXTS * 30), expected, atol=1e-2)


@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_processes_of_a_pipeline(exported, tmp_path, method):
    run_once(exported.path, tmp_path / "run.py", method, OMP_WAIT_POLICY="PASSIVE")


def test_an_update_exports_again_and_torch_takes_it_away(onnx, tmp_path, tiny_kb):
    first = onnx(runtime="onnx")
    second = build_assets(tmp_path / "next", tiny_kb.path, update=first.path)
    assert second.manifest["encoder"]["runtime"]["name"] == "onnx"
    assert isinstance(Assets(second.path, verify=True).encoder, RuntimeEncoder)
    third = build_assets(tmp_path / "third", tiny_kb.path, update=second.path, runtime="torch")
    assert "runtime" not in third.manifest["encoder"]
    assert not any(name.startswith(RUNTIME) for name in third.files)


def test_a_pipeline_is_saved_and_loaded_with_it(exported, tmp_path):
    nlp = spacy.blank("en")
    config = {"assets": str(exported.path), "threshold": 0.0}
    linker = nlp.add_pipe("medical_linker", config=config)
    expected = [one.candidates for one in linker.link_texts(["hart attack", "fevr"])]
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline").get_pipe("medical_linker")
    assert isinstance(loaded.engine.parts.encoder, RuntimeEncoder)
    assert [one.candidates for one in loaded.link_texts(["hart attack", "fevr"])] == expected


def test_what_differs_is_refused_and_the_old_assets_stay(onnx, monkeypatch):
    before = onnx()
    monkeypatch.setitem(export.LEAST_COSINE, "fp32", 1.1)
    with pytest.raises(MedlinkError, match=r"E228.*cosine"):
        onnx(runtime="onnx")
    assert Assets(before.path, verify=True).build == before.build
    monkeypatch.undo()
    monkeypatch.setitem(export.MAX_CHANGED, "fp32", -1.0)
    with pytest.raises(MedlinkError, match=r"E228.*first candidates"):
        onnx(runtime="onnx")


def test_int8_that_changes_too_much_is_left_out(onnx, monkeypatch):
    monkeypatch.setitem(export.LEAST_COSINE, "int8", 1.1)
    own = onnx(runtime="onnx").manifest["encoder"]["runtime"]
    assert own["precision"] == "fp32" and "int8" in own["left_out"]


def test_a_model_that_cannot_be_exported(onnx, monkeypatch):
    def refuse(*_, **__):
        raise torch.onnx.errors.OnnxExporterError("an operator is unknown\nmore")

    monkeypatch.setattr(torch.onnx, "export", refuse)
    with pytest.raises(MedlinkError, match=r"E228.*an operator is unknown\. "):
        onnx(runtime="onnx")


@pytest.mark.parametrize("part", [RUNTIME, "encoder/tokenizer.json"])
def test_damage_is_met_before_it_links(exported, tmp_path, part):
    exported.copy_to(tmp_path / "assets")
    name = next(file for file in exported.files if file.startswith(part))
    path, other = tmp_path / "assets", r"E202.*not the one of the build"
    refused(path / name, "a byte of its middle", lambda: Assets(path).encoder, match=other)


def test_what_is_no_network(tmp_path, tiny_encoder):
    pytest.importorskip("onnxruntime")
    BiEncoder.load(tiny_encoder).save(tmp_path / "encoder")
    copy(__file__, tmp_path / "model.onnx")
    with pytest.raises(MedlinkError, match="E206"):
        RuntimeEncoder(Held(tmp_path), Held(tmp_path / "encoder"))


def test_torch_takes_over_where_the_runtime_is_not_installed(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.warns(UserWarning, match=r"W243.*constraints.txt '\.\[onnx\]'"):
        encoder = Assets(exported.path).encoder
    assert isinstance(encoder, BiEncoder)


def test_neither_is_installed(exported, tiny_assets, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    monkeypatch.setattr("spacy_medlink.assets.parts.is_installed", lambda module: False)
    with pytest.raises(MedlinkError, match=r"E614.*constraints.txt '\.\[onnx\]'"):
        _ = Assets(exported.path).encoder


# As where torch and what trains is not installed; plug-ins of others may need them.
BARE = """
import sys
for name in ("torch", "transformers", "sklearn", "pytorch_metric_learning", "onnx"):
    sys.modules[name] = None
from importlib.metadata import EntryPoints, distributions
import catalogue
found = {one.metadata["Name"]: one for one in reversed([*distributions()])}
seen = ("spacy", "spacy-legacy", "thinc", "confection", "spacy-medlink")
catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(
    point for name in seen if name in found for point in found[name].entry_points
)
"""
LINK = """
import json, spacy
nlp = spacy.blank("en")
linker = nlp.add_pipe("medical_linker", config={"assets": sys.argv.pop(1), "threshold": 0.0})
print(json.dumps([one.candidates[0].scores for one in linker.link_texts(["hart attack"])]))
"""
# Several commands in one process, since starting one takes most of their time.
COMMANDS = """
import json
from spacy_medlink.cli import main
for order in json.loads(sys.argv[1]):
    sys.argv = ["medlink", *order]
    try:
        main()
    except SystemExit as end:
        print("ended with", end.code, file=sys.stderr)
"""


def bare(code, *arguments, orders):
    own = json.dumps([[*map(str, order)] for order in orders])
    done = python("-W", "ignore", "-c", BARE + code + COMMANDS, *arguments, own)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_linking_and_measuring_need_no_torch(exported, tmp_path):
    gold = write_lines(tmp_path / "gold.jsonl", {"mention": "fever", "ids": ["HP:0001945"]})
    orders = ["link", exported.path, "a heart attack"], ["evaluate", exported.path, gold]
    done = bare(LINK, exported.path, orders=orders)
    (scores,) = json.loads(done.stdout.partition("\n")[0])
    assert scores["dense"] > 0
    assert done.stderr.count("ended with 0") == 2, done.stderr


def test_what_needs_torch_says_so(exported, tiny_assets, tiny_kb, tmp_path):
    gold = write_lines(tmp_path / "gold.jsonl", {"mention": "fever", "ids": ["HP:0001945"]})
    orders = (
        ["link", tiny_assets.path, "a heart attack"],
        ["build", tiny_kb.path, "--encoder", "some", "--output", tmp_path / "out"],
        ["learn", exported.path, gold, "--output", tmp_path / "out"],
    )
    said = bare("", orders=orders).stderr
    for words in ("ended with 1", "E614", "pip install -c constraints.txt '.[torch]'"):
        assert said.count(words) == 3, said
