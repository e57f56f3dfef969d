"""What a directory of sentence-transformers says of texts: pooling, length, case and prefix."""

import re
from pathlib import Path

from ..types import Data
from .directory import CONFIG, read_json, refused
from .preparation import CLS, MEAN, MEAN_ALL
from .tables import LONGEST, MODULES, static_directory

# Vectors have the length 1 here, so a sum over the root of their number points where a mean does.
_POOLINGS = {"cls": CLS, "mean": MEAN_ALL, "mean_sqrt_len": MEAN_ALL}
_PROMPTS, _POOLING = "config_sentence_transformers.json", "1_Pooling"
_MODE = "pooling_mode_"  # what the fields of old sentence-transformers begin with
_TAKEN = ("Transformer", "Pooling", "Normalize")


def read_sentence_settings(directory: Path) -> Data:
    """Read how texts were prepared, as settings of an encoder; {} for another kind of directory.

    RAISES (MedlinkError): E206 for what cannot be taken over, in one line.
    """
    is_static = static_directory(directory) is not None
    pooling = None if is_static else _pooling_directory(directory)
    if pooling is None and not is_static:
        return {}
    try:
        if pooling is None:
            return {"pooling": MEAN, "prefix": _prefix(directory), "max_length": LONGEST}
        config = _object(directory, f"{pooling}/{CONFIG}")
        settings: Data = {"pooling": _pooling(config), "prefix": _prefix(directory)}
        if settings["prefix"] and not config.get("include_prompt", True):
            raise ValueError("the pooling leaves out the words of the prompt")
        for path in sorted(directory.glob("sentence_*_config.json")):
            config_of = _object(directory, path.name)
            settings["lower_case"] = bool(config_of.get("do_lower_case"))
            settings["max_length"] = config_of.get("max_seq_length")
    except ValueError as error:
        raise refused(directory, f"what its sentence-transformers files say: {error}") from error
    # Without a length of its own, that of the tokenizer counts, as in sentence-transformers.
    settings["max_length"] = settings.get("max_length") or 1 << 30
    return settings


def _pooling_directory(directory: Path) -> str | None:
    """Find the directory of the pooling; None in a directory of another kind."""
    modules = read_json(directory, MODULES)
    if not modules:
        return _POOLING if (directory / _POOLING / CONFIG).is_file() else None
    pooling = None
    for module in modules if isinstance(modules, list) else [modules]:
        description = module if isinstance(module, dict) else {}
        type_of, within = str(description.get("type")), str(description.get("path", ""))
        name = type_of.rpartition(".")[2]
        if not type_of.startswith("sentence_transformers.") or name not in _TAKEN:
            raise refused(
                directory,
                f"{MODULES} has {type_of[:80]!r}, which is not taken over ({', '.join(_TAKEN)} "
                "are). Take another model, or save the transformer alone",
            )
        if Path(within).name != within or (name == "Transformer" and within):
            raise refused(directory, f"{MODULES} says that {name} is in {within[:80]!r}")
        pooling = within if name == "Pooling" else pooling
    if pooling is None:
        raise refused(directory, f"{MODULES} has no pooling")
    return pooling


def _pooling(config: dict[str, object]) -> str:
    """Return the pooling under our name; another one, refused at loading, under its own."""
    named = config.get("pooling_mode")
    if named is None:
        named = [name for name, used in config.items() if name.startswith(_MODE) and used is True]
    modes = map(str, named if isinstance(named, list) else [named])
    whole = "+".join(re.sub("_tokens?$", "", mode.removeprefix(_MODE)) for mode in modes)
    return _POOLINGS.get(whole, whole)


def _prefix(directory: Path) -> str:
    """Return the prompt before each text. Names and mentions have the same: that of queries."""
    config = _object(directory, _PROMPTS)
    prompts, name = config.get("prompts") or {}, config.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(
        isinstance(prompt, str) for prompt in prompts.values()
    ):
        raise ValueError(f"the prompts in {_PROMPTS} are no texts")
    if not any(prompts.values()):
        return ""
    name = name or ("query" if "query" in prompts else None)
    if name is None and len(prompts) == 1:
        (name,) = prompts
    if name not in prompts:
        names = ", ".join(map(repr, prompts))
        raise ValueError(f"set default_prompt_name in {_PROMPTS} to one of its prompts: {names}")
    return str(prompts[name])


def _object(directory: Path, name: str) -> Data:
    content = read_json(directory, name)
    if not isinstance(content, dict):
        raise ValueError(f"{name} is not an object")
    return content
