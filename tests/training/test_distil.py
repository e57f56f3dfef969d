"""Smaller encoders of larger ones: students, what they learn from, and what is shipped."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, BertModel

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.encoders.preparation import Preparation
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.readers import obo
from spacy_medlink.types import Concept
from tests.tiny import write_tiny_encoder
from training.data.holdout import Holdout
from training.data.names import read_texts
from training.embedded import MODEL_PACKAGE, ONTOLOGY_PACKAGE, place_model, place_ontology
from training.kinds.distilling import Distillation
from training.kinds.students import make_student
from training.objectives.teacher import TeacherObjective
from training.train import main

from .conftest import SETTINGS

DISTIL: dict[str, Any] = {
    **SETTINGS,
    "objective.loss": "teacher",
    "objective.miner": "none",
    "distil.max_loss": 100,
    "selection.min_gain": -100.0,  # a handful of names does not tell the two apart
    "training.epochs": 20.0,
    "training.eval_every": 0,
}
CPU = torch.device("cpu")
SYSTEMS = ("teacher", "base", "shipped")


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """A random BERT of two layers, which keeps the letter case and has a prefix."""
    path = write_tiny_encoder(tmp_path_factory.mktemp("teacher"), cased=True)
    config = AutoModel.from_pretrained(path).config
    config.num_hidden_layers = 2
    torch.manual_seed(1)
    module = BertModel(config).eval()
    tokenizer = BiEncoder.load(path).tokenizer
    BiEncoder(tokenizer, module, preparation=Preparation(prefix="a ")).save(path)
    return path


def _arguments(kb: KnowledgeBase, teacher: Path, output: Path, **changes: object) -> list[str]:
    recipe = output.parent / "recipe.cfg"
    recipe.write_text('[recipe]\nkind = "distil"\n', encoding="utf-8")
    settings = {**DISTIL, **{key.replace("__", "."): value for key, value in changes.items()}}
    paths = [str(recipe), f"--kb={kb.path}", f"--base={teacher}", f"--output={output}"]
    return [*paths, *(f"--set={key}={json.dumps(value)}" for key, value in settings.items())]


def _cosine(one: BiEncoder, other: BiEncoder, texts: list[str]) -> float:
    return float((one.encode(texts) * other.encode(texts)).sum(axis=1).mean())


@pytest.mark.parametrize(
    ("student", "layers", "rate", "least"), [("1", 1, 2e-3, 0.95), ("static", 0, 2e-2, 0.6)]
)
def test_a_student_comes_near_its_teacher_and_builds_assets(
    student, layers, rate, least, call, teacher, tiny_kb, tmp_path
):
    output = tmp_path / "small"
    arguments = _arguments(tiny_kb, teacher, output, optimizer__learning_rate=rate)
    assert call(main, *arguments, f"--set=distil.student={student}")[0] == 0
    own, theirs = BiEncoder.load(output), BiEncoder.load(teacher)
    assert own.preparation == theirs.preparation
    assert json.loads((output / "config.json").read_text("utf-8"))["num_hidden_layers"] == layers
    texts = [*tiny_kb.iter_texts()]
    assert _cosine(own, theirs, texts) > least
    light, fingerprint = open_to_encode(output)
    assert fingerprint == own.fingerprint()
    np.testing.assert_allclose(light.encode(texts), own.encode(texts), atol=2e-2)
    figures = json.loads((output / "metrics.json").read_text("utf-8"))
    assert figures["teacher"]["dev"]["n"] == len(Holdout.load(output / "holdout", tiny_kb).dev)
    assets = build_assets(tmp_path / "assets", tiny_kb.path, output)
    assert Assets(assets.path).manifest["encoder"]["fingerprint"] == fingerprint


@pytest.mark.parametrize(("recipe", "student"), [("distil", "1"), ("distil_static", "static")])
def test_the_recipes_run(recipe, student, call, teacher, tiny_kb, tmp_path):
    toy = ("holdout.fraction", "distil.max_loss", "selection.min_gain")
    status, _, err = call(
        main, f"training/configs/{recipe}.cfg", f"--kb={tiny_kb.path}", f"--base={teacher}",
        f"--set=distil.student={student}", f"--output={tmp_path / 'small'}",
        "--set=training.names=500",
        *(f"--set={name}={DISTIL[name]}" for name in toy),
    )  # fmt: skip
    assert status == 0, err
    figures = json.loads((tmp_path / "small" / "metrics.json").read_text("utf-8"))
    assert figures["training"]["stopped_by"] == "names"
    assert figures["trained_part"] == 1.0


def test_the_teacher_may_be_in_assets(call, tiny_kb, tiny_assets, tmp_path):
    output = tmp_path / "small"
    arguments = _arguments(tiny_kb, tiny_assets.path, output, training__epochs=1.0)
    assert call(main, *arguments, "--set=distil.student=static")[0] == 0
    assert BiEncoder.load(output).dim == tiny_assets.encoder.dim


def test_one_that_loses_too_much_is_not_shipped_and_goes_on(
    call, teacher, tiny_kb, tmp_path, monkeypatch
):
    half = {"acc@1": 100.0, "acc@5": 100.0, "acc@20": 100.0, "mrr": 1.0, "n": 3}
    monkeypatch.setattr(Distillation, "teacher", {"dev": half, "test": half})
    output = tmp_path / "small"
    strict = _arguments(tiny_kb, teacher, output, distil__max_loss=0, training__epochs=1.0)
    code, _, err = call(main, *strict, "--set=distil.student=1")
    assert code == 1 and "E541" in err and "acc@1" in err and not output.exists()
    arguments = _arguments(tiny_kb, teacher, output, training__epochs=1.0)
    assert call(main, *arguments, "--set=distil.student=1", "--resume")[0] == 0
    assert output.is_dir()


@pytest.mark.parametrize(
    ("student", "loss", "code"),
    [
        ("3", "teacher", "E302"), ("0", "teacher", "E302"), ("./none", "teacher", "E502"),
        ("1", "info_nce", "E502"),  # a loss of names is no loss of a teacher
    ],
)  # fmt: skip
def test_a_student_that_cannot_be(student, loss, code, call, teacher, tiny_kb, tmp_path):
    arguments = _arguments(tiny_kb, teacher, tmp_path / "small", objective__loss=loss)
    status, _, err = call(main, *arguments, f"--set=distil.student={student}")
    assert status == 1 and code in err


def test_static_is_the_weighted_mean_of_its_pieces(teacher):
    own = BiEncoder.load(teacher)
    pieces = own.tokenize(["fever", "pain pain pain"])
    student = make_student(own, "static", ["pain"] * 9)
    weight = student.module.get_parameter("embeddings.word_embeddings.weight")
    table = weight.detach().numpy()
    special = set(own.tokenizer.all_special_ids)
    for own_pieces, text in zip(pieces, ["fever", "pain pain pain"], strict=True):
        mean = table[[piece for piece in own_pieces if piece not in special]].mean(axis=0)
        mean -= mean.mean()
        cosine = student.encode([text])[0] @ mean / np.linalg.norm(mean)
        assert cosine > 0.99
    frequent, rare = (own.tokenize([text])[0][-2] for text in ("pain", "fever"))
    assert np.linalg.norm(table[frequent]) < np.linalg.norm(table[rare])


def test_the_loss_is_least_at_the_teacher():
    generator = torch.Generator().manual_seed(0)
    wanted = torch.nn.functional.normalize(torch.randn(6, 4, generator=generator), dim=1)
    objective = TeacherObjective(wanted.numpy(), CPU, 1.0, 1.0, 0.05)
    names = torch.tensor([1, 3, 4])
    batch = Batch(names, names, names)
    loss, count = objective(wanted[names], batch)
    assert (count, float(loss)) == (3, pytest.approx(0, abs=1e-5))
    other = wanted[torch.tensor([0, 2, 5])].requires_grad_()
    torch.autograd.backward(objective(other, batch)[0])
    assert other.grad is not None and torch.isfinite(other.grad).all()
    # A turn of the whole space keeps the ranking, and only that.
    turned = wanted[names] @ torch.linalg.qr(torch.randn(4, 4, generator=generator)).Q
    assert float(TeacherObjective(wanted.numpy(), CPU, 0.0, 1.0, 0.05)(turned, batch)[0]) < 1e-4
    assert float(objective(turned, batch)[0]) > 0.1
    first = torch.tensor([0])
    alone, _ = objective(wanted[:1], Batch(first, first, first))
    assert float(alone) == pytest.approx(0, abs=1e-5)


def test_texts_are_names_and_mutations(tiny_kb):
    names = [*tiny_kb.iter_texts()]
    held_out = frozenset({1, 2})
    plain = read_texts(tiny_kb, 0, 0, held_out)
    assert {one.lower() for one in plain} == {
        one.lower() for row, one in enumerate(names) if row not in held_out
    }
    texts = read_texts(tiny_kb, 1, 0, held_out)
    assert len(plain) < len(texts) <= 2 * len(plain)
    assert set(plain) < set(texts)
    assert texts == read_texts(tiny_kb, 1, 0, held_out)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    not (find_spec(MODEL_PACKAGE) and find_spec(ONTOLOGY_PACKAGE)), reason="needs the extra starter"
)
@pytest.mark.parametrize("recipe", ["distil", "distil_static"])
def test_minilm_teaches_a_smaller_one(recipe, call, tmp_path):
    """Names of a twentieth of HPO bring a student much nearer to its teacher than it was."""
    place_model(tmp_path / "minilm")
    place_ontology(tmp_path / "hp.obo")
    concepts = [one for one in obo.read(tmp_path / "hp.obo") if isinstance(one, Concept)]
    build_kb(tmp_path / "kb", concepts[::20])
    student = "static" if recipe == "distil_static" else "3"
    settings: dict[str, object] = {
        "distil.student": student, "distil.max_loss": 100,
        "training.names": 4000, "holdout.fraction": 0.3,
        "sampler.batch_pairs": 64,  # a batch of the static student's would be half of all names
        "selection.min_gain": -100.0,
    }  # fmt: skip
    status, _, err = call(
        main, f"training/configs/{recipe}.cfg",
        f"--base={tmp_path}/minilm", f"--kb={tmp_path}/kb", f"--output={tmp_path}/small",
        *(f"--set={key}={value}" for key, value in settings.items()),
    )  # fmt: skip
    assert status == 0, err
    figures = json.loads((tmp_path / "small" / "metrics.json").read_text("utf-8"))
    teacher, base, shipped = (figures[name]["test"]["acc@5"] for name in SYSTEMS)
    assert figures["trained_part"] == 1.0
    assert shipped > base or student == "static"  # which finds nearly as many without training
    assert shipped > 0.8 * teacher
    texts = [concept.names[0].text for concept in concepts[1::200]]
    small, whole = (BiEncoder.load(tmp_path / name) for name in ("small", "minilm"))
    assert _cosine(small, whole, texts) > 0.6
