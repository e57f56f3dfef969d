"""Checks before any work whether an encoder is a directory or a model of the Hugging Face Hub.

Without this check, the libraries request a missing model a dozen times, for minutes.
"""

import re
from pathlib import Path

from ..errors import Errors

# "name" or "organisation/name"; what begins with a dot, slash or tilde is a path.
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
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
        if not (Path(source) / "config.json").is_file():
            there = "the directory has no config.json" if Path(source).exists() else "no such path"
            raise Errors.encoder_missing(path=source, problem=there)
        return True
    problem = _unavailable(str(source))
    if problem and not _is_cached(str(source)):
        raise Errors.encoder_missing(path=source, problem=f"no such directory, and {problem}")
    return bool(problem)


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


def _is_cached(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name, "config.json"), str)
