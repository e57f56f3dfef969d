"""A directory that is no encoder gets a message that says what to do."""

import fnmatch
import json
import shutil
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file

from spacy_medlink.encoders import place
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.directory import VOCABULARIES
from spacy_medlink.errors import MedlinkError
from tests.encoders.test_bi_encoder import writable

NAME = "some-org/some-model"


def _only_pickled(path: Path) -> None:
    torch.save(load_file(path / "model.safetensors"), path / "pytorch_model.bin")
    (path / "model.safetensors").unlink()


def _without_tokenizer(path: Path) -> None:
    for name in (*VOCABULARIES, "tokenizer_config.json", "special_tokens_map.json"):
        (path / name).unlink(missing_ok=True)


def _of_type(model_type: str) -> Any:
    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps({**config, "model_type": model_type}))

    return change


def _adapter(path: Path) -> None:
    (path / "adapter_config.json").write_text('{"base_model_name_or_path": "some-org/base"}')


def _inner(path: Path) -> None:
    (path / "0_Transformer").mkdir()
    (path / "config.json").rename(path / "0_Transformer" / "config.json")


def _slow_tokenizer(path: Path) -> None:
    (path / "tokenizer_config.json").write_text('{"tokenizer_class": "PhobertTokenizer"}')


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_only_pickled, r"E206.*pytorch_model\.bin are a pickle.*save_pretrained"),
        (_without_tokenizer, r"E206.*no tokenizer\. Copy tokenizer\.json"),
        (_of_type("t5"), r"E206.*'t5', no encoder.*Take a BERT"),
        (_of_type("mt5"), r"E206.*'mt5', no encoder.*Take a BERT"),
        (_of_type("gpt2"), r"E206.*'gpt2', no encoder.*Take a BERT"),
        (_adapter, r"E206.*an adapter.*merge_and_unload"),
        (_inner, r"E205.*move the files of its 0_Transformer up"),
        (_slow_tokenizer, r"E206.*'PhobertTokenizer'.*no fast version"),
    ],
)
def test_what_to_do(tmp_path, tiny_encoder, change, says):
    directory = writable(tiny_encoder, tmp_path / "encoder")
    change(directory)
    with pytest.raises(MedlinkError, match=says) as refused:
        BiEncoder.load(directory)
    assert "\n" not in str(refused.value)


def test_fields_of_transformers_itself_are_no_code(tmp_path, tiny_encoder):
    """Older versions wrote these into every config."""
    directory = writable(tiny_encoder, tmp_path / "encoder")
    config = json.loads((directory / "config.json").read_text())
    config |= {
        "_attn_implementation": "sdpa",
        "_attn_implementation_autoset": True,
        "_name_or_path": "/home/somebody/model",
        "auto_map": None,
        "quantization_config": None,
        "torch_dtype": "float16",
        "trust_remote_code": False,
    }
    (directory / "config.json").write_text(json.dumps(config))
    assert BiEncoder.load(directory).fingerprint() == BiEncoder.load(tiny_encoder).fingerprint()


@pytest.fixture
def fetched(tmp_path, monkeypatch, tiny_encoder):
    """Files that were fetched from a Hub, which has the directory `tmp_path/hub`."""
    hub, names = writable(tiny_encoder, tmp_path / "hub"), list[str]()

    def download(
        name: str, *, allow_patterns: list[str], local_files_only: bool, revision: str = "abc"
    ) -> str:
        assert (name, local_files_only, revision) == (NAME, False, "abc")
        for file in hub.iterdir():
            if any(fnmatch.fnmatch(file.name, pattern) for pattern in allow_patterns):
                names.append(file.name)
                (tmp_path / "cache" / revision).mkdir(parents=True, exist_ok=True)
                shutil.copy(file, tmp_path / "cache" / revision / file.name)
        return str(tmp_path / "cache" / revision)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(place, "_unavailable", lambda name: "")
    return names


def test_weights_of_the_hub_come_last(tmp_path, tiny_encoder, fetched):
    (tmp_path / "hub" / "evil.py").touch()
    (tmp_path / "hub" / "pytorch_model.bin").touch()
    vectors = BiEncoder.load(NAME).encode(["fever"])
    assert (vectors == BiEncoder.load(tiny_encoder).encode(["fever"])).all()
    assert fetched[-1] == "model.safetensors"
    assert not {"evil.py", "pytorch_model.bin"} & {*fetched}


def test_a_hostile_model_of_the_hub_is_not_fetched(tmp_path, fetched):
    (tmp_path / "hub" / "tokenizer_config.json").write_text(
        '{"auto_map": {"AutoTokenizer": "e.T"}}'
    )
    with pytest.raises(MedlinkError, match=r"E206.*auto_map"):
        BiEncoder.load(NAME)
    assert "model.safetensors" not in fetched
