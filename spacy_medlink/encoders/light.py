"""Opens an encoder for encoding only, in a tenth of the time and memory.

The files of `BiEncoder.save` are read without `transformers`: with the Rust tokenizer that
`transformers` wraps, memory-mapped weights, and Bert as the model. Unusual encoders are left to
`BiEncoder.load`, which also reports the errors of a directory.
"""

from pathlib import Path

import torch
from safetensors import safe_open

from ..errors import Errors
from ..util import devices
from ..util.devices import has_native_bf16
from .bert import Bert, can_run
from .bi_encoder import SETTINGS_FILE, BiEncoder, fingerprint_of
from .loading import is_failure
from .pooling import PROJECTION_FILE, parsed
from .preparation import POOLER, Preparation
from .tokens import read_json, read_tokenizer


def open_to_encode(directory: Path, device: torch.device = devices.CPU) -> tuple[BiEncoder, str]:
    """Open an encoder that `BiEncoder.save` wrote, to encode only.

    device (torch.device): where it encodes.
    RETURNS (Tuple[BiEncoder, str]): in the precision that encodes fastest, and its fingerprint.
    RAISES (MedlinkError): E205 no such directory, E206 files that cannot be read.
    """
    try:
        opened = _open_light(directory, device) or _load(directory, device)
    except OSError as error:
        raise Errors.encoder_damaged(path=directory, reason=error) from error
    encoder, _ = opened
    # The name of the vectors of word pieces: the first one there is.
    names = (name for name, _ in encoder.module.named_parameters() if "embeddings" in name)
    rows = encoder.module.get_parameter(next(names)).shape[0]
    highest = max(encoder.tokenizer.get_vocab().values(), default=-1)
    problem = ""
    if not 0 <= highest < rows:
        problem = f"the tokenizer has the word piece {highest}, the model {rows} of them"
    elif encoder.max_length < 2:
        problem = f"texts would have {encoder.max_length} word pieces"
    if problem:
        raise Errors.encoder_damaged(path=directory, reason=problem)
    return opened


def _load(path: Path, device: torch.device) -> tuple[BiEncoder, str]:
    encoder = BiEncoder.load(path, device=device)
    fingerprint = encoder.fingerprint()
    encoder.halve()
    return encoder, fingerprint


def _open_light(directory: Path, device: torch.device) -> tuple[BiEncoder, str] | None:
    """Open without `transformers`; None where that is impossible, or something is unexpected."""
    try:
        config = read_json(directory, "config.json")
        settings = read_json(directory, SETTINGS_FILE)
        if not can_run(config) or settings.get("adapter_reduction"):
            return None
        if settings["pooling"] == POOLER:  # which Bert has not
            return None
        tokenizer = read_tokenizer(directory)
        with safe_open(directory / "model.safetensors", framework="pt") as parts:
            weights = {name: parts.get_tensor(name).float() for name in sorted(parts.keys())}
        native = has_native_bf16(device)
        module = Bert(config, weights, torch.bfloat16 if native else torch.float32)
        module = devices.moved(module, device)
        projection = None
        if settings.get("projected"):
            projection = parsed((directory / PROJECTION_FILE).read_bytes(), directory)
            devices.moved(projection, device)
        encoder = BiEncoder(
            tokenizer,
            module,
            settings["pooling"],
            settings["max_length"],
            Preparation.of(settings),
            projection,
        )
        return encoder, fingerprint_of(encoder, weights.items())
    except BaseException as error:  # of many classes; loading the whole model raises it again
        if not is_failure(error):
            raise
        return None
