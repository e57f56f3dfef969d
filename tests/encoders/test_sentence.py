"""How texts are prepared is taken over from a directory of sentence-transformers, or refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder, says_pooling
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.errors import MedlinkError
from tests.encoders.test_bi_encoder import writable
from tests.tables import table

TEXTS = ["fever", "heart attack", "Type 2 DIABETES", "a " * 60, "MI"]
_TRANSFORMER = {"path": "", "type": "sentence_transformers.models.Transformer"}
_NORMALIZE = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
_OLD = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")


def _pooling_module(place: str = "1_Pooling") -> dict[str, Any]:
    return {"path": place, "type": "sentence_transformers.sentence_transformer.modules.Pooling"}


def _write(path: Path, pooling: Any, modules: Any = None, **others: Any) -> Path:
    """Turn a model into a directory of sentence-transformers; `others` are files by their stem."""
    (path / "1_Pooling").mkdir()
    old = {f"pooling_mode_{name}": name == pooling for name in _OLD}
    new = pooling if isinstance(pooling, dict) else old
    (path / "1_Pooling" / "config.json").write_text(json.dumps(new))
    modules = [_TRANSFORMER, _pooling_module(), _NORMALIZE] if modules is None else modules
    for name, content in {"modules": modules, **others}.items():
        (path / f"{name}.json").write_text(json.dumps(content))
    return path


def _reference(path: Path, pooling: str, prefix: str = "", length: int = 64) -> Any:
    """Encode as the library does: straight through the tokenizer and the model."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, module = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path)
    batch = tokenizer(
        [prefix + text for text in TEXTS],
        padding=True,
        truncation=True,
        max_length=length,
        return_tensors="pt",
    )
    with torch.inference_mode():
        hidden = module.eval()(**batch).last_hidden_state
    mask = batch["attention_mask"][:, :, None]
    pooled = hidden[:, 0] if pooling == "cls" else (hidden * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(pooled, dim=1).numpy()


def _agrees(encoder: BiEncoder, vectors: Any) -> bool:
    return float((encoder.encode(TEXTS) * vectors).sum(1).min()) > 0.999


@table(__file__, "pooling")
def test_pooling(tmp_path, tiny_encoder, said, pooling):
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), said)
    vectors = _reference(directory, pooling)
    assert says_pooling(directory)
    encoder = BiEncoder.load(directory)
    assert _agrees(encoder, vectors)
    encoder.save(tmp_path / "saved")
    assert _agrees(BiEncoder.load(tmp_path / "saved"), vectors)
    assert _agrees(open_to_encode(tmp_path / "saved")[0], vectors)
    assert not _agrees(BiEncoder.load(directory, pooling="mean"), vectors), "but what is asked"


def test_pooling_without_modules(tmp_path, tiny_encoder):
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), "cls_token")
    (directory / "modules.json").unlink()
    assert BiEncoder.load(directory).pooling == "cls"


@pytest.mark.parametrize("said", ["max_tokens", "lasttoken", {"pooling_mode": ["cls", "mean"]}, {}])
def test_other_poolings_are_refused(tmp_path, tiny_encoder, said):
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), said)
    with pytest.raises(MedlinkError, match=r"E206.*mean, cls are supported. Take.*`--pooling`"):
        BiEncoder.load(directory)
    assert BiEncoder.load(directory, pooling="cls").pooling == "cls"


@table(__file__, "prompts")
def test_prompts(tmp_path, tiny_encoder, said, prefix):
    own = {"config_sentence_transformers": said}
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), "mean_tokens", **own)
    encoder = BiEncoder.load(directory)
    assert encoder.preparation.prefix == prefix
    assert _agrees(encoder, _reference(directory, "mean", prefix))


def test_length_and_case(tmp_path, tiny_encoder):
    own = {"sentence_bert_config": {"max_seq_length": 9, "do_lower_case": True}}
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), "mean_tokens", **own)
    encoder = BiEncoder.load(directory)
    assert encoder.max_length == 9
    assert encoder.preparation.lower_case
    assert _agrees(encoder, _reference(directory, "mean", length=9))


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"modules": [_TRANSFORMER, _pooling_module(), {"path": "2", "type": "evil.M"}]}, "evil"),
        ({"modules": [{"path": "", "type": "sentence_transformers.models.Dense"}]}, "Dense"),
        ({"modules": [{"path": "0", "type": _TRANSFORMER["type"]}]}, "is in '0'"),
        ({"modules": [_TRANSFORMER, _pooling_module("../1_Pooling")]}, "is in '../1_Pooling'"),
        ({"modules": [_TRANSFORMER]}, "no pooling"),
        ({"modules": {"a": 1}}, "which is not taken over"),
        ({"config_sentence_transformers": {"prompts": {"a": "a", "b": "b"}}}, "to one of its"),
        ({"config_sentence_transformers": {"prompts": {"a": 1}}}, "no texts"),
        ({"config_sentence_transformers": [1]}, "not an object"),
        ({"sentence_bert_config": {"max_seq_length": "9"}}, "max_length is '9'"),
    ],
)
def test_what_cannot_be_taken_over(tmp_path, tiny_encoder, files, problem):
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), "mean_tokens", **files)
    with pytest.raises(MedlinkError, match="E206") as refused:
        BiEncoder.load(directory)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_prompt_that_is_not_pooled(tmp_path, tiny_encoder):
    said = {"pooling_mode": "mean", "include_prompt": False}
    own = {"config_sentence_transformers": {"prompts": {"query": "query: "}}}
    directory = _write(writable(tiny_encoder, tmp_path / "encoder"), said, **own)
    with pytest.raises(MedlinkError, match=r"E206.*words of the prompt"):
        BiEncoder.load(directory)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_vectors_of_the_library_itself(tmp_path, tiny_encoder, pooling):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    parts = [Transformer(str(tiny_encoder)), Pooling(32, pooling)]
    made = SentenceTransformer(modules=parts, device="cpu")
    made.prompts, made.default_prompt_name = {"query": "a query of "}, "query"
    made.save(str(tmp_path / "saved"))
    vectors = made.encode(TEXTS, normalize_embeddings=True)
    assert _agrees(BiEncoder.load(tmp_path / "saved"), np.asarray(vectors))


@pytest.mark.parametrize("kind", ["roberta", "mpnet", "camembert", "xlm-roberta", "bert"])
def test_a_text_as_long_as_the_model_reads(tmp_path, tiny_encoder, kind):
    """RoBERTa's positions begin behind that of the padding, so it reads two pieces fewer."""
    from transformers import CONFIG_MAPPING, AutoModel

    config = CONFIG_MAPPING[kind](
        vocab_size=200, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=34,
    )  # fmt: skip
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    AutoModel.from_config(config).save_pretrained(tmp_path / "encoder")
    encoder = BiEncoder.load(tmp_path / "encoder", max_length=1000)
    assert encoder.max_length == (34 if kind == "bert" else 32)
    assert np.isfinite(encoder.encode(["a b " * 40, "a"])).all()
