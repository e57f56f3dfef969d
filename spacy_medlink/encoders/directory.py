"""The directory of a model: what it says, checked before any library reads it.

A directory is data. Libraries would take code from it, or from where it points to: each field that
names code is refused by its name, and only encoders that `transformers` itself has are loaded.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from ..errors import Errors, MedlinkError
from ..types import Data

CONFIG, WEIGHTS, SHARDS = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
VOCABULARIES = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "spm.model"),
    *("sentencepiece.bpe.model", "tokenizer.model"),
)
# Encoders that read a whole text at once. The second kind counts positions from behind the padding.
_FROM_ZERO = frozenset(
    "albert bert big_bird convbert deberta deberta-v2 distilbert electra ernie megatron-bert "
    "mobilebert modernbert nystromformer rembert squeezebert".split()
)
_FROM_PADDING = frozenset(
    "camembert data2vec-text longformer mpnet roberta roberta-prelayernorm xlm-roberta "
    "xlm-roberta-xl".split()
)
_WORDS = ("added_tokens.json", "tokenizer.json", "vocab.json")  # whose keys are words
_NAMES_CODE = re.compile(
    r"_*(auto_map(ping)?|base_model_class|code_revision|configuration_files|custom_\w+|"
    r"kernel_config|parent_library|quantization_config|trust_remote_code|use_kernels|"
    r"\w+_implementation\w*)"
)
# What `transformers` writes itself. The encoder says anyway which attention it runs.
_OWN_ATTENTION = (True, "eager", "sdpa", "flash_attention_2", "flex_attention")
# Fields of no use here, one of which would let the model answer in another form.
_LEFT_OUT = ("dtype", "name_or_path", "return_dict", "torch_dtype", "torchscript")
# Far above any model. A damaged file may say billions, which would take hours to fail.
_MOST: dict[str, int] = {
    "hidden_size": 1 << 16,
    "inner_group_num": 1 << 9,
    "intermediate_size": 1 << 18,
    "max_position_embeddings": 1 << 21,
    "n_layers": 1 << 9,
    "num_attention_heads": 1 << 12,
    "num_hidden_groups": 1 << 9,
    "num_hidden_layers": 1 << 9,
    "num_labels": 1 << 16,
    "type_vocab_size": 1 << 16,
    "vocab_size": 1 << 23,
}


def read_config(directory: Path) -> Data:
    """Read config.json, after a check of all JSON files that a library would read.

    RETURNS (Dict): what the model is made of, without fields that say how it is to be loaded.
    RAISES (MedlinkError): E206 for a field that names code, a model that is no encoder, or sizes
        of no model.
    """
    for path in sorted(directory.glob("*.json")):
        if path.name not in (*_WORDS, SHARDS):
            _check_fields(directory, path.name, read_json(directory, path.name))
    if (directory / "adapter_config.json").exists():
        raise refused(
            directory,
            "it is an adapter, whose base would be loaded from elsewhere. Merge it into its base "
            "first (`merge_and_unload` of peft)",
        )
    config = read_json(directory, CONFIG)
    if not isinstance(config, dict):
        raise refused(directory, f"{CONFIG} is not an object")
    _check_type(directory, config)
    for name, most in _MOST.items():
        value = config.get(name, 1)
        if type(value) is not int or not 0 <= value <= most:
            raise refused(directory, f"{CONFIG}: {name} is {str(value)[:20]}")
    return {
        name: value
        for name, value in config.items()
        if not (name.startswith("_") or name in _LEFT_OUT or _NAMES_CODE.fullmatch(name))
    }


def check_files(directory: Path) -> None:
    """Check that weights as safetensors and a tokenizer are there.

    RAISES (MedlinkError): E206, with what to do.
    """
    if (directory / SHARDS).is_file() and not (directory / WEIGHTS).is_file():
        index = read_json(directory, SHARDS)
        names = index.get("weight_map") if isinstance(index, dict) else None
        for name in names.values() if isinstance(names, dict) else [None]:
            if not isinstance(name, str) or Path(name).name != name:
                raise refused(directory, f"{SHARDS} names no file of this directory: {name!r:.40}")
    elif not (directory / WEIGHTS).is_file():
        raise refused(
            directory,
            f"it has no {WEIGHTS}. Weights in pytorch_model.bin are a pickle, which can run code "
            "and is never read: where you trust it, write them anew with "
            "`AutoModel.from_pretrained(DIRECTORY).save_pretrained(DIRECTORY)`",
        )
    if not any((directory / name).is_file() for name in VOCABULARIES):
        raise refused(
            directory, "it has no tokenizer. Copy tokenizer.json or the vocabulary of its base"
        )


class Config(Protocol):
    """The part of a loaded model's config that every encoder has."""

    hidden_size: int
    num_hidden_layers: int


def config_of(module: object) -> Config:
    """Get the config of a loaded model."""
    config: Config = getattr(module, "config")  # noqa: B009  # which torch.nn.Module has not
    return config


def positions(config: object) -> int | None:
    """Count the word pieces that a model can read; None where its config sets no limit.

    config (object): of a loaded model.
    """
    most: int | None = getattr(config, "max_position_embeddings", None)
    if most is None or getattr(config, "model_type", "") not in _FROM_PADDING:
        return most
    return int(most - (getattr(config, "pad_token_id", None) or 0) - 1)


def read_json(directory: Path, name: str) -> Any:
    """Read a JSON file; {} where there is none. RAISES (MedlinkError): E206 one that is broken."""
    path = directory / name
    try:
        content = json.loads(path.read_text("utf-8")) if path.exists() else {}
        json.dumps(content, ensure_ascii=False).encode()  # half a character fails later, with less
        return content
    except (OSError, ValueError, RecursionError) as error:
        raise refused(directory, f"{name}: {error}") from error


def refused(directory: Path, reason: str) -> MedlinkError:
    """Make the error (E206) for a directory that is not loaded."""
    return Errors.encoder_damaged(path=directory, reason=reason)


def _check_type(directory: Path, config: dict[str, object]) -> None:
    type_of = config.get("model_type")
    if isinstance(type_of, str) and type_of in _FROM_ZERO | _FROM_PADDING:
        return
    shown = f"{type_of!r:.40}" if type_of else "missing"
    raise refused(
        directory,
        f"model_type in {CONFIG} is {shown}, no encoder that reads a whole text at once (T5, GPT "
        "and models with code of their own are none). Take a BERT, RoBERTa or one of these: "
        f"{', '.join(sorted(_FROM_ZERO | _FROM_PADDING))}",
    )


def _check_fields(directory: Path, file: str, content: object) -> None:
    for name, value in _fields(content):
        is_harmless = not value or ("_implementation" in name and value in _OWN_ATTENTION)
        if _NAMES_CODE.fullmatch(name) and not is_harmless:
            raise refused(
                directory,
                f"{file} has the field {name!r:.60}, which names code or packages to load a model "
                "with. Nothing of that kind is run. Take a model without it, or, if the model does "
                "not need it, take the field out",
            )
        if name.endswith("_file") and "://" in str(value):
            raise refused(directory, f"{file}: {name!r:.60} points out of the directory")


def _fields(content: object) -> Iterator[tuple[str, object]]:
    """List the fields of an object and of all objects in it."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value.items()
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
