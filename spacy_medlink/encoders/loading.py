"""Loads a model with `transformers`. Nothing else in the tree does.

The directory is checked first (see `directory`), and the libraries get what was checked: no code of
others, no pickle, no network.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from ..errors import Errors, MedlinkError
from ..types import Data
from ..util import devices
from .directory import TOKENIZER_CONFIG, check_files, read_config, read_json, refused
from .tables import load_table, static_directory


def is_failure(error: BaseException) -> bool:
    """Tell whether an exception is an error, also a panic of Rust, and not the program's end."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def running() -> Iterator[None]:
    """Turn any exception of a running model into an error with a code.

    RAISES (MedlinkError): E222.
    """
    try:
        yield
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        if devices.is_out_of_memory(error):
            raise
        raise Errors.encoder_unfit(reason=str(error).partition("\n")[0]) from error


_LOCAL: Data = {"local_files_only": True, "trust_remote_code": False}


def load_transformer(
    directory: Path, attention: str | None = "eager"
) -> tuple[Any, torch.nn.Module]:
    """Load tokenizer and transformer.

    attention (Optional[str]): which implementation of `transformers` to run, "eager" or "sdpa";
        None for its own choice.
    RETURNS (Tuple[PreTrainedTokenizerFast, torch.nn.Module]): without truncation and padding, and
        in evaluation mode.
    RAISES (MedlinkError): E206 a directory that cannot be read, or that would run code.
    """
    if (static := static_directory(directory)) is not None:
        return load_table(static)
    config = read_config(directory)
    check_files(directory)
    from transformers import CONFIG_MAPPING

    try:
        model_config = CONFIG_MAPPING[config["model_type"]].from_dict(config)
        if hasattr(model_config, "reference_compile"):  # ModernBERT would compile, and write files
            model_config.reference_compile = False
        tokenizer = _tokenizer(directory, model_config)
        module, loaded = _model_class(model_config).from_pretrained(
            str(directory),
            config=model_config,
            use_safetensors=True,
            attn_implementation=attention,
            output_loading_info=True,
            **_LOCAL,
        )
        _fill(module, sorted(loaded["missing_keys"]))
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    except MedlinkError:
        raise
    except BaseException as error:  # safetensors and tokenizers raise classes of their own
        if not is_failure(error):
            raise
        raise refused(directory, " ".join(str(error).split())) from error
    return tokenizer, module


def _model_class(config: Any) -> Any:
    """Look up the class of a model: `AutoModel` would import every model that there is."""
    from transformers import MODEL_MAPPING

    classes: Any = MODEL_MAPPING[type(config)]
    if not isinstance(classes, tuple):
        return classes
    named = [known for known in classes if known.__name__ in (config.architectures or ())]
    return (named or classes)[0]


def _fill(module: torch.nn.Module, missing: list[str]) -> None:
    """Set the weights of a pooler to zero where the file has none.

    It is not used here. `transformers` gives it random weights, and the fingerprint reads them.

    RAISES (ValueError): for other weights, which would be random, too.
    """
    for name in missing:
        if not name.startswith("pooler."):
            raise ValueError(f"its weights lack {name}")
        torch.nn.init.zeros_(module.get_parameter(name))


def _tokenizer(directory: Path, config: Any) -> Any:
    """Load the tokenizer, of a class of `transformers` that the Rust library computes.

    The name of a class may be that of anything in `transformers`, which would load the directory
    in its own way.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    name = read_json(directory, TOKENIZER_CONFIG).get("tokenizer_class") or config.tokenizer_class
    if name is not None:
        named = tokenizer_class_from_name(f"{name}Fast") or tokenizer_class_from_name(str(name))
        if not (isinstance(named, type) and issubclass(named, PreTrainedTokenizerFast)):
            reason = f"its tokenizer is a {name!r:.60}, of which there is no fast version"
            raise refused(directory, f"{reason}. Save it as tokenizer.json with its own library")
    tokenizer = AutoTokenizer.from_pretrained(
        str(directory), use_fast=True, config=config, **_LOCAL
    )
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise refused(directory, f"its tokenizer, {type(tokenizer).__name__}, is a slow one")
    return tokenizer
