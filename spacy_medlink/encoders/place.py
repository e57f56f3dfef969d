"""Finds the directory of an encoder: a path, or what the Hugging Face Hub or its cache has.

What is not there is told before any work: the libraries would request it a dozen times, for
minutes. Of the Hub only files that are read here are fetched, weights after the others are checked.
"""

import re
from pathlib import Path

from ..errors import Errors, MedlinkError
from .directory import SHARDS, WEIGHTS, read_config
from .tables import NESTED, static_directory

# "name" or "organisation/name"; what begins with a dot, slash or tilde is a path.
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
_INNER = "0_Transformer"  # where early versions of sentence-transformers put the model
_TEXTS = ("*.json", "*.txt", "*.model")
_PATIENCE = 10.0  # seconds that the Hub has to answer


def is_path(source: str | Path) -> bool:
    """Tell whether a source is a path: it exists, at least in part, or is no name of a model."""
    path = Path(source)
    in_part = len(path.parts) > 1 and Path(path.parts[0]).is_dir()
    return path.exists() or in_part or not _HUB_NAME.fullmatch(str(source))


def is_here(source: str | Path) -> bool:
    """Tell whether an encoder can be loaded without a network: by its path, or from the cache.

    RAISES (MedlinkError): E205 for a path without an encoder, and for a name that is not in the
        cache and that the Hub does not give; it is asked once.
    """
    if is_path(source):
        is_static = static_directory(Path(source)) is not None
        if not is_static and not (Path(source) / "config.json").is_file():
            there = "the directory has no config.json" if Path(source).exists() else "no such path"
            if (Path(source) / _INNER / "config.json").is_file():
                there += f"; move the files of its {_INNER} up"
            raise Errors.encoder_missing(path=source, problem=there)
        return True
    from huggingface_hub import try_to_load_from_cache

    problem = _unavailable(str(source))
    if problem and not isinstance(try_to_load_from_cache(str(source), "config.json"), str):
        raise Errors.encoder_missing(path=source, problem=f"no such directory, and {problem}")
    return bool(problem)


def directory_of(source: str | Path) -> Path:
    """Get the directory of an encoder, and fetch it where it is a model of the Hub.

    RAISES (MedlinkError): E205 what cannot be had, E206 a model of the Hub that would run code; its
        weights are not fetched.
    """
    cached = is_here(source)
    if is_path(source):
        return Path(source)
    from huggingface_hub import snapshot_download

    try:
        texts = snapshot_download(str(source), allow_patterns=list(_TEXTS), local_files_only=cached)
        if static_directory(Path(texts)) is None:
            read_config(Path(texts))
        # Of the same revision, by which the directory is named.
        revision = Path(texts).name
        weights = [WEIGHTS, SHARDS, "model-*.safetensors", f"{NESTED}/{WEIGHTS}"]
        return Path(
            snapshot_download(
                str(source), revision=revision, allow_patterns=weights, local_files_only=cached
            )
        )
    except MedlinkError:
        raise
    except Exception as error:  # of any layer of the network
        problem = str(error).strip().partition("\n")[0]
        raise Errors.encoder_missing(path=source, problem=problem) from error


def _unavailable(name: str) -> str:
    """Return why a model cannot be had from the Hub, "" where it can."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import RepositoryNotFoundError

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE forbids to ask the Hub, whose cache has no such model"
    try:
        HfApi().model_info(name, timeout=_PATIENCE)
    except RepositoryNotFoundError:
        return "the Hub has no such model, or does not show it to you"
    except Exception as error:  # of any layer of the network
        return f"the Hub cannot be reached ({type(error).__name__})"
    return ""
